/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's side of admission (admit/client.h), between its coordinator and its connections:
 * which requests wait here, and what becomes of those that a target refused.
 *
 * What begins a transaction, or is none of one, holds no lock yet: it waits for the window of its
 * target, and where it is refused it is sent again with the same number, without the coordinator
 * hearing of it. All other requests are sent at once: a transaction that holds locks waits for no
 * window (docs/adr/0025). With a target that knows no admission nothing waits.
 *
 * One thread: the loop's. The caller gives the time.
 */
#ifndef WIO_STORE_SESSION_PACING_H
#define WIO_STORE_SESSION_PACING_H

#include <whyio/status.h>

#include "store/messages.h"

struct wio_pacing;

/* What the calls below make of a request. */
struct wio_pacing_ops {
    /* The request that waits with this number, where it is still wanted; NULL: it is not. */
    const struct wio_store_request *(*find)(void *context, uint16_t target, uint64_t number);
    /* Send it now. False: there is no connection. */
    bool (*send)(void *context, uint16_t target, const struct wio_store_request *request);
    /* It was sent: operations of its transaction that were held back may follow. */
    void (*sent)(void *context, uint16_t target, uint64_t number);
    /* It is refused for good: an answer with WIO_STORE_OVERLOADED. */
    void (*over)(void *context, uint16_t target, const struct wio_store_reply *reply);
};

/* `seed`: of random waits. The caller owns it. NULL: no memory. */
struct wio_pacing *wio_pacing_create(uint16_t targets, uint64_t seed,
                                     const struct wio_pacing_ops *ops, void *context);
void wio_pacing_destroy(struct wio_pacing *pacing); /* NULL is allowed */

/* The target is connected, with these features of admission (0: none). is_known: it remembers what
 * was under way. */
void wio_pacing_connected(struct wio_pacing *pacing, uint16_t target, uint32_t features,
                          bool is_known, uint64_t now_ns);

/* A request is to be sent. True: it waits here, or was sent by ops->send; false: the caller sends
 * it as it is in *request, to which what admission adds may have been added. */
bool wio_pacing_take(struct wio_pacing *pacing, uint16_t target, struct wio_store_request *request,
                     uint64_t now_ns);
/* It waits here, and the target has not done it: it has not had it, or has refused all of it. */
bool wio_pacing_holds(const struct wio_pacing *pacing, uint16_t target, uint64_t number);

/* A reply has come. True: it was a refusal, and the request is sent again later. False: it is the
 * coordinator's; its result may have been made WIO_STORE_OVERLOADED, or WIO_STORE_NO_LEASE where it
 * was sent twice and the answer to the first copy was lost. */
bool wio_pacing_reply(struct wio_pacing *pacing, uint16_t target, struct wio_store_reply *reply,
                      uint64_t now_ns);
void wio_pacing_window(struct wio_pacing *pacing, uint16_t target, uint16_t window,
                       uint64_t now_ns);

/* What is due now. To be called after each of the others, and when wio_pacing_wake_ns says so. */
void wio_pacing_pump(struct wio_pacing *pacing, uint64_t now_ns);
uint64_t wio_pacing_wake_ns(const struct wio_pacing *pacing); /* UINT64_MAX: never */

struct wio_pacing_counts {
    uint64_t refused; /* replies that refused for load */
    uint64_t again;   /* requests that were sent again for it */
    uint64_t over;    /* that were refused for good */
    uint64_t waited;  /* that were not sent at once */
};
struct wio_pacing_counts wio_pacing_counts(const struct wio_pacing *pacing);

#endif
