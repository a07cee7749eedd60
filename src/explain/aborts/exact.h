/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact analysis of aborts and waits: what the servers recorded as blockers is added up per
 * (victim, blocker, server), sources all of them. Nothing is guessed: an abort is counted under
 * each different source that refused or wounded it, and what it had cost is shared out among these.
 *
 * Memory: pairs of sources x servers.
 */
#ifndef WIO_EXPLAIN_ABORTS_EXACT_H
#define WIO_EXPLAIN_ABORTS_EXACT_H

#include "explain/aborts/attempts.h"

/* Waits for waits are followed so far. */
#define WIO_CHAIN_MAX 8u

/* What kind of conflict a blocker is. */
enum wio_conflict {
    WIO_CONFLICT_DATA,     /* the blocker read or wrote bytes that were asked for */
    WIO_CONFLICT_FALSE,    /* it had locked them, and touched none of them by then */
    WIO_CONFLICT_SIZE,     /* on the size of a segment, or a shared pointer */
    WIO_CONFLICT_QUEUED,   /* it waited as well, and came first */
    WIO_CONFLICT_PREPARED, /* it had voted, and waited for the outcome */
    WIO_CONFLICT_DEAD,     /* its client's lease had ended */
    WIO_CONFLICTS
};

struct wio_exact_pair {
    uint32_t victim;
    uint32_t blocker; /* WIO_NO_SOURCE: its rows are not in the trace */
    uint32_t server;
    uint64_t aborts;
    uint64_t deadlocks; /* of the aborts: the wait had closed a cycle */
    uint64_t waits;
    double wait_s;   /* for this blocker's locks */
    double think_s;  /* of it: the blocker had no request at a server (WIO_THINK_NS) */
    double passed_s; /* of it: the blocker waited for others itself when the wait began */
    /* Of the victims' own time, in which requests that wait side by side count once, and what an
     * attempt waited before it was aborted counts as that wait: */
    double lane_s;
    double lane_abort_s;                 /* of it: aborts */
    double by_conflict_s[WIO_CONFLICTS]; /* its parts */
    double lane_think_s;                 /* of it: the blocker had no request .. */
    double deadlock_s;                   /* .. deadlocks */
    double wasted_s;                     /* of attempts that it aborted: from begin to end */
    uint64_t wasted_bytes;
    uint64_t by_conflict[WIO_CONFLICTS]; /* aborts and waits */
    uint32_t chain_max;                  /* how many waited for each other behind this one */
    uint32_t chain_root;                 /* source at the end of the longest one */
    struct wio_txn_range example;        /* bytes of one conflict */
};

/* Where the time of answers to a source went at a server, seconds. */
struct wio_exact_contention {
    uint32_t source;
    uint32_t server;
    uint64_t requests;
    double queue_s;
    double lock_s;
    double storage_s;
    double run_s;
    double network_s; /* requests that came in pieces; where clients are recorded also answers, and
                         those that waited at the client */
    uint64_t busy;    /* attempts that the server turned away, or could not answer in time */
    uint64_t silent;  /* of them: no answer */
    double busy_s;    /* thrown away by that: from begin to end */
    /* Of the transactions' own time (struct wio_exact_pair): */
    double lane_queue_s; /* and what was thrown away */
    double lane_storage_s;
    double lane_run_s;
};

/* Zero-initialise. */
struct wio_exact {
    struct wio_exact_pair *pairs;
    uint32_t pair_count;
    uint32_t pair_capacity;
    struct wio_exact_contention *contention;
    uint32_t contention_count;
    uint32_t contention_capacity;
    struct wio_strtab pair_index;
    struct wio_map contention_index; /* source << 32 | server */
};

void wio_exact_fini(struct wio_exact *exact);
/* Each row, after wio_attempts_row; `attempt` is its attempt. What has refused it is judged at that
 * moment: later the blocker may have touched more, or wait for others. */
WIO_MUST_CHECK enum wio_status wio_exact_row(struct wio_exact *exact,
                                             const struct wio_attempts *attempts,
                                             struct wio_attempt *attempt,
                                             const struct wio_txn_row *row);
/* `attempt` is over and was aborted. */
WIO_MUST_CHECK enum wio_status wio_exact_abort(struct wio_exact *exact,
                                               const struct wio_attempts *attempts,
                                               struct wio_attempt *attempt);
/* What cost the most first. After the last row. */
void wio_exact_sort(struct wio_exact *exact);

/* "data", "false", .. */
const char *wio_conflict_name(enum wio_conflict conflict);

#endif
