/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts: how they begin, how they are undone everywhere, and what targets are told. */
#include <string.h>

#include "base/cleanup.h"
#include "store/client/coord_internal.h"
#include "store/client/pause.h"

void coord_free(struct wio_coord_txn *txn)
{
    struct wio_coord *coord = txn->coord;
    for (uint16_t i = 0; i < coord->config.targets; i++) {
        coord->todo -= txn->parts[i].todo != COORD_NONE;
    }
    coord_forget_slots(txn);
    TAILQ_REMOVE(&coord->txns, txn, by_coord);
    coord->stat.active--;
    coord->alloc.put(coord->alloc.context, txn);
}

void coord_set_now(struct wio_coord *coord, uint64_t now_ns)
{
    coord->now_ns = now_ns > coord->now_ns ? now_ns : coord->now_ns;
}

bool coord_is_stable(const struct wio_coord_txn *txn)
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
    } else if (kind == COORD_COMMIT && coord_is_stable(txn)) {
        request.flags = WIO_STORE_FLAG_STABLE;
    }
    return request;
}

void coord_tell(struct wio_coord_txn *txn, uint16_t target, enum coord_kind kind)
{
    struct coord_part *part = &txn->parts[target];
    struct wio_store_request request = request_of(txn, kind);
    bool was_todo = part->todo != COORD_NONE;
    part->is_done = false;
    part->is_tried |= kind == COORD_TRY;
    part->todo = coord_send(txn, target, kind, &request, 0) == WIO_OK ? COORD_NONE : (uint8_t)kind;
    txn->coord->todo = txn->coord->todo - was_todo + (part->todo != COORD_NONE);
}

void coord_tell_all(struct wio_coord_txn *txn, enum coord_kind kind)
{
    for (uint16_t i = 0; i < txn->list_count; i++) {
        coord_tell(txn, txn->list[i], kind);
    }
}

/* A slot is free: what had to wait for one. */
void coord_pump(struct wio_coord *coord, uint16_t target)
{
    struct wio_coord_txn *txn;
    if (coord->todo == 0) {
        return;
    }
    TAILQ_FOREACH(txn, &coord->txns, by_coord)
    {
        if (txn->parts[target].todo != COORD_NONE) {
            coord_tell(txn, target, (enum coord_kind)txn->parts[target].todo);
        }
    }
}

bool coord_all_done(const struct wio_coord_txn *txn)
{
    for (uint16_t i = 0; i < txn->list_count; i++) {
        if (!txn->parts[txn->list[i]].is_done) {
            return false;
        }
    }
    return true;
}

void coord_ask_votes(struct wio_coord_txn *txn, uint32_t but)
{
    txn->state = COORD_PREPARING;
    txn->vote_until_ns = txn->coord->now_ns + txn->coord->config.vote_ns;
    for (uint16_t i = 0; i < txn->list_count; i++) {
        if (txn->list[i] != but) {
            coord_tell(txn, txn->list[i], COORD_PREPARE);
        }
    }
}

void coord_commit(struct wio_coord_txn *txn)
{
    if (txn->list_count == 0) {
        coord_end_and_free(txn, WIO_COORD_COMMITTED, WIO_STORE_OK);
    } else if (coord_is_stable(txn) && txn->list_count > 1) {
        coord_ask_votes(txn, UINT32_MAX);
    } else {
        txn->state = COORD_COMMITTING;
        coord_tell_all(txn, COORD_COMMIT);
    }
}

void coord_run(struct wio_coord_txn *txn)
{
    struct wio_coord *coord = txn->coord;
    memset(txn->parts, 0, coord->config.targets * sizeof(*txn->parts));
    txn->list_count = 0;
    txn->ops = 0;
    txn->issued = 0;
    txn->commits = 0;
    txn->refusals = 0;
    txn->was_done = false;
    txn->is_finishing = false;
    txn->txn.attempt++;
    txn->state = COORD_RUNNING;
    coord->stat.attempts += txn->txn.attempt > 1;
    coord->config.ops->run(coord->config.context, txn, txn->user);
}

void coord_end(struct wio_coord_txn *txn, enum wio_coord_end how, enum wio_store_result result)
{
    struct wio_coord *coord = txn->coord;
    coord->stat.committed += how == WIO_COORD_COMMITTED;
    coord->stat.failed += how == WIO_COORD_FAILED;
    coord->config.ops->ended(coord->config.context, txn, txn->user, how, result);
}

void coord_end_and_free(struct wio_coord_txn *txn, enum wio_coord_end how,
                        enum wio_store_result result)
{
    coord_end(txn, how, result);
    coord_free(txn);
}

/* Everything is undone: the next attempt, or the end. */
void coord_aborted(struct wio_coord_txn *txn)
{
    if (coord_may_commit(txn)) {
        return; /* the answer to that says whether it has */
    }
    if (txn->was_done) {
        coord_end_and_free(txn, WIO_COORD_COMMITTED, WIO_STORE_OK);
    } else if (txn->has_failed) {
        coord_end_and_free(txn, WIO_COORD_FAILED, txn->result);
    } else {
        coord_forget_slots(txn); /* answers of this attempt that are still to come */
        txn->state = COORD_RESTING;
        if (txn->resume_ns <= txn->coord->now_ns) {
            coord_run(txn);
        }
    }
}

uint64_t coord_pause_ns(const struct wio_coord_txn *txn)
{
    return wio_store_pause_ns(txn->txn.client, txn->txn.number, txn->txn.attempt,
                              txn->coord->config.pause_ns);
}

void coord_abort(struct wio_coord_txn *txn, uint64_t pause_ns)
{
    txn->state = COORD_ABORTING;
    txn->resume_ns = txn->coord->now_ns + pause_ns;
    coord_tell_all(txn, COORD_ABORT);
    if (txn->list_count == 0) {
        coord_aborted(txn);
    }
}

void coord_fail(struct wio_coord_txn *txn, enum wio_store_result result)
{
    txn->has_failed = true;
    txn->result = result;
    coord_abort(txn, 0);
}
