/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's connections to the targets of a store: made at the begin, and again, after pauses
 * that grow, where one is lost. One thread: the loop's.
 */
#ifndef WIO_STORE_SESSION_TARGETS_H
#define WIO_STORE_SESSION_TARGETS_H

#include "store/link/link.h"

struct wio_targets;

/* From the loop. Messages are lent for the call. */
struct wio_targets_events {
    /* It is connected: for the first time, or again. is_known: what was under way is to be sent
     * again, with the same numbers, and is done once. Else the target has forgotten this client
     * (its lease had ended, or the target has started anew): whether what was under way was done is
     * not known, and to send it again could do it twice. */
    void (*back)(void *context, uint16_t target, bool is_known);
    void (*reply)(void *context, uint16_t target, const struct wio_store_reply *reply);
    void (*push)(void *context, uint16_t target, const struct wio_store_push *push);
    /* It is not connected any more, or could not be: it is tried again. May be NULL. */
    void (*lost)(void *context, uint16_t target, enum wio_link_end why);
    /* What a blocker's job or call site is called; both may be NULL. */
    void (*job)(void *context, uint16_t target, const struct wio_wire_job *job);
    void (*source)(void *context, uint16_t target, const struct wio_store_request *define);
};

/* `config` and `events` live as long; the addresses are copied. hello->client is the caller's. The
 * caller owns *targets_out. WIO_ERR_USAGE: an address that is none. */
WIO_MUST_CHECK enum wio_status
wio_targets_create(struct wio_io *io, const struct wio_link_config *config,
                   const struct wio_wire_hello *hello, const char *const *addresses, uint16_t count,
                   const struct wio_targets_events *events, void *context,
                   struct wio_targets **targets_out, struct wio_error *err);
/* No event comes any more. NULL is allowed. */
void wio_targets_destroy(struct wio_targets *targets);

/* True: it was handed over, which does not say that it arrives. False: there is no connection; it
 * is to be sent after `back`. */
bool wio_targets_send(struct wio_targets *targets, uint16_t target,
                      const struct wio_store_request *request);
bool wio_targets_is_open(const struct wio_targets *targets, uint16_t target);
/* Both sides of its connection have the features; false where there is none. */
bool wio_targets_knows(const struct wio_targets *targets, uint16_t target, unsigned of_class,
                       uint32_t features);
/* Features of admission that both sides have (admit/negotiate.h); 0: none, or not connected. */
uint32_t wio_targets_features(const struct wio_targets *targets, uint16_t target);
/* What the target said when it was connected last; NULL: it never was. */
const struct wio_wire_welcome *wio_targets_welcome(const struct wio_targets *targets,
                                                   uint16_t target);

#endif
