/* SPDX-License-Identifier: Apache-2.0 */
#include "store/client/coord.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "store/client/coord_internal.h"

#define PAUSE_NS UINT64_C(100000)
#define VOTE_NS UINT64_C(5000000000)

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

void wio_coord_destroy(struct wio_coord *coord)
{
    if (coord == NULL) {
        return;
    }
    struct wio_alloc alloc = coord->alloc;
    while (!TAILQ_EMPTY(&coord->txns)) {
        coord_free(TAILQ_FIRST(&coord->txns));
    }
    alloc.put(alloc.context, coord->targets);
    alloc.put(alloc.context, coord);
}

enum wio_status wio_coord_begin(struct wio_coord *coord, void *user, uint16_t flags,
                                uint64_t now_ns, struct wio_coord_txn **txn_out)
{
    coord_set_now(coord, now_ns);
    if (coord->stat.active == coord->config.txns_max) {
        return WIO_ERR_BUSY;
    }
    size_t targets = coord->config.targets;
    size_t bytes = sizeof(struct wio_coord_txn) +
                   targets * (sizeof(struct coord_part) + sizeof(uint16_t)); /* in one */
    struct wio_coord_txn *txn = wio_alloc_array(&coord->alloc, 1, bytes);
    if (txn == NULL) {
        return WIO_ERR_NOMEM;
    }
    txn->coord = coord;
    txn->list = (uint16_t *)(txn + 1);
    txn->parts = (struct coord_part *)(txn->list + targets);
    TAILQ_INSERT_TAIL(&coord->txns, txn, by_coord);
    coord->stat.active++;
    txn->user = user;
    txn->flags = flags;
    txn->txn = (struct wio_txn){coord->config.client, ++coord->numbers,
                                coord->now_ns + coord->config.birth_offset_ns, 0};
    coord->stat.begun++;
    *txn_out = txn;
    coord_run(txn);
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
    own.is_first = txn->list_count == 0;
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
    coord_set_now(coord, now_ns);
    if (txn->state != COORD_RUNNING || txn->ops > 0 || (txn->flags & WIO_STORE_FLAG_SINGLE) != 0) {
        return WIO_ERR_USAGE;
    }
    coord_commit(txn);
    return WIO_OK;
}

/* R-LAST-2: with its vote; the others are asked for theirs meanwhile. */
static enum wio_status finish_by_votes(struct wio_coord_txn *txn, uint16_t target,
                                       const struct wio_store_request *request, uint32_t tag)
{
    struct coord_part *part = &txn->parts[target];
    struct wio_store_request own = *request;
    if (!part->is_in) { /* before it is sent, which names it; where it is not, the next one is */
        txn->list[txn->list_count] = target;
    }
    own.flags |= WIO_STORE_FLAG_STABLE | WIO_STORE_FLAG_PREPARE | WIO_STORE_FLAG_REJECT;
    own.flags |= part->is_in ? 0 : WIO_STORE_FLAG_BEGIN;
    own.participants = txn->list;
    own.participant_count = txn->list_count + !part->is_in;
    WIO_TRY(coord_send(txn, target, COORD_LAST, &own, tag));
    txn->list_count = (uint16_t)own.participant_count;
    part->is_in = true;
    part->is_done = false;
    coord_ask_votes(txn, target);
    return WIO_OK;
}

enum wio_status wio_coord_finish(struct wio_coord_txn *txn, uint16_t target,
                                 const struct wio_store_request *request, uint32_t tag,
                                 bool may_commit, uint64_t now_ns)
{
    struct wio_store_request own = *request;
    coord_set_now(txn->coord, now_ns);
    if (txn->state != COORD_RUNNING || txn->ops > 0 || target >= txn->coord->config.targets ||
        (txn->flags & WIO_STORE_FLAG_SINGLE) != 0) {
        return WIO_ERR_USAGE;
    }
    bool is_alone = txn->list_count == (txn->parts[target].is_in ? 1 : 0);
    if (!is_alone && coord_is_stable(txn) && txn->txn.attempt == 1) {
        return finish_by_votes(txn, target, request, tag);
    }
    bool commits = is_alone && may_commit;
    if (commits) {
        own.flags |= WIO_STORE_FLAG_COMMIT | (txn->flags & WIO_STORE_FLAG_STABLE);
    }
    WIO_TRY(wio_coord_issue(txn, target, &own, tag));
    txn->is_finishing = !commits;
    return WIO_OK;
}

void wio_coord_give_up(struct wio_coord_txn *txn, uint64_t now_ns)
{
    coord_set_now(txn->coord, now_ns);
    if (txn->state == COORD_RUNNING) {
        coord_fail(txn, WIO_STORE_ABORTED);
    } else if (txn->state == COORD_ABORTING) {
        txn->has_failed = true;
        txn->result = WIO_STORE_ABORTED;
    } else if (txn->state == COORD_RESTING) {
        coord_end_and_free(txn, WIO_COORD_FAILED, WIO_STORE_ABORTED);
    }
}

enum wio_status wio_coord_ask(struct wio_coord *coord, uint16_t target, struct wio_coord_ask *ask)
{
    return target < coord->config.targets ? coord_send_ask(coord, target, ask) : WIO_ERR_USAGE;
}

void wio_coord_push(struct wio_coord *coord, uint16_t target, const struct wio_store_push *push,
                    uint64_t now_ns)
{
    struct wio_coord_txn *txn;
    coord_set_now(coord, now_ns);
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
    if (coord->config.ops->wounded != NULL) {
        coord->config.ops->wounded(coord->config.context, target, txn->user, &push->because);
    }
    coord_abort(txn, 0);
}

/* What the target had of them has ended, or it has not: an answer in its place. */
static void lose(struct wio_coord *coord, uint16_t target, uint64_t number)
{
    const struct coord_slot *slot = &coord->targets[target].slots[number % WIO_COORD_WINDOW];
    if (slot->number != number || coord_is_held(coord, target, number)) {
        return; /* it went with another one, or the target never had it */
    }
    bool is_unknown =
        (slot->kind == COORD_ASK && !coord_may_ask_again(slot)) ||
        (slot->kind == COORD_OP && (slot->txn->state != COORD_ABORTING || coord_commits(slot))) ||
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
    coord_set_now(coord, now_ns);
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
        const struct coord_part *part = &txn->parts[txn->list[i]];
        if (!part->has_voted && !part->is_tried) {
            coord_tell(txn, txn->list[i], COORD_TRY);
        }
    }
}

void wio_coord_tick(struct wio_coord *coord, uint64_t now_ns)
{
    struct wio_coord_txn *txn;
    struct wio_coord_txn *next;
    coord_set_now(coord, now_ns);
    for (txn = TAILQ_FIRST(&coord->txns); txn != NULL; txn = next) {
        next = TAILQ_NEXT(txn, by_coord);
        if (txn->state == COORD_RESTING && txn->resume_ns <= coord->now_ns) {
            coord_run(txn);
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
