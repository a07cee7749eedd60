/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of one thread, given its events in order of begin: each nanosecond belongs to the
 * innermost operation under way, or to what was between two. Private to digest.
 */
#ifndef WIO_EXPLAIN_DIGEST_THREAD_H
#define WIO_EXPLAIN_DIGEST_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>

#include "explain/accounts/step_kind.h"

#define WIO_DIGEST_NEST 6u

struct wio_digest_under_way {
    uint64_t end_ns;
    uint64_t cpu_wait_ns;
    uint32_t source;
    uint8_t kind;
};

/* Zero-initialise for each thread. */
struct wio_digest_thread {
    uint64_t cur_ns; /* up to here its time is accounted */
    uint64_t time_ns[WIO_STEP_KINDS];
    uint32_t depth;
    bool has_begun;
    struct wio_digest_under_way stack[WIO_DIGEST_NEST];
};

/* The next event, whose own time is of `kind`. */
void wio_digest_thread_event(struct wio_digest_thread *thread, const struct wio_event *event,
                             enum wio_step_kind kind);
/* No event follows. */
void wio_digest_thread_end(struct wio_digest_thread *thread);

/* The source of the outermost operation that is under way: that of the program's call. Ask before
 * the event is told; 0: none is. */
uint32_t wio_digest_thread_caller(const struct wio_digest_thread *thread, uint64_t t_ns);

#endif
