/* SPDX-License-Identifier: Apache-2.0 */
#include "store/client/coord.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "store/client/coord_internal.h"

#define PAUSE_NS UINT64_C(100000)
#define VOTE_NS UINT64_C(5000000000)
#define PAUSE_DOUBLINGS 7 /* 12.8 ms */

enum wio_status wio_coord_create(const struct wio_alloc *alloc,
                                 const struct wio_coord_config *config,
                                 struct wio_coord **coord_out)
{
    if (config->targets == 0 || config->targets > WIO_STORE_PARTICIPANTS_MAX ||
        config->txns_max == 0) {
        return WIO_ERR_USAGE;
    }
    struct wio_coord *coord = wio_alloc_array(alloc, 1, sizeof(*coord));
    if (coord == NULL) {
        return WIO_ERR_NOMEM;
    }
    coord->alloc = *alloc;
    coord->config = *config;
    coord->config.pause_ns = config->pause_ns > 0 ? config->pause_ns : PAUSE_NS;
    coord->config.vote_ns = config->vote_ns > 0 ? config->vote_ns : VOTE_NS;
    TAILQ_INIT(&coord->txns);
    coord->targets = wio_alloc_array(alloc, config->targets, sizeof(*coord->targets));
    if (coord->targets == NULL) {
        wio_coord_destroy(coord);
        return WIO_ERR_NOMEM;
    }
    *coord_out = coord;
    return WIO_OK;
}

static void free_txn(struct wio_coord_txn *txn)
{
    struct wio_coord *coord = txn->coord;
    for (uint16_t i = 0; txn->parts != NULL && i < coord->config.targets; i++) {
        coord->todo -= txn->parts[i].todo != COORD_NONE;
    }
    coord_forget_slots(txn);
    TAILQ_REMOVE(&coord->txns, txn, by_coord);
    coord->stat.active--;
    coord->alloc.put(coord->alloc.context, txn->parts);
    coord->alloc.put(coord->alloc.context, txn->list);
    coord->alloc.put(coord->alloc.context, txn);
}

void wio_coord_destroy(struct wio_coord *coord)
{
    if (coord == NULL) {
        return;
    }
    struct wio_alloc alloc = coord->alloc;
    while (!TAILQ_EMPTY(&coord->txns)) {
        free_txn(TAILQ_FIRST(&coord->txns));
    }
    alloc.put(alloc.context, coord->targets);
    alloc.put(alloc.context, coord);
}

static void set_now(struct wio_coord *coord, uint64_t now_ns)
{
    coord->now_ns = now_ns > coord->now_ns ? now_ns : coord->now_ns;
}

/* ---- what is sent beside operations ---- */

static bool is_stable(const struct wio_coord_txn *txn)
{
    return (txn->flags & WIO_STORE_FLAG_STABLE) != 0;
}

static struct wio_store_request request_of(const struct wio_coord_txn *txn, enum coord_kind kind)
{
    static const uint16_t ops[] = {
        [COORD_COMMIT] = WIO_STORE_COMMIT, [COORD_PREPARE] = WIO_STORE_PREPARE,
        [COORD_TRY] = WIO_STORE_ABORT,     [COORD_ABORT] = WIO_STORE_ABORT,
        [COORD_FORGET] = WIO_STORE_FORGET,
    };
    struct wio_store_request request = {.op = ops[kind]};
    if (kind == COORD_PREPARE) {
        request.flags = WIO_STORE_FLAG_STABLE | WIO_STORE_FLAG_PREPARE;
        request.participants = txn->list;
        request.participant_count = txn->list_count;
    } else if (kind == COORD_TRY) {
        request.flags = WIO_STORE_FLAG_TRY;
    } else if (kind == COORD_COMMIT && is_stable(txn)) {
        request.flags = WIO_STORE_FLAG_STABLE;
    }
    return request;
}

static void tell(struct wio_coord_txn *txn, uint16_t target, enum coord_kind kind)
{
    struct coord_part *part = &txn->parts[target];
    struct wio_store_request request = request_of(txn, kind);
    bool was_todo = part->todo != COORD_NONE;
    part->is_done = false;
    part->todo = coord_send(txn, target, kind, &request, 0) == WIO_OK ? COORD_NONE : (uint8_t)kind;
    txn->coord->todo = txn->coord->todo - was_todo + (part->todo != COORD_NONE);
}

