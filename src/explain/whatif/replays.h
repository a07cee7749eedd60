/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The committed transactions of a trace, kept to be run again with something changed: of each the
 * requests in the order of their times, what its client did in between, and what servers needed for
 * them. Memory: at most WIO_REPLAY_REQUESTS_MAX requests; transactions behind these are not kept,
 * and counted.
 */
#ifndef WIO_EXPLAIN_WHATIF_REPLAYS_H
#define WIO_EXPLAIN_WHATIF_REPLAYS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/histogram.h"
#include "base/map.h"
#include "store/client/pause.h"
#include "trace/txn/txn.h"

#define WIO_REPLAY_REQUESTS_MAX (1u << 17)
/* A client that asks for nothing for so long thinks; in shorter gaps an answer and the next request
 * are on their way. */
#define WIO_THINK_NS UINT64_C(1000000)

struct wio_replay_request {
    struct wio_txn_range range;
    uint32_t next; /* of the transaction; UINT32_MAX: the last */
    uint32_t server;
    uint32_t
        touched; /* bytes of the range that were read or written; UINT32_MAX: so many or more */
    uint32_t after_ns; /* from the answer to the request before, or the begin, to its arrival .. */
    uint32_t transfer_ns; /* .. of which so long it was on its way already */
    uint32_t run_ns;
    uint32_t storage_ns;
    uint32_t moved;    /* bytes: sent with it, and with the answer before */
    uint32_t pause_ns; /* of its server, from its answer before, to any client, until it came;
                          UINT32_MAX: it came before that */
    uint64_t came_ns;
    uint8_t mode;
    bool is_beside; /* it was sent before the request before was answered */
    bool is_behind; /* the answer before was another client's */
    bool is_alone;  /* its server has answered no other client since the request before had come */
    bool commits;   /* its transaction ends with it (FLAG_SINGLE, FLAG_COMMIT) */
};

/* The last answers of a server as rows come. */
struct wio_replay_server {
    uint64_t answered_ns;
    uint64_t client;
    uint64_t other_ns; /* to another client than that one */
};
#define WIO_REPLAY_SERVERS 256u /* as many as a store has */

struct wio_replay_txn {
    uint64_t client;
    uint64_t number;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t answered_ns; /* of the last request */
    uint64_t came_ns;     /* .. when it came */
    uint32_t first;       /* request; UINT32_MAX: none */
    uint32_t last;
    uint32_t attempt;
    uint32_t next_of_client; /* transaction; UINT32_MAX: the last */
    uint64_t after_ns;       /* from the end of the client's transaction before to its begin */
    uint64_t hold_ns;        /* from the last answer to its end */
    uint64_t aborted_ns;     /* of the attempt at hand, its last release; 0: it is not aborted */
    uint64_t refused_ns;     /* the attempt at hand: refused or wounded; 0: not, or it is counted */
    uint32_t got;            /* bytes that came with the last answer */
    bool is_wounded;         /* the attempt at hand, and it was not refused before */
    bool is_committed;
};

/* Timers of the store count whole milliseconds, and one more so as not to be early
 * (store/net/net.c). */
static inline uint64_t wio_replay_timer_ns(uint64_t after_ns)
{
    return after_ns == 0 ? 0 : (after_ns + 999999) / 1000000 * 1000000 + 1000000;
}

/* From a refusal to the client's next attempt. A wound is followed by no pause. */
#define WIO_REPLAY_PAUSE_NS UINT64_C(100000) /* at most, before the second */
static inline uint64_t wio_replay_pause_ns(uint64_t client, uint64_t number, uint32_t attempt)
{
    return wio_replay_timer_ns(wio_store_pause_ns(client, number, attempt, WIO_REPLAY_PAUSE_NS));
}

/* Classes of requests by the bytes that move between client and server: below 256, then by powers
 * of two. */
#define WIO_REPLAY_CLASSES 20u
static inline unsigned wio_replay_class(uint64_t bytes)
{
    unsigned bits = bytes < 256 ? 0 : 64u - (unsigned)__builtin_clzll(bytes >> 8);
    return bits < WIO_REPLAY_CLASSES ? bits : WIO_REPLAY_CLASSES - 1;
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
    /* From a wound or refusal to the release at the server, which messages take. */
    struct wio_histogram abort_ns;
    /* From that release to the first request of the next attempt: after a wound .. */
    struct wio_histogram again_ns;
    /* .. and after a refusal: so much later, or earlier, than the client's pause says. */
    struct wio_histogram late_ns;
    struct wio_histogram early_ns;
    struct wio_replay_server at[WIO_REPLAY_SERVERS];
    uint64_t left_out; /* transactions that were not kept, by their first row */
    uint32_t servers;  /* of the store: largest number of one + 1 */
};

void wio_replays_fini(struct wio_replays *replays);
WIO_MUST_CHECK enum wio_status wio_replays_row(struct wio_replays *replays,
                                               const struct wio_txn_row *row);

#endif
