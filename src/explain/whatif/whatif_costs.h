/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What requests cost besides what their rows say. A server reads a request from its connection
 * before its row begins, and requests that lie there meanwhile are not seen: both are in the time
 * from an answer to the next request, with the time of the client and the network. They are told
 * apart by requests that a server took up right behind another client's.
 */
#ifndef WIO_EXPLAIN_WHATIF_WHATIF_COSTS_H
#define WIO_EXPLAIN_WHATIF_WHATIF_COSTS_H

#include "explain/whatif/replays.h"

/* Of requests of a class (wio_replay_class). */
struct wio_whatif_cost {
    uint64_t receive_ns; /* of the server, for taking one request up */
    uint64_t client_ns;  /* of the client and the network, before it: what most take */
};

/* Zero-initialise; release with wio_whatif_costs_fini. */
struct wio_whatif_costs {
    struct wio_whatif_cost of[WIO_REPLAY_CLASSES];
    uint32_t *queued_ns; /* by request: for so long it may have lain at its server, which had no
                            pause before it came; owned */
    uint64_t abort_ns;   /* from a refusal or wound to the release of the locks */
    uint64_t again_ns;   /* from that to the next attempt's first request, after a wound */
    int64_t late_ns;     /* after a refusal: so much later than the client's pause says */
};

/* Fails with WIO_ERR_NOMEM; *costs_out is to be released nevertheless. */
WIO_MUST_CHECK enum wio_status wio_whatif_costs(const struct wio_replays *replays,
                                                struct wio_whatif_costs *costs_out);

void wio_whatif_costs_fini(struct wio_whatif_costs *costs);

/* Where the `after_ns` before a request went; without the time it lay there. */
struct wio_whatif_cost wio_whatif_cost_of(const struct wio_whatif_costs *costs,
                                          const struct wio_replays *replays, uint32_t request,
                                          uint64_t after_ns);

#endif