static void tell_all(struct wio_coord_txn *txn, enum coord_kind kind)
{
    for (uint16_t i = 0; i < txn->list_count; i++) {
        tell(txn, txn->list[i], kind);
    }
}

/* A slot is free: what had to wait for one. */
static void pump(struct wio_coord *coord, uint16_t target)
{
    struct wio_coord_txn *txn;
    if (coord->todo == 0) {
        return;
    }
    TAILQ_FOREACH(txn, &coord->txns, by_coord)
    {
        if (txn->parts[target].todo != COORD_NONE) {
            tell(txn, target, (enum coord_kind)txn->parts[target].todo);
        }
    }
}

static bool all_done(const struct wio_coord_txn *txn)
{
    for (uint16_t i = 0; i < txn->list_count; i++) {
        if (!txn->parts[txn->list[i]].is_done) {
            return false;
        }
    }
    return true;
}

/* ---- attempts ---- */

static void run(struct wio_coord_txn *txn)
{
    struct wio_coord *coord = txn->coord;
    memset(txn->parts, 0, coord->config.targets * sizeof(*txn->parts));
    txn->list_count = 0;
    txn->ops = 0;
    txn->issued = 0;
    txn->commits = 0;
    txn->refusals = 0;
    txn->was_done = false;
    txn->txn.attempt++;
    txn->state = COORD_RUNNING;
    coord->stat.attempts += txn->txn.attempt > 1;
    coord->config.ops->run(coord->config.context, txn, txn->user);
}

static void end(struct wio_coord_txn *txn, enum wio_coord_end how, enum wio_store_result result)
{
    struct wio_coord *coord = txn->coord;
    coord->stat.committed += how == WIO_COORD_COMMITTED;
    coord->stat.failed += how == WIO_COORD_FAILED;
    coord->config.ops->ended(coord->config.context, txn, txn->user, how, result);
}

static void end_and_free(struct wio_coord_txn *txn, enum wio_coord_end how,
                         enum wio_store_result result)
{
    end(txn, how, result);
    free_txn(txn);
}

/* Everything is undone: the next attempt, or the end. */
static void aborted(struct wio_coord_txn *txn)
{
    if (txn->was_done) {
        end_and_free(txn, WIO_COORD_COMMITTED, WIO_STORE_OK);
    } else if (txn->has_failed) {
        end_and_free(txn, WIO_COORD_FAILED, txn->result);
    } else {
        coord_forget_slots(txn); /* answers of this attempt that are still to come */
        txn->state = COORD_RESTING;
        if (txn->resume_ns <= txn->coord->now_ns) {
            run(txn);
        }
    }
}

/* Grows with the attempts, and differs between transactions, so that two do not meet for ever. */
static uint64_t pause_of(const struct wio_coord_txn *txn)
{
    uint32_t doublings =
        txn->txn.attempt - 1 < PAUSE_DOUBLINGS ? txn->txn.attempt - 1 : PAUSE_DOUBLINGS;
    uint64_t pause = txn->coord->config.pause_ns << doublings;
    uint64_t mixed = (txn->txn.client + txn->txn.number * 31 + txn->txn.attempt * 131) *
                     UINT64_C(0x9e3779b97f4a7c15);
    return pause / 2 + (mixed >> 33) % (pause / 2 + 1);
}

static void abort_attempt(struct wio_coord_txn *txn, uint64_t pause_ns)
{
    txn->state = COORD_ABORTING;
    txn->resume_ns = txn->coord->now_ns + pause_ns;
    tell_all(txn, COORD_ABORT);
    if (txn->list_count == 0) {
        aborted(txn);
    }
}

static void fail(struct wio_coord_txn *txn, enum wio_store_result result)
{
    txn->has_failed = true;
    txn->result = result;
    abort_attempt(txn, 0);
}

/* Another attempt may go well. */
static bool is_passing(uint16_t result)
{
    return result == WIO_STORE_REFUSED || result == WIO_STORE_ABORTED || result == WIO_STORE_BUSY ||
           result == WIO_STORE_NO;
}

