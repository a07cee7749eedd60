/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The committed transactions of a trace, kept to be run again with something changed: of each the
 * requests in the order of their times, what its client did in between, and what servers needed for
 * them. Memory: at most WIO_REPLAY_REQUESTS_MAX requests; transactions behind these are not kept,
 * and counted.
 */
#ifndef WIO_EXPLAIN_ABORTS_REPLAYS_H
#define WIO_EXPLAIN_ABORTS_REPLAYS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/map.h"
#include "trace/txn/txn.h"

#define WIO_REPLAY_REQUESTS_MAX (1u << 17)

struct wio_replay_request {
    struct wio_txn_range range;
    uint32_t next; /* of the transaction; UINT32_MAX: the last */
    uint32_t server;
    uint32_t
        touched; /* bytes of the range that were read or written; UINT32_MAX: so many or more */
    uint32_t after_ns; /* from the answer to the request before, or the begin, to its arrival */
    uint32_t run_ns;
    uint32_t storage_ns;
    uint8_t mode;
    bool is_beside; /* it was sent before the request before was answered */
};

struct wio_replay_txn {
    uint64_t client;
    uint64_t number;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t answered_ns; /* of the last request */
    uint32_t first;       /* request; UINT32_MAX: none */
    uint32_t last;
    uint32_t attempt;
    uint32_t next_of_client; /* transaction; UINT32_MAX: the last */
    uint64_t after_ns;       /* from the end of the client's transaction before to its begin */
    uint64_t hold_ns;        /* from the last answer to its end */
    uint64_t aborted_ns;     /* of the attempt at hand, its last release; 0: it is not aborted */
    uint64_t refused_ns;     /* the attempt at hand: refused or wounded; 0: not, or it is counted */
    bool is_committed;
};

/* What the store's client waits before the next attempt (store/client/coord_attempt.c), on the
 * average. */
#define WIO_PAUSE_NS UINT64_C(100000) /* at most, before the second; then it doubles: */
#define WIO_PAUSE_DOUBLES 7u
static inline uint64_t wio_replay_pause_ns(uint32_t attempt)
{
    uint32_t doubles = attempt - 1 < WIO_PAUSE_DOUBLES ? attempt - 1 : WIO_PAUSE_DOUBLES;
    return (WIO_PAUSE_NS << doubles) / 4 * 3;
}

/* Zero-initialise. */
struct wio_replays {
    struct wio_replay_request *requests;
    uint32_t request_count;
    uint32_t request_capacity;
    struct wio_replay_txn *txns;
    uint32_t txn_count;
    uint32_t txn_capacity;
    struct wio_map index;   /* hash of client and number -> transaction */
    struct wio_map clients; /* client -> its last transaction that is over */
    uint32_t *first_of_clients;
    uint32_t client_count;
    uint32_t client_capacity;
    uint32_t open; /* of txns: not committed */
    /* From a wound or refusal to the release at the server, which messages take: of so many. */
    uint64_t abort_ns;
    uint64_t abort_count;
    uint64_t
        late_ns; /* next attempts began so much later than the client's pause alone says; of .. */
    uint64_t late_count;
    uint64_t left_out; /* transactions that were not kept, by their first row */
    uint32_t servers;  /* largest number of a server + 1 */
};

void wio_replays_fini(struct wio_replays *replays);
WIO_MUST_CHECK enum wio_status wio_replays_row(struct wio_replays *replays,
                                               const struct wio_txn_row *row);

#endif
