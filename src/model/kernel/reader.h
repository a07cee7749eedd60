/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readers of a file: a few, at different places of it, each with a window that is read ahead
 * (readahead.h), and what is on its way from the device for them.
 */
#ifndef WIO_MODEL_KERNEL_READER_H
#define WIO_MODEL_KERNEL_READER_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "model/kernel/cache.h"
#include "model/kernel/readahead.h"

/* Readers of one file that are tracked. */
#define WIO_READERS_MAX 8

/* Pages that come from the device at some time. */
struct wio_flight {
    uint64_t first;
    uint64_t end;
    double there_s;
};

struct wio_reader {
    struct wio_readahead ahead;
    struct wio_flight flights[2]; /* the window, and the one before */
    uint64_t used;                /* when, counted in reads */
};

struct wio_readers {
    struct wio_reader readers[WIO_READERS_MAX];
    uint64_t reads;
    double all_there_s; /* nothing is on its way any more */
};

/* What a reader does next: fetch so many pages in [first, end) from the device, if any, then copy
 * what it wants up to page `stop`. */
struct wio_read_piece {
    uint64_t fetch;
    uint64_t first;
    uint64_t end;
    uint64_t stop;
    bool is_waited_for; /* it is fetched because it is missing, and not ahead of time */
};

/* The reader that goes on at page `at`, else a new one instead of the one that has not read for
 * longest. NULL: out of memory. */
struct wio_reader *wio_reader_find(struct wio_cache *cache, struct wio_cache_file *file,
                                   uint64_t at);
/* The reader wants the pages [at, end). What is fetched counts as in memory from now on. */
WIO_MUST_CHECK enum wio_status wio_reader_next(struct wio_cache *cache, struct wio_cache_file *file,
                                               struct wio_reader *reader, uint64_t at, uint64_t end,
                                               struct wio_read_piece *piece_out);
/* What the reader fetches is in memory from `there_s` on. */
void wio_reader_fetches(struct wio_cache_file *file, struct wio_reader *reader,
                        const struct wio_read_piece *piece, double there_s);
/* When the pages [first, end), all in memory or on their way, are there. */
double wio_reader_there(const struct wio_cache *cache, const struct wio_cache_file *file,
                        uint64_t first, uint64_t end);

#endif
