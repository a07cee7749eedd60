/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/ticket.h"

#include <string.h>

#include "admit/mac.h"
#include "base/cleanup.h"
#include "base/memory.h"

#define WORD_BITS 64
#define WORDS (WIO_TICKET_WINDOW / WORD_BITS)

enum wio_status wio_tickets_init(struct wio_tickets *tickets, const struct wio_alloc *alloc,
                                 const uint8_t key[WIO_TICKET_KEY_BYTES], uint32_t incarnation,
                                 uint32_t shard)
{
    *tickets = (struct wio_tickets){
        .alloc = *alloc, .next = 1, .incarnation = incarnation, .shard = shard};
    memcpy(tickets->key, key, sizeof(tickets->key));
    tickets->pending = wio_alloc_array(alloc, WORDS, sizeof(*tickets->pending));
    return tickets->pending != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

void wio_tickets_fini(struct wio_tickets *tickets)
{
    if (tickets->pending != NULL) {
        tickets->alloc.put(tickets->alloc.context, tickets->pending);
        tickets->pending = NULL;
    }
}

static uint64_t *word_of(const struct wio_tickets *tickets, uint64_t id)
{
    return &tickets->pending[id / WORD_BITS % WORDS];
}

static uint64_t bit_of(uint64_t id)
{
    return (uint64_t)1 << (id % WORD_BITS);
}

uint64_t wio_tickets_take_id(struct wio_tickets *tickets)
{
    uint64_t id = tickets->next++;
    if (id % WORD_BITS == 0) {
        *word_of(tickets, id) = 0; /* the ids of the last round leave the window */
    }
    return id;
}

/* The window begins with a whole word: the word of the next id is of this round alone. */
static bool is_in_window(const struct wio_tickets *tickets, uint64_t id)
{
    uint64_t word = id / WORD_BITS;
    uint64_t last = (tickets->next - 1) / WORD_BITS;
    return id > 0 && id < tickets->next && last - word < WORDS;
}

static uint64_t mac_of(const struct wio_tickets *tickets, const struct wio_ticket *ticket,
                       const struct wio_ticket_owner *owner)
{
    const uint64_t covered[] = {
        ticket->sequence, (uint64_t)ticket->incarnation << 32 | tickets->shard,
        ticket->retries,  owner->address,
        owner->number,
    };
    return wio_mac64(tickets->key, covered, sizeof(covered));
}

bool wio_tickets_check(const struct wio_tickets *tickets, const struct wio_ticket *ticket,
                       const struct wio_ticket_owner *owner)
{
    return ticket->incarnation == tickets->incarnation && ticket->unused == 0 &&
           is_in_window(tickets, ticket->sequence) &&
           (*word_of(tickets, ticket->sequence) & bit_of(ticket->sequence)) != 0 &&
           mac_of(tickets, ticket, owner) == ticket->mac;
}

struct wio_ticket wio_tickets_issue(struct wio_tickets *tickets, uint64_t id, uint16_t retries,
                                    const struct wio_ticket_owner *owner)
{
    WIO_PRE(is_in_window(tickets, id));
    struct wio_ticket ticket = {.sequence = id,
                                .incarnation = tickets->incarnation,
                                .retries = (uint16_t)(retries + (retries < UINT16_MAX))};
    ticket.mac = mac_of(tickets, &ticket, owner);
    *word_of(tickets, id) |= bit_of(id);
    return ticket;
}

void wio_tickets_use(struct wio_tickets *tickets, uint64_t id)
{
    *word_of(tickets, id) &= ~bit_of(id);
}