enum wio_status wio_coord_begin(struct wio_coord *coord, void *user, uint16_t flags,
                                uint64_t now_ns, struct wio_coord_txn **txn_out)
{
    set_now(coord, now_ns);
    if (coord->stat.active == coord->config.txns_max) {
        return WIO_ERR_BUSY;
    }
    struct wio_coord_txn *txn = wio_alloc_array(&coord->alloc, 1, sizeof(*txn));
    if (txn == NULL) {
        return WIO_ERR_NOMEM;
    }
    txn->coord = coord;
    TAILQ_INSERT_TAIL(&coord->txns, txn, by_coord);
    coord->stat.active++;
    txn->list = wio_alloc_array(&coord->alloc, coord->config.targets, sizeof(*txn->list));
    txn->parts = wio_alloc_array(&coord->alloc, coord->config.targets, sizeof(*txn->parts));
    if (txn->list == NULL || txn->parts == NULL) {
        free_txn(txn);
        return WIO_ERR_NOMEM;
    }
    txn->user = user;
    txn->flags = flags;
    txn->txn = (struct wio_txn){coord->config.client, ++coord->numbers, coord->now_ns, 0};
    coord->stat.begun++;
    *txn_out = txn;
    run(txn);
    return WIO_OK;
}

enum wio_status wio_coord_issue(struct wio_coord_txn *txn, uint16_t target,
                                const struct wio_store_request *request, uint32_t tag)
{
    bool is_single = (txn->flags & WIO_STORE_FLAG_SINGLE) != 0;
    if (txn->state != COORD_RUNNING || target >= txn->coord->config.targets ||
        (is_single && txn->issued > 0)) {
        return WIO_ERR_USAGE;
    }
    struct coord_part *part = &txn->parts[target];
    struct wio_store_request own = *request;
    own.flags |= part->is_in ? 0 : WIO_STORE_FLAG_BEGIN;
    own.flags |= is_single ? txn->flags : 0;
    WIO_TRY(coord_send(txn, target, COORD_OP, &own, tag));
    if (!part->is_in) {
        part->is_in = true;
        txn->list[txn->list_count++] = target;
    }
    txn->ops++;
    txn->issued++;
    return WIO_OK;
}

enum wio_status wio_coord_commit(struct wio_coord_txn *txn, uint64_t now_ns)
{
    struct wio_coord *coord = txn->coord;
    set_now(coord, now_ns);
    if (txn->state != COORD_RUNNING || txn->ops > 0 || (txn->flags & WIO_STORE_FLAG_SINGLE) != 0) {
        return WIO_ERR_USAGE;
    }
    if (txn->list_count == 0) {
        end_and_free(txn, WIO_COORD_COMMITTED, WIO_STORE_OK);
    } else if (is_stable(txn) && txn->list_count > 1) {
        txn->state = COORD_PREPARING;
        txn->vote_until_ns = coord->now_ns + coord->config.vote_ns;
        tell_all(txn, COORD_PREPARE);
    } else {
        txn->state = COORD_COMMITTING;
        tell_all(txn, COORD_COMMIT);
    }
    return WIO_OK;
}

void wio_coord_give_up(struct wio_coord_txn *txn, uint64_t now_ns)
{
    set_now(txn->coord, now_ns);
    if (txn->state == COORD_RUNNING) {
        fail(txn, WIO_STORE_ABORTED);
    } else if (txn->state == COORD_ABORTING) {
        txn->has_failed = true;
        txn->result = WIO_STORE_ABORTED;
    } else if (txn->state == COORD_RESTING) {
        end_and_free(txn, WIO_COORD_FAILED, WIO_STORE_ABORTED);
    }
}

/* ---- answers ---- */

static void op_answered(struct wio_coord_txn *txn, uint16_t target, const struct coord_slot *slot,
                        const struct wio_store_reply *reply)
{
    struct wio_coord *coord = txn->coord;
    bool is_single = (txn->flags & WIO_STORE_FLAG_SINGLE) != 0;
    txn->ops--;
    coord_has_begun(txn, target);
    if (txn->state != COORD_RUNNING) {
        /* a wound was on its way when this was done: single operations have committed */
        txn->was_done |= is_single && reply->result == WIO_STORE_OK;
        return;
    }
    bool is_lost = reply->result == WIO_STORE_NO_LEASE && !is_single;
    if (reply->result != WIO_STORE_OK && is_single) {
        txn->list_count = 0; /* it has ended there */
    }
    if (is_lost || is_passing(reply->result)) {
        uint64_t pause_ns = pause_of(txn);
        abort_attempt(txn, reply->retry_ns > pause_ns ? reply->retry_ns : pause_ns);
    } else if (reply->result != WIO_STORE_OK) {
        fail(txn, (enum wio_store_result)reply->result);
    } else if (is_single) {
        coord->config.ops->part(coord->config.context, txn, txn->user, slot->tag, reply);
        end_and_free(txn, WIO_COORD_COMMITTED, WIO_STORE_OK);
    } else {
        coord->config.ops->part(coord->config.context, txn, txn->user, slot->tag, reply);
    }
}

