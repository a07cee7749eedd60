/* SPDX-License-Identifier: Apache-2.0 */
/* What targets answer, and what is decided by it. */
#include "admit/counts.h"
#include "base/cleanup.h"
#include "store/client/coord_internal.h"

/* Another attempt may go well. */
static bool is_passing(uint16_t result)
{
    return result == WIO_STORE_REFUSED || result == WIO_STORE_ABORTED || result == WIO_STORE_BUSY ||
           result == WIO_STORE_NO;
}

/* The last operation was answered, and its owner has not given up. */
static void finish(struct wio_coord_txn *txn)
{
    if (txn->state == COORD_RUNNING) {
        coord_commit(txn);
    }
}

/* A wound was on its way when this was done, and has committed; or nothing is known of that. */
static void late_op_answered(struct wio_coord_txn *txn, const struct coord_slot *slot,
                             const struct wio_store_reply *reply)
{
    const struct wio_coord_config *config = &txn->coord->config;
    bool commits = coord_commits(slot);
    if (commits && reply->result == WIO_STORE_OK) {
        txn->was_done = true;
        config->ops->part(config->context, txn, txn->user, slot->tag, reply);
    } else if (commits && reply->result == WIO_STORE_NO_LEASE) {
        txn->has_failed = true;
        txn->result = WIO_STORE_NO_LEASE;
    }
    if (commits && txn->state == COORD_ABORTING && coord_all_done(txn)) {
        coord_aborted(txn);
    }
}

static void op_answered(struct wio_coord_txn *txn, uint16_t target, const struct coord_slot *slot,
                        const struct wio_store_reply *reply)
{
    struct wio_coord *coord = txn->coord;
    bool is_single = (txn->flags & WIO_STORE_FLAG_SINGLE) != 0;
    bool commits = coord_commits(slot);
    txn->ops--;
    coord_has_begun(txn, target);
    if (txn->state != COORD_RUNNING) {
        late_op_answered(txn, slot, reply);
        return;
    }
    bool is_lost = reply->result == WIO_STORE_NO_LEASE && !commits;
    if (reply->result != WIO_STORE_OK && coord->config.ops->refused != NULL) {
        coord->config.ops->refused(coord->config.context, target, txn->user, reply);
    }
    if (reply->result != WIO_STORE_OK && is_single) {
        txn->list_count = 0; /* it has ended there */
    }
    if (is_lost || is_passing(reply->result)) {
        uint64_t pause_ns = coord_pause_ns(txn);
        coord_abort(txn, reply->retry_ns > pause_ns ? reply->retry_ns : pause_ns);
    } else if (reply->result != WIO_STORE_OK) {
        coord_fail(txn, (enum wio_store_result)reply->result);
    } else if (commits) {
        coord->config.ops->part(coord->config.context, txn, txn->user, slot->tag, reply);
        coord_end_and_free(txn, WIO_COORD_COMMITTED, WIO_STORE_OK);
    } else if (txn->is_finishing) {
        coord->config.ops->part(coord->config.context, txn, txn->user, slot->tag, reply);
        finish(txn);
    } else {
        coord->config.ops->part(coord->config.context, txn, txn->user, slot->tag, reply);
    }
}

/* All have answered COMMIT, which was not voted on. */
static void committed(struct wio_coord_txn *txn)
{
    if (txn->commits == txn->list_count) {
        coord_end_and_free(txn, WIO_COORD_COMMITTED, WIO_STORE_OK);
    } else if (txn->commits > 0 || txn->has_failed) {
        /* some have, some have not: volatile promises no more than to say so */
        txn->coord->stat.torn += txn->commits > 0;
        coord_end_and_free(txn, WIO_COORD_FAILED,
                           txn->has_failed ? txn->result : WIO_STORE_ABORTED);
    } else {
        coord_abort(txn, coord_pause_ns(txn));
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
    if (!coord_all_done(txn)) {
        return;
    }
    if (txn->state == COORD_COMMITTING) {
        committed(txn);
    } else if (txn->commits == txn->list_count) {
        txn->state = COORD_FORGETTING;
        coord_tell_all(txn, COORD_FORGET);
    } else {
        coord_free(txn); /* one did not hear: the others have to be there to be asked */
    }
}

static void decide_commit(struct wio_coord_txn *txn)
{
    coord_end(txn, WIO_COORD_COMMITTED, WIO_STORE_OK);
    txn->state = COORD_DECIDED;
    coord_tell_all(txn, COORD_COMMIT);
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
        coord_abort(txn, coord_pause_ns(txn));
    } else if (all_voted(txn)) {
        decide_commit(txn);
    }
}

