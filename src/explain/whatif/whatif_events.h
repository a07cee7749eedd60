/* SPDX-License-Identifier: Apache-2.0 */
/* What is still to happen in a what-if, by its virtual time. */
#ifndef WIO_EXPLAIN_WHATIF_WHATIF_EVENTS_H
#define WIO_EXPLAIN_WHATIF_WHATIF_EVENTS_H

#include <stdint.h>

#include <whyio/status.h>

enum wio_whatif_moment {
    WIO_WHATIF_BEGIN,   /* a client begins its next transaction */
    WIO_WHATIF_ISSUE,   /* .. its next requests come to their servers */
    WIO_WHATIF_TAKEN,   /* a server has read a request */
    WIO_WHATIF_FREE,    /* .. has time for the next one */
    WIO_WHATIF_DONE,    /* a request is answered */
    WIO_WHATIF_ABORT,   /* an attempt is over at the servers */
    WIO_WHATIF_END,     /* a transaction has committed */
    WIO_WHATIF_TIME_OUT /* of a wait for locks at a server */
};

struct wio_whatif_event {
    uint64_t ns;
    uint64_t order;  /* of those at one time: as they came; set by wio_whatif_schedule */
    uint32_t index;  /* of the client; FREE, TIME_OUT: of the server */
    uint32_t epoch;  /* of the client: what was scheduled before an abort is void */
    uint32_t piece;  /* TAKEN, DONE */
    uint32_t server; /* TAKEN */
    enum wio_whatif_moment moment;
};

/* A heap. Zero-initialise; release with wio_whatif_events_fini. */
struct wio_whatif_events {
    struct wio_whatif_event *heap;
    uint32_t count;
    uint32_t capacity;
    uint64_t order; /* so many were scheduled */
};

/* Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_whatif_schedule(struct wio_whatif_events *events,
                                                   struct wio_whatif_event event);
/* The first, which is none of them any more. There is one. */
struct wio_whatif_event wio_whatif_take_first(struct wio_whatif_events *events);
void wio_whatif_events_fini(struct wio_whatif_events *events);

#endif