/* All have answered COMMIT, which was not voted on. */
static void committed(struct wio_coord_txn *txn)
{
    if (txn->commits == txn->list_count) {
        end_and_free(txn, WIO_COORD_COMMITTED, WIO_STORE_OK);
    } else if (txn->commits > 0 || txn->has_failed) {
        /* some have, some have not: volatile promises no more than to say so */
        txn->coord->stat.torn += txn->commits > 0;
        end_and_free(txn, WIO_COORD_FAILED, txn->has_failed ? txn->result : WIO_STORE_ABORTED);
    } else {
        abort_attempt(txn, pause_of(txn));
    }
}

static void commit_answered(struct wio_coord_txn *txn, const struct wio_store_reply *reply)
{
    bool is_taken = reply->result == WIO_STORE_OK;
    txn->commits += is_taken;
    if (!is_taken && !is_passing(reply->result)) {
        txn->has_failed = true;
        txn->result = (enum wio_store_result)reply->result;
    }
    if (!all_done(txn)) {
        return;
    }
    if (txn->state == COORD_COMMITTING) {
        committed(txn);
    } else if (txn->commits == txn->list_count) {
        txn->state = COORD_FORGETTING;
        tell_all(txn, COORD_FORGET);
    } else {
        free_txn(txn); /* one did not hear: the others have to be there to be asked */
    }
}

static void decide_commit(struct wio_coord_txn *txn)
{
    end(txn, WIO_COORD_COMMITTED, WIO_STORE_OK);
    txn->state = COORD_DECIDED;
    tell_all(txn, COORD_COMMIT);
}

static bool all_voted(const struct wio_coord_txn *txn)
{
    for (uint16_t i = 0; i < txn->list_count; i++) {
        if (!txn->parts[txn->list[i]].has_voted) {
            return false;
        }
    }
    return true;
}

/* To PREPARE, or to a TRY after it. */
static void vote_answered(struct wio_coord_txn *txn, struct coord_part *part,
                          const struct wio_store_reply *reply)
{
    bool is_unknown = reply->result == WIO_STORE_BUSY || reply->result == WIO_STORE_IO ||
                      reply->result == WIO_STORE_NO_LEASE;
    bool is_ok = reply->result == WIO_STORE_OK;
    if (txn->state != COORD_PREPARING || is_unknown) {
        return; /* asked again by tick */
    }
    if (reply->outcome == WIO_STORE_OUTCOME_COMMITTED) {
        decide_commit(txn);
        return;
    }
    part->has_voted |= is_ok && reply->outcome == WIO_STORE_OUTCOME_PREPARED;
    if (!part->has_voted) {
        abort_attempt(txn, pause_of(txn));
    } else if (all_voted(txn)) {
        decide_commit(txn);
    }
}

static void answered(struct wio_coord_txn *txn, uint16_t target, const struct coord_slot *slot,
                     const struct wio_store_reply *reply)
{
    struct coord_part *part = &txn->parts[target];
    switch (slot->kind) {
    case COORD_OP:
        op_answered(txn, target, slot, reply);
        break;
    case COORD_COMMIT:
        part->is_done = true;
        commit_answered(txn, reply);
        break;
    case COORD_PREPARE:
    case COORD_TRY:
        vote_answered(txn, part, reply);
        break;
    case COORD_ABORT:
        part->is_done = true;
        if (txn->state == COORD_ABORTING && all_done(txn)) {
            aborted(txn);
        }
        break;
    case COORD_FORGET:
        part->is_done = true;
        if (all_done(txn)) {
            free_txn(txn);
        }
        break;
    case COORD_NONE:
        break;
    }
}

