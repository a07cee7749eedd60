/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of a sender: those that are ready in a list, and a timer for each. */
#ifndef WIO_ADMIT_CLIENT_PENDING_H
#define WIO_ADMIT_CLIENT_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "admit/counts.h"
#include "admit/ticket.h"
#include "base/memory.h"

enum wio_pending_state {
    WIO_PENDING_FREE,
    WIO_PENDING_READY,
    WIO_PENDING_BACK_OFF,
    WIO_PENDING_IN_FLIGHT
};

struct wio_pending_request {
    uint64_t cookie;
    uint64_t deadline_ns;
    uint64_t back_ns; /* end of the wait after a refusal */
    uint64_t sent_ns;
    uint64_t timer_ns;
    struct wio_ticket ticket;
    uint32_t generation; /* high half of its number */
    uint32_t at;         /* place in the heap of timers */
    uint32_t before;     /* in the ready list */
    uint32_t after;      /* the same; of a free one: the next free */
    uint16_t tries;
    uint8_t state;  /* enum wio_pending_state */
    uint8_t reason; /* of its last refusal */
};

struct wio_admit_pending {
    struct wio_alloc alloc;
    struct wio_pending_request *items;
    uint32_t *timers; /* heap of items by timer_ns */
    size_t room;
    size_t timers_room;
    uint32_t used; /* items that were ever used */
    uint32_t count;
    uint32_t free;
    uint32_t first;
    uint32_t last;
    uint32_t ready;
};

void wio_pending_init(struct wio_admit_pending *pending, const struct wio_alloc *alloc);
void wio_pending_fini(struct wio_admit_pending *pending);

/* A new one with a timer, in no list yet: its state is the caller's to set. */
WIO_MUST_CHECK enum wio_status wio_pending_add(struct wio_admit_pending *pending, uint64_t timer_ns,
                                               uint32_t *item_out);
/* Out of its list and of the timers. */
void wio_pending_remove(struct wio_admit_pending *pending, uint32_t index);
void wio_pending_set_timer(struct wio_admit_pending *pending, uint32_t item, uint64_t timer_ns);
/* Into the ready list: at its begin (it was there before) or at its end. */
void wio_pending_make_ready(struct wio_admit_pending *pending, uint32_t index, bool is_first);
/* Out of the ready list. */
void wio_pending_unready(struct wio_admit_pending *pending, uint32_t index);

uint64_t wio_pending_number(const struct wio_admit_pending *pending, uint32_t item);
/* WIO_NO_INDEX where the number is of none. */
uint32_t wio_pending_find(const struct wio_admit_pending *pending, uint64_t number);

#endif
