/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of pages of one file, those that are dirty or those in memory: chunks, each a bitmap of 512
 * pages (2 MiB of 4 KiB pages), in a balanced tree for their order and, when there are many, in a
 * hash table to find them. Adding and removing cost O(log chunks) at most whatever the pattern,
 * adding again O(1), and removing never needs memory.
 */
#ifndef WIO_MODEL_KERNEL_PAGES_H
#define WIO_MODEL_KERNEL_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/alloc.h"
#include "base/tree.h"

#define WIO_CHUNK_PAGES 512u
#define WIO_CHUNK_WORDS (WIO_CHUNK_PAGES / 64)

struct wio_chunk {
    RB_ENTRY(wio_chunk) node;
    struct wio_chunk *chain; /* of its bucket */
    uint64_t index;          /* of the file's chunks */
    uint32_t count;          /* of bits; never 0 in a tree */
    uint64_t bits[WIO_CHUNK_WORDS];
};

RB_HEAD(wio_chunk_tree, wio_chunk);

/* Chunks that are not in use, shared by the files of a model. */
struct wio_chunk_pool {
    struct wio_alloc alloc;
    struct wio_chunk *spare; /* linked through node's left */
};

struct wio_pages {
    struct wio_chunk_tree chunks;
    struct wio_chunk *last; /* the one used last, or NULL */
    struct wio_chunk **buckets;
    uint64_t bucket_count; /* a power of 2; 0: no table */
    uint64_t chunk_count;
    uint64_t count; /* pages in the set */
};

/* The bits [first, end) of a word; 0 <= first < end <= 64. */
static inline uint64_t wio_pages_mask(unsigned first, unsigned end)
{
    return (~UINT64_C(0) >> (64 - (end - first))) << first;
}

void wio_chunk_pool_init(struct wio_chunk_pool *pool, const struct wio_alloc *alloc);
void wio_chunk_pool_fini(struct wio_chunk_pool *pool);

/* Add the pages [first, end); `added_out`: how many of them are new. On WIO_ERR_NOMEM some of them
 * may be in the set. */
WIO_MUST_CHECK enum wio_status wio_pages_add(struct wio_pages *pages, struct wio_chunk_pool *pool,
                                             uint64_t first, uint64_t end, uint64_t *added_out);
/* Remove the pages [first, end); returns how many of them were in the set. */
uint64_t wio_pages_remove(struct wio_pages *pages, struct wio_chunk_pool *pool, uint64_t first,
                          uint64_t end);
/* How many pages from `from` on, without a gap and before `end`, are in the set. */
uint64_t wio_pages_run(struct wio_pages *pages, uint64_t from, uint64_t end);
/* Remove the first run of adjoining pages at or after `from`, but at most `most` (> 0) of them.
 * False: there is none. */
bool wio_pages_take_run(struct wio_pages *pages, struct wio_chunk_pool *pool, uint64_t from,
                        uint64_t most, uint64_t *first_out, uint64_t *count_out);
/* Move *at to the first page at or after it. False: there is none. */
bool wio_pages_find(struct wio_pages *pages, uint64_t *at);
/* Forget all; the chunks go back to the pool. */
void wio_pages_clear(struct wio_pages *pages, struct wio_chunk_pool *pool);

#endif