void wio_coord_reply(struct wio_coord *coord, uint16_t target, const struct wio_store_reply *reply,
                     uint64_t now_ns)
{
    struct coord_slot slot;
    set_now(coord, now_ns);
    if (coord_take(coord, target, reply->number, &slot)) {
        pump(coord, target);
        answered(slot.txn, target, &slot, reply);
    }
}

void wio_coord_push(struct wio_coord *coord, uint16_t target, const struct wio_store_push *push,
                    uint64_t now_ns)
{
    struct wio_coord_txn *txn;
    set_now(coord, now_ns);
    (void)target;
    TAILQ_FOREACH(txn, &coord->txns, by_coord)
    {
        if (txn->txn.number == push->txn.number) {
            break;
        }
    }
    if (txn == NULL || txn->txn.attempt != push->txn.attempt || txn->state != COORD_RUNNING) {
        coord->stat.late++;
        return;
    }
    coord->stat.wounds++;
    abort_attempt(txn, 0);
}

/* What the target had of them has ended, or it has not: an answer in its place. */
static void lose(struct wio_coord *coord, uint16_t target, uint64_t number)
{
    const struct coord_slot *slot = &coord->targets[target].slots[number % WIO_COORD_WINDOW];
    if (slot->number != number) {
        return; /* it went with another one */
    }
    bool is_unknown = (slot->kind == COORD_OP && slot->txn->state != COORD_ABORTING) ||
                      (slot->kind == COORD_COMMIT && slot->txn->state == COORD_COMMITTING);
    if (is_unknown) {
        struct wio_store_reply reply = {.op = slot->request.op,
                                        .result = WIO_STORE_NO_LEASE,
                                        .number = number,
                                        .txn = slot->request.txn};
        wio_coord_reply(coord, target, &reply, coord->now_ns);
    }
}

void wio_coord_back(struct wio_coord *coord, uint16_t target, bool is_new, uint64_t now_ns)
{
    uint64_t numbers[WIO_COORD_WINDOW];
    set_now(coord, now_ns);
    if (target >= coord->config.targets) {
        return;
    }
    for (uint32_t i = 0; i < WIO_COORD_WINDOW; i++) {
        numbers[i] = coord->targets[target].slots[i].number;
    }
    for (uint32_t i = 0; is_new && i < WIO_COORD_WINDOW; i++) {
        if (numbers[i] != 0) {
            lose(coord, target, numbers[i]);
        }
    }
    coord_send_again(coord, target);
}

/* ---- time ---- */

static void ask_for_votes(struct wio_coord_txn *txn)
{
    txn->vote_until_ns = txn->coord->now_ns + txn->coord->config.vote_ns;
    for (uint16_t i = 0; i < txn->list_count; i++) {
        if (!txn->parts[txn->list[i]].has_voted) {
            tell(txn, txn->list[i], COORD_TRY);
        }
    }
}

void wio_coord_tick(struct wio_coord *coord, uint64_t now_ns)
{
    struct wio_coord_txn *txn;
    struct wio_coord_txn *next;
    set_now(coord, now_ns);
    for (txn = TAILQ_FIRST(&coord->txns); txn != NULL; txn = next) {
        next = TAILQ_NEXT(txn, by_coord);
        if (txn->state == COORD_RESTING && txn->resume_ns <= coord->now_ns) {
            run(txn);
        } else if (txn->state == COORD_PREPARING && txn->vote_until_ns <= coord->now_ns) {
            ask_for_votes(txn);
        }
    }
}

uint64_t wio_coord_deadline_ns(const struct wio_coord *coord)
{
    uint64_t first = UINT64_MAX;
    const struct wio_coord_txn *txn;
    TAILQ_FOREACH(txn, &coord->txns, by_coord)
    {
        uint64_t at = UINT64_MAX;
        if (txn->state == COORD_RESTING) {
            at = txn->resume_ns;
        } else if (txn->state == COORD_PREPARING) {
            at = txn->vote_until_ns;
        }
        first = at < first ? at : first;
    }
    return first;
}

const struct wio_txn *wio_coord_name(const struct wio_coord_txn *txn)
{
    return &txn->txn;
}

struct wio_coord_stat wio_coord_stat(const struct wio_coord *coord)
{
    return coord->stat;
}