/* The last operation with the vote. One that was not performed has no vote, and will have none: it
 * is sent to no other attempt, and the next attempt begins at the target with another one. */
static void last_answered(struct wio_coord_txn *txn, uint16_t target, const struct coord_slot *slot,
                          const struct wio_store_reply *reply)
{
    struct wio_coord *coord = txn->coord;
    bool is_known = reply->outcome == WIO_STORE_OUTCOME_COMMITTED ||
                    reply->result == WIO_STORE_IO || reply->result == WIO_STORE_NO_LEASE;
    if (txn->state != COORD_PREPARING) {
        return;
    }
    if (reply->result == WIO_STORE_OK) {
        coord->config.ops->part(coord->config.context, txn, txn->user, slot->tag, reply);
    } else if (coord->config.ops->refused != NULL) {
        coord->config.ops->refused(coord->config.context, target, txn->user, reply);
    }
    if (reply->result == WIO_STORE_OK || is_known) {
        vote_answered(txn, &txn->parts[target], reply);
    } else if (reply->result == WIO_STORE_BUSY) {
        coord_tell(txn, target, COORD_TRY);
    } else if (is_passing(reply->result)) {
        uint64_t pause_ns = coord_pause_ns(txn);
        coord_abort(txn, reply->retry_ns > pause_ns ? reply->retry_ns : pause_ns);
    } else {
        coord_fail(txn, (enum wio_store_result)reply->result);
    }
}

/* Refused by admission, before the target looked up what it has answered: another copy, which was
 * sent before, may have been committed, and another attempt would do it twice. Targets that know no
 * admission do not say which of the two was busy. */
static bool is_refused_copy(const struct coord_slot *slot, const struct wio_store_reply *reply)
{
    const bool was_looked_up = reply->has_told && reply->told.reason == WIO_ADMIT_REASON_NONE;
    return reply->result == WIO_STORE_BUSY && !was_looked_up && slot->is_again &&
           (coord_commits(slot) || slot->kind == COORD_COMMIT);
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
    case COORD_LAST:
        last_answered(txn, target, slot, reply);
        break;
    case COORD_TRY:
        part->is_tried = false;
        vote_answered(txn, part, reply);
        break;
    case COORD_PREPARE:
        vote_answered(txn, part, reply);
        break;
    case COORD_ABORT:
        part->is_done = true;
        if (txn->state == COORD_ABORTING && coord_all_done(txn)) {
            coord_aborted(txn);
        }
        break;
    case COORD_FORGET:
        part->is_done = true;
        if (coord_all_done(txn)) {
            coord_free(txn);
        }
        break;
    case COORD_NONE:
    case COORD_ASK:
        break;
    }
}

void wio_coord_reply(struct wio_coord *coord, uint16_t target, const struct wio_store_reply *reply,
                     uint64_t now_ns)
{
    struct coord_slot slot;
    coord_set_now(coord, now_ns);
    if (coord_take(coord, target, reply->number, reply->result != WIO_STORE_NO_LEASE, &slot)) {
        coord_pump(coord, target);
        if (slot.ask != NULL) {
            slot.ask->answered(slot.ask, reply);
            return;
        }
        if (is_refused_copy(&slot, reply)) {
            struct wio_store_reply unknown = *reply;
            unknown.result = WIO_STORE_NO_LEASE;
            answered(slot.txn, target, &slot, &unknown);
            return;
        }
        answered(slot.txn, target, &slot, reply);
    }
}
