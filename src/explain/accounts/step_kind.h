/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread's time is: I/O, computing, waiting .. The rules that `explain` and `info` share, so
 * that their words mean the same.
 */
#ifndef WIO_EXPLAIN_STEP_KIND_H
#define WIO_EXPLAIN_STEP_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>

/* What the time of a step is. */
enum wio_step_kind {
    WIO_STEP_IO,
    WIO_STEP_COMPUTE,
    WIO_STEP_WAIT,     /* for another thread, a message, a moment */
    WIO_STEP_CPU_WAIT, /* ready, without a processor */
    WIO_STEP_SLEPT,    /* stood between two operations, for no event: a page fault, a library */
    WIO_STEP_SHADOW,   /* no time of its own: I/O of another thread while this site waited */
    WIO_STEP_KINDS
};

/* IO, COMPUTE or WAIT: of operation `op`, whose data may be that of a channel. */
enum wio_step_kind wio_step_kind_of(unsigned op, bool is_of_channel);

/* Has the event no time of its own on the thread? */
bool wio_step_is_timeless(const struct wio_event *event);

/* How much of the duration of an operation that does I/O its thread was ready, without a
 * processor. */
static inline uint64_t wio_step_cpu_wait_ns(const struct wio_event *event)
{
    bool is_known = event->dur_cpu_ns != 0 && !event->dur_slept;

    return is_known && event->dur_cpu_ns < event->dur_ns ? event->dur_ns - event->dur_cpu_ns : 0;
}

#endif
