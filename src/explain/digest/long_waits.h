/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The longest waits of threads for other threads, one by one: the operation that waited, and
 * the operation of which thread ended the wait. They are the waits of `explain`: what its waiting
 * is summed from.
 *
 *     struct wio_long_waits_params params = {.struct_size = sizeof(params), .count = 20};
 *     struct wio_long_waits *waits;
 *     if (wio_long_waits_create(trace, &params, &waits, &err) != WIO_OK) ...
 *     wio_long_waits_destroy(waits);
 *
 * Reads the events twice. Memory: that of the critical path (critical_path/timeline.h), and two
 * rows for each wait that is asked for. Waits below a microsecond are not told.
 */
#ifndef WIO_EXPLAIN_LONG_WAITS_H
#define WIO_EXPLAIN_LONG_WAITS_H

#include <whyio/trace.h>

struct wio_long_waits_params {
    size_t struct_size;
    uint32_t count;            /* as many at most */
    wio_progress_fn *progress; /* may be NULL */
    void *progress_arg;
};

/* One event of the trace. */
struct wio_wait_end {
    uint64_t seq;
    uint32_t stream;
    uint32_t path;   /* string id */
    uint32_t source; /* source id */
    uint16_t op;
};

struct wio_long_wait {
    uint64_t begin_ns;
    uint64_t wait_ns;
    struct wio_wait_end waiter;
    struct wio_wait_end other;
    uint8_t evidence; /* enum wio_evidence */
};

struct wio_long_waits {
    struct wio_long_wait *rows; /* the longest first */
    uint32_t count;
    uint64_t seen;     /* of so many */
    uint64_t total_ns; /* and so long together */
};

/* The trace must have edges. The caller owns the result. */
WIO_MUST_CHECK enum wio_status wio_long_waits_create(const struct wio_trace *trace,
                                                     const struct wio_long_waits_params *params,
                                                     struct wio_long_waits **waits_out,
                                                     struct wio_error *err);
/* Accepts NULL. */
void wio_long_waits_destroy(struct wio_long_waits *waits);

#endif
