/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets: what a refused request brings along when it comes again, so that it keeps its first id.
 *
 * A ticket holds the incarnation of the server, the id (sequence) that the request got when it
 * first came, and how often it was refused, under a MAC that also covers the client's address and
 * its number of the request. It counts once: the sequences that may come again are one bit each in
 * a window of the last WIO_TICKET_WINDOW ids. What is forged, of another request or client, of
 * another incarnation or shard, used already or older than the window counts as no ticket.
 */
#ifndef WIO_ADMIT_TICKET_H
#define WIO_ADMIT_TICKET_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/alloc.h"

#define WIO_TICKET_KEY_BYTES 16
#define WIO_TICKET_WINDOW ((uint64_t)1 << 20)

/* Zero: no ticket. On the wire: these members in this order, little-endian, 24 bytes. */
struct wio_ticket {
    uint64_t sequence;
    uint64_t mac;
    uint32_t incarnation;
    uint16_t retries; /* times that it was refused, stops at 65535 */
    uint16_t unused;  /* 0 */
};

/* What a ticket is bound to beside its own members. */
struct wio_ticket_owner {
    uint64_t address; /* of the client */
    uint64_t number;  /* of the request */
};

struct wio_tickets {
    struct wio_alloc alloc;
    uint64_t *pending; /* a bit per id of the window: refused, may come again */
    uint64_t next;     /* id of the next new request, from 1 */
    uint32_t incarnation;
    uint32_t shard;
    uint8_t key[WIO_TICKET_KEY_BYTES];
};

WIO_MUST_CHECK enum wio_status wio_tickets_init(struct wio_tickets *tickets,
                                                const struct wio_alloc *alloc,
                                                const uint8_t key[WIO_TICKET_KEY_BYTES],
                                                uint32_t incarnation, uint32_t shard);
void wio_tickets_fini(struct wio_tickets *tickets);

/* The id of a request that comes for the first time. */
uint64_t wio_tickets_take_id(struct wio_tickets *tickets);

/* Does the ticket hold for this owner? */
bool wio_tickets_check(const struct wio_tickets *tickets, const struct wio_ticket *ticket,
                       const struct wio_ticket_owner *owner);

/* The ticket for the request with this id that is refused for the (retries + 1)-th time. */
struct wio_ticket wio_tickets_issue(struct wio_tickets *tickets, uint64_t id, uint16_t retries,
                                    const struct wio_ticket_owner *owner);

/* The request with this id was accepted: its tickets hold no more. */
void wio_tickets_use(struct wio_tickets *tickets, uint64_t id);

#endif
