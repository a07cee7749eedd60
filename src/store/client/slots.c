/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "store/client/coord_internal.h"

/* Slots that operations leave free. */
#define KEPT 16

/* The next number whose slot is free: a server remembers by the same slots. */
static struct coord_slot *free_slot(struct coord_target *target)
{
    struct coord_slot *slot;
    do {
        slot = &target->slots[++target->next % WIO_COORD_WINDOW];
    } while (slot->number != 0);
    slot->number = target->next;
    slot->is_again = false;
    target->used++;
    return slot;
}

enum wio_status coord_send(struct wio_coord_txn *txn, uint16_t index, enum coord_kind kind,
                           const struct wio_store_request *request, uint32_t tag)
{
    struct wio_coord *coord = txn->coord;
    struct coord_target *target = &coord->targets[index];
    bool is_op = kind == COORD_OP || kind == COORD_LAST;
    uint32_t limit = is_op ? WIO_COORD_WINDOW - KEPT : WIO_COORD_WINDOW;
    if (target->used >= limit) {
        return WIO_ERR_BUSY;
    }
    struct coord_slot *slot = free_slot(target);
    slot->txn = txn;
    slot->ask = NULL;
    slot->kind = kind;
    slot->tag = tag;
    slot->request = *request;
    slot->request.number = slot->number;
    slot->request.txn = txn->txn;
    coord->config.ops->send(coord->config.context, index, &slot->request);
    return WIO_OK;
}

enum wio_status coord_send_ask(struct wio_coord *coord, uint16_t index, struct wio_coord_ask *ask)
{
    struct coord_target *target = &coord->targets[index];
    if (target->used >= WIO_COORD_WINDOW - KEPT) {
        return WIO_ERR_BUSY;
    }
    struct coord_slot *slot = free_slot(target);
    slot->txn = NULL;
    slot->ask = ask;
    slot->kind = COORD_ASK;
    slot->tag = 0;
    slot->request = ask->request;
    slot->request.number = slot->number;
    slot->request.is_first = true;
    coord->config.ops->send(coord->config.context, index, &slot->request);
    return WIO_OK;
}

bool coord_may_ask_again(const struct coord_slot *slot)
{
    uint16_t op = slot->request.op;
    return slot->kind == COORD_ASK &&
           (op == WIO_STORE_STATFS || op == WIO_STORE_STAT || op == WIO_STORE_LIST ||
            op == WIO_STORE_READLINK || op == WIO_STORE_TARGETS || op == WIO_STORE_PING ||
            op == WIO_STORE_JOB_STATS || op == WIO_STORE_JOB_CLEAR);
}

bool coord_take(struct wio_coord *coord, uint16_t index, uint64_t number, bool has_lease,
                struct coord_slot *slot_out)
{
    if (index >= coord->config.targets || number == 0) {
        return false;
    }
    struct coord_target *target = &coord->targets[index];
    struct coord_slot *slot = &target->slots[number % WIO_COORD_WINDOW];
    if (slot->number != number || (!has_lease && coord_may_ask_again(slot))) {
        return false;
    }
    *slot_out = *slot;
    slot->number = 0;
    slot->txn = NULL;
    slot->ask = NULL;
    target->used--;
    return true;
}

void coord_has_begun(struct wio_coord_txn *txn, uint16_t index)
{
    struct coord_target *target = &txn->coord->targets[index];
    for (uint32_t k = 0; txn->ops > 0 && k < WIO_COORD_WINDOW; k++) {
        struct coord_slot *slot = &target->slots[k];
        if (slot->number != 0 && slot->txn == txn && slot->kind == COORD_OP) {
            slot->request.flags &= (uint16_t)~WIO_STORE_FLAG_BEGIN;
        }
    }
}

bool coord_is_held(const struct wio_coord *coord, uint16_t target, uint64_t number)
{
    const struct wio_coord_ops *ops = coord->config.ops;
    return ops->is_held != NULL && ops->is_held(coord->config.context, target, number);
}

bool coord_commits(const struct coord_slot *slot)
{
    return slot->kind == COORD_OP &&
           (slot->request.flags & (WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_COMMIT)) != 0;
}

bool coord_may_commit(const struct wio_coord_txn *txn)
{
    const struct wio_coord *coord = txn->coord;
    for (uint16_t i = 0; txn->ops > 0 && i < coord->config.targets; i++) {
        for (uint32_t k = 0; k < WIO_COORD_WINDOW; k++) {
            const struct coord_slot *slot = &coord->targets[i].slots[k];
            if (slot->number != 0 && slot->txn == txn && coord_commits(slot)) {
                return !coord_is_held(coord, i, slot->number);
            }
        }
    }
    return false;
}

void coord_forget_slots(struct wio_coord_txn *txn)
{
    struct wio_coord *coord = txn->coord;
    for (uint16_t i = 0; i < coord->config.targets; i++) {
        struct coord_target *target = &coord->targets[i];
        for (uint32_t k = 0; target->used > 0 && k < WIO_COORD_WINDOW; k++) {
            if (target->slots[k].number != 0 && target->slots[k].txn == txn) {
                target->slots[k].number = 0;
                target->slots[k].txn = NULL;
                target->used--;
            }
        }
    }
}

static int by_number(const struct coord_slot *a, const struct coord_slot *b)
{
    return (a->number > b->number) - (a->number < b->number);
}

/* In the order in which they were sent first. */
void coord_send_again(struct wio_coord *coord, uint16_t index)
{
    struct coord_target *target = &coord->targets[index];
    const struct coord_slot *last = NULL;
    for (uint32_t n = 0; n < target->used; n++) {
        struct coord_slot *next = NULL;
        for (uint32_t k = 0; k < WIO_COORD_WINDOW; k++) {
            struct coord_slot *slot = &target->slots[k];
            bool is_later = slot->number != 0 && (last == NULL || by_number(slot, last) > 0);
            if (is_later && (next == NULL || by_number(slot, next) < 0)) {
                next = slot;
            }
        }
        if (next == NULL) {
            return;
        }
        next->is_again |= !coord_is_held(coord, index, next->number);
        coord->config.ops->send(coord->config.context, index, &next->request);
        last = next;
    }
}

const struct wio_store_request *wio_coord_request(const struct wio_coord *coord, uint16_t index,
                                                  uint64_t number)
{
    const struct coord_slot *slot = &coord->targets[index].slots[number % WIO_COORD_WINDOW];
    return slot->number == number ? &slot->request : NULL;
}

/* The next operation of the transaction behind `number`; NULL: none. */
static const struct coord_slot *next_behind(const struct coord_target *target,
                                            const struct wio_coord_txn *txn, uint64_t number)
{
    const struct coord_slot *next = NULL;
    for (uint32_t k = 0; k < WIO_COORD_WINDOW; k++) {
        const struct coord_slot *slot = &target->slots[k];
        if (slot->txn == txn && slot->kind == COORD_OP && slot->number > number &&
            (next == NULL || slot->number < next->number)) {
            next = slot;
        }
    }
    return next;
}

void wio_coord_send_behind(struct wio_coord *coord, uint16_t index, uint64_t number)
{
    const struct coord_target *target = &coord->targets[index];
    const struct wio_coord_txn *txn = target->slots[number % WIO_COORD_WINDOW].txn;
    const struct coord_slot *slot = txn != NULL ? next_behind(target, txn, number) : NULL;
    while (slot != NULL) {
        uint64_t sent = slot->number;
        coord->config.ops->send(coord->config.context, index, &slot->request);
        slot = next_behind(target, txn, sent);
    }
}
