/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What transactions lost, as findings: each is a line that lost time to another line, or to
 * servers, in seconds of the run, with the gain of its change where that can be tried
 * (candidates.h).
 *
 * Seconds. What all transactions of a line lost by a cause is a part of the time that clients were
 * there (presence.h); a finding's seconds are that part of the run, from the first attempt to the
 * last row. So all findings together cost no more than the run, and one that costs all clients half
 * of their time costs half of it. Seconds of findings about the recorded program (findings/) are of
 * its critical path: where a trace has both, a wait for a lock is in an operation of the program as
 * well, and the two lists are not to be added up.
 */
#ifndef WIO_EXPLAIN_ABORTS_TXN_FINDINGS_H
#define WIO_EXPLAIN_ABORTS_TXN_FINDINGS_H

#include "explain/aborts/cure.h"

#define WIO_TXN_FINDING_TEXT 256u

struct wio_txn_finding {
    enum wio_loss loss; /* that with most of the seconds */
    double seconds;
    double share;     /* of the run */
    double lost_s;    /* of transactions' own time, summed over them */
    uint32_t victim;  /* source that lost them */
    uint32_t blocker; /* source; of contention: that with most of the server's time;
                         WIO_NO_SOURCE: not recorded, or none */
    uint32_t server;  /* of wio_attempts_server, with most of the seconds; of `servers` */
    uint32_t servers;
    double server_s; /* of lost_s: at `server` */
    uint64_t aborts;
    uint64_t deadlocks;
    uint64_t waits;
    uint64_t requests; /* of contention */
    double wait_s;     /* of contention: in the queue, or for the storage */
    double passed_s;   /* of wait_s: the blocker waited for others itself */
    double wasted_s;
    double by_loss_s[WIO_LOSSES];
    uint64_t by_conflict[WIO_CONFLICTS];
    struct wio_txn_range example; /* to = 0: none */
    uint32_t chain_max;
    uint32_t chain_root;
    double gain_s;                     /* NAN: not computed */
    uint64_t aborts_then;              /* all of the run, as simulated as it was .. */
    uint64_t aborts_with;              /* .. and with the change */
    double predicted_s;                /* the run with the change; NAN */
    char detail[WIO_TXN_FINDING_TEXT]; /* a sentence with its numbers */
};

/* By seconds, the longest first. Release with wio_txn_findings_fini. */
struct wio_txn_findings {
    struct wio_txn_finding *items;
    uint32_t count;
    double duration_s;
    double present_s; /* sum over clients */
};

/* Zero-initialise. `candidates` as run on `aborts`.
 * WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_txn_findings_find(const struct wio_aborts *aborts,
                                                     const struct wio_candidates *candidates,
                                                     struct wio_txn_findings *findings);
void wio_txn_findings_fini(struct wio_txn_findings *findings);

#endif
