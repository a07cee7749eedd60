/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the job table that is looked at without a lock: an open hash table whose buckets are
 * cache lines of five words, each of which is a thread id and its job in 64 bits. One atomic load
 * takes both, so that a look can neither see the job of another thread nor has to try again.
 *
 * A line counts the entries that found it full and stand behind it (`passed`): a look goes on to
 * the next line only where there are some, and an entry leaves without a trace. Growing makes a
 * second table of twice the lines; a look that began before ends in the first one, which therefore
 * is kept (all of them together are smaller than the last).
 *
 * One thread at a time changes; any number may look.
 */
#ifndef WIO_JOB_LINES_H
#define WIO_JOB_LINES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/alloc.h"

#define WIO_JOB_WAYS 5u
#define WIO_JOB_UNSURE_BIT (1u << 31) /* of the job in a word */

struct wio_job_line {
    _Atomic uint64_t word[WIO_JOB_WAYS]; /* thread id, job << 32; 0 = free */
    _Atomic uint32_t due[WIO_JOB_WAYS];  /* ms from which on it is old */
    _Atomic uint32_t passed;
};
_Static_assert(sizeof(struct wio_job_line) == 64, "a cache line");

struct wio_job_view {
    struct wio_job_view *before; /* the smaller one */
    void *memory;
    uint32_t mask; /* lines - 1, a power of two */
    struct wio_job_line *lines;
    uint32_t *owners; /* by place: a number of the changing thread's */
};

struct wio_job_lines {
    struct wio_alloc alloc;
    _Atomic(struct wio_job_view *) view;
};

WIO_MUST_CHECK enum wio_status wio_job_lines_init(struct wio_job_lines *lines,
                                                  const struct wio_alloc *alloc);
void wio_job_lines_fini(struct wio_job_lines *lines);
/* Begin a view of twice the lines: the caller puts all entries again with `place` into what is
 * returned, then publishes it. NULL where memory is short. */
struct wio_job_view *wio_job_lines_grow(struct wio_job_lines *lines);
void wio_job_lines_publish(struct wio_job_lines *lines, struct wio_job_view *view);

/* Places are line * WIO_JOB_WAYS + way. */
uint32_t wio_job_view_put(struct wio_job_view *view, uint64_t word, uint32_t due, uint32_t owner);
/* WIO_NO_INDEX where the thread is not there. */
uint32_t wio_job_view_find(const struct wio_job_view *view, uint32_t tid);
void wio_job_view_set(struct wio_job_view *view, uint32_t place, uint64_t word, uint32_t due);
void wio_job_view_remove(struct wio_job_view *view, uint32_t place);

/* Multiplicative: neighbouring ids go to lines that are apart. */
static inline uint32_t wio_job_view_home(const struct wio_job_view *view, uint32_t tid)
{
    return (uint32_t)((tid * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & view->mask;
}

/* The word of a thread, and when it is due; 0 where there is none. Each word of a line is loaded
 * once and the right one selected without a branch: which one it is cannot be predicted. */
static inline uint64_t wio_job_lines_look(const struct wio_job_lines *lines, uint32_t tid,
                                          uint32_t *due_out)
{
    const struct wio_job_view *view = atomic_load_explicit(&lines->view, memory_order_acquire);
    for (uint32_t at = wio_job_view_home(view, tid), end = at + view->mask;; at++) {
        const struct wio_job_line *line = &view->lines[at & view->mask];
        uint64_t found = 0;
        unsigned found_way = 0;
        for (unsigned way = 0; way < WIO_JOB_WAYS; way++) {
            const uint64_t word = atomic_load_explicit(&line->word[way], memory_order_acquire);
            const bool is_it = (uint32_t)word == tid;
            found = is_it ? word : found;
            found_way = is_it ? way : found_way;
        }
        if (found != 0) {
            *due_out = atomic_load_explicit(&line->due[found_way], memory_order_relaxed);
            return found;
        }
        if (atomic_load_explicit(&line->passed, memory_order_relaxed) == 0 || at == end) {
            return 0;
        }
    }
}

#endif
