/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of one transaction as they are with a change. */
#ifndef WIO_EXPLAIN_WHATIF_WHATIF_PLAN_H
#define WIO_EXPLAIN_WHATIF_WHATIF_PLAN_H

#include "explain/whatif/whatif.h"
#include "explain/whatif/whatif_costs.h"

struct wio_whatif_piece {
    struct wio_txn_range range; /* that is locked */
    uint32_t server;
    uint8_t mode;
    bool is_beside; /* sent together with the piece before */
    bool commits;   /* its transaction ends with it, or with its refusal */
    uint32_t moved; /* bytes between client and server before it is there */
    uint64_t after_ns;
    uint64_t transfer_ns; /* of after_ns: it was on its way, and the client did nothing else */
    uint64_t receive_ns;  /* of the server, before it is looked at */
    uint64_t run_ns;
    uint64_t storage_ns;
    uint64_t since_ns; /* of a wait, while it is run */
};

/* Zero-initialise, but for `costs`. */
struct wio_whatif_plan {
    const struct wio_whatif_costs *costs; /* borrowed */
    struct wio_whatif_piece *pieces;
    uint32_t count;
    uint32_t capacity;
    uint64_t lead_ns;   /* of the time before the begin: what the first request took to come */
    uint64_t hold_ns;   /* from the last answer to the end */
    uint64_t behind_ns; /* what the client does behind the end, that it did before */
    uint32_t cut;       /* requests of more than WIO_WHATIF_PIECES runs: the rest is left out */
};

WIO_MUST_CHECK enum wio_status wio_whatif_plan(struct wio_whatif_plan *plan,
                                               const struct wio_replays *replays,
                                               const struct wio_replay_txn *txn,
                                               const struct wio_whatif_change *change,
                                               wio_whatif_file_fn *file_of, void *arg);

#endif
