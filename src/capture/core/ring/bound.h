/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound of the recording (WHYIO_MAX_SIZE, WHYIO_KEEP): which chunks there may be, over all
 * processes that write rings into one directory. ring/bound.h has the layout. Nothing here is
 * called unless a chunk is full or a definition is written. Signal safe, thread safe.
 */
#ifndef WIO_CAPTURE_CORE_BOUND_H
#define WIO_CAPTURE_CORE_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/core/attributes.h"
#include "capture/core/state.h"
#include "ring/bound.h"

/* A definition has so many bytes at most: FORMAT.md#ring-strings */
#define CAP_TEXT_MAX 8192u

/* Lives on in a forked child. */
struct cap_bound {
    size_t plain_text;  /* a definition of fewer bytes goes into the chunk: CAP_TEXT_MAX + 1, or 0
                           where none does */
    uint32_t keep;      /* enum wio_bound_keep */
    uint64_t max_bytes; /* as the environment has it */
    struct wio_bound_header *header; /* NULL: the file cannot be had, so no chunk can */
    uint64_t *states;
    uint64_t places; /* in the table */
    bool has_pids;   /* the states have pids of this process' namespace */
};

extern struct cap_bound cap_bound CAP_HIDDEN;

static inline bool cap_bound_keeps_last(void)
{
    return cap_bound.keep == WIO_BOUND_LAST;
}

/* From the environment, once the directory of the rings is known. */
void cap_bound_configure(void) CAP_HIDDEN;
/* The file of the bound, until cap_bound_close; negative where it cannot be opened. */
int cap_bound_open(void) CAP_HIDDEN;
void cap_bound_close(int fd) CAP_HIDDEN;

/* The first events are kept: may the rings have one chunk more? True without a bound. */
bool cap_bound_take(void) CAP_HIDDEN;

/* The last events are kept: a place for a chunk. */
struct cap_bound_place {
    int fd; /* of the file of the bound, until cap_bound_settle */
    uint64_t index;
    uint64_t offset; /* of the place in it */
    bool is_fresh;   /* nothing was there */
};

/* The oldest place, whose events are lost and counted; false where no place is to be had: all are
 * mapped by living processes, or the file cannot be opened. `pid`: of the thread's own process. */
bool cap_bound_claim(int32_t pid, struct cap_bound_place *out) CAP_HIDDEN;
/* It holds a full chunk, is mapped (LIVE), or could not be filled (FREE). */
void cap_bound_settle(const struct cap_bound_place *place, enum wio_place_kind kind,
                      int32_t pid) CAP_HIDDEN;
/* Events in a chunk of this process. */
uint32_t cap_bound_count(const struct wio_chunk_header *chunk) CAP_HIDDEN;
/* The last events are kept: a descriptor was opened. Its flags stay known when that event is gone.
 */
void cap_bound_opened(struct cap_thread *self, int fd, uint32_t path, int open_flags) CAP_HIDDEN;
/* Room for a definition of so many bytes: false where all definitions take as much as the events
 * may. */
bool cap_bound_take_text(uint64_t bytes) CAP_HIDDEN;

#endif
