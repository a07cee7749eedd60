/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why transactions of a store were aborted and waited: both analyses in one pass over the rows of
 * transactions of a trace (trace/txn/txn.h).
 *
 * Memory: sources x servers and what is active at the same time, never the length of the trace.
 * Thread safety: one thread per object.
 */
#ifndef WIO_EXPLAIN_ABORTS_ABORTS_H
#define WIO_EXPLAIN_ABORTS_ABORTS_H

#include "explain/aborts/classic.h"
#include "explain/aborts/exact.h"
#include "explain/aborts/presence.h"
#include "explain/whatif/replays.h"

struct wio_abort_totals {
    uint64_t rows;
    uint64_t first_ns; /* begin of the first attempt, end of the last row */
    uint64_t last_ns;
    uint64_t attempts;                 /* that are over */
    uint64_t committed;                /* transactions */
    uint64_t aborts;                   /* attempts that a server refused */
    uint64_t given_up;                 /* attempts that were aborted, and no server had refused */
    uint64_t deadlocks;                /* aborts whose wait had closed a cycle */
    uint64_t by_refusal[WIO_REFUSALS]; /* aborts; one with several reasons counts under each */
    double wasted_s;                   /* of aborted attempts, from begin to end */
    uint64_t wasted_bytes;
    double used_s;      /* of servers, for aborted attempts */
    double wait_s;      /* for locks, of all attempts */
    uint64_t open;      /* attempts that never were over in the trace */
    uint64_t forgotten; /* attempts.h: explanations may lack them */
};

struct wio_aborts {
    struct wio_txn_cursor *cursor; /* its tables */
    struct wio_abort_sources sources;
    struct wio_attempts attempts;
    struct wio_classic classic;
    struct wio_exact exact;
    struct wio_replays replays;
    struct wio_presence presence;
    struct wio_abort_totals totals;
};

/* `trace` must outlive the result, which the caller owns. *aborts_out NULL: it has no rows. */
WIO_MUST_CHECK enum wio_status wio_aborts_of(const struct wio_trace *trace,
                                             struct wio_aborts **aborts_out, struct wio_error *err);
/* Accepts NULL. */
void wio_aborts_destroy(struct wio_aborts *aborts);

/* One row after the other, in the order of time, without a cursor: what wio_aborts_of is made of.
 * Zero-initialise; wio_aborts_init first, `sources` filled by the caller. */
void wio_aborts_init(struct wio_aborts *aborts);
WIO_MUST_CHECK enum wio_status wio_aborts_row(struct wio_aborts *aborts,
                                              const struct wio_txn_row *row);
/* Sorts the results. */
void wio_aborts_finish(struct wio_aborts *aborts);
void wio_aborts_fini(struct wio_aborts *aborts);

#endif
