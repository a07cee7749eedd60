/* SPDX-License-Identifier: Apache-2.0 */
/* A mix like that of recorded programs: sequential and random reads and writes of several files,
 * buffered stdio calls, many small files looked at and read. The same on every machine. */
#ifndef WIO_BENCH_MIXED_EVENTS_H
#define WIO_BENCH_MIXED_EVENTS_H

#include <stdint.h>

#include <whyio/event.h>

#define MIXED_BIG_FILES 16u
#define MIXED_SMALL_FILES 5000u
/* Paths are string ids 1 .. MIXED_FILES, sources 1 .. MIXED_SOURCES. */
#define MIXED_FILES (MIXED_BIG_FILES + MIXED_SMALL_FILES)
#define MIXED_SOURCES 16u

struct mixed_stream {
    uint64_t random;
    uint64_t clock_ns;
    int64_t position[MIXED_BIG_FILES];
    uint32_t file;
    uint32_t burst; /* operations left on this file */
    unsigned step;  /* of the sequence stat, open, read, close on a small file */
    uint32_t small;
};

/* One of several streams; each number is another one. */
struct mixed_stream mixed_begin(uint32_t number);
/* Its next event; its times go on. `stream` is the caller's to set. */
struct wio_event mixed_next(struct mixed_stream *state);

#endif
