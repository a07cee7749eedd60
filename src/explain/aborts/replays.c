/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/replays.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

#define NONE UINT32_MAX
#define SERVERS_MAX 256u /* as many as a store has */

void wio_replays_fini(struct wio_replays *replays)
{
    free(replays->requests);
    free(replays->txns);
    free(replays->first_of_clients);
    wio_map_fini(&replays->index);
    wio_map_fini(&replays->clients);
}

static uint32_t ns32(uint64_t ns)
{
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* Names that share a key are one transaction in two attempts, or a collision: the later one is left
 * out. */
static uint64_t key_of(const struct wio_txn_name *name)
{
    return (name->client * UINT64_C(0x9e3779b97f4a7c15)) ^ name->number;
}

static struct wio_replay_txn *find(const struct wio_replays *replays,
                                   const struct wio_txn_name *name)
{
    const uint64_t *known = wio_map_get(&replays->index, key_of(name));
    if (known == NULL) {
        return NULL;
    }
    struct wio_replay_txn *txn = &replays->txns[*known];
    return txn->client == name->client && txn->number == name->number ? txn : NULL;
}

static bool is_full(const struct wio_replays *replays)
{
    return replays->request_count >= WIO_REPLAY_REQUESTS_MAX ||
           replays->txn_count >= WIO_REPLAY_REQUESTS_MAX;
}

static enum wio_status add_txn(struct wio_replays *replays, const struct wio_txn_row *row,
                               uint64_t begin_ns, struct wio_replay_txn **txn_out)
{
    void *array = replays->txns;
    WIO_TRY(
        wio_grow(&array, sizeof(*replays->txns), &replays->txn_capacity, replays->txn_count + 1));
    replays->txns = array;
    WIO_TRY(wio_map_put(&replays->index, key_of(&row->txn), replays->txn_count));
    *txn_out = &replays->txns[replays->txn_count++];
    replays->open++;
    **txn_out = (struct wio_replay_txn){.client = row->txn.client,
                                        .number = row->txn.number,
                                        .begin_ns = begin_ns,
                                        .answered_ns = begin_ns,
                                        .first = NONE,
                                        .last = NONE,
                                        .attempt = row->txn.attempt,
                                        .next_of_client = NONE};
    return WIO_OK;
}

/* The attempt before counts no more: its requests are made again. */
static void begin_again(struct wio_replays *replays, struct wio_replay_txn *txn,
                        const struct wio_txn_row *row, uint64_t begin_ns)
{
    if (txn->aborted_ns != 0 && begin_ns > txn->aborted_ns &&
        row->txn.attempt == txn->attempt + 1) {
        uint64_t pause_ns = wio_replay_pause_ns(txn->attempt);
        uint64_t gap_ns = begin_ns - txn->aborted_ns;
        replays->late_ns += gap_ns > pause_ns ? gap_ns - pause_ns : 0;
        replays->late_count++;
    }
    txn->aborted_ns = 0;
    txn->attempt = row->txn.attempt;
    txn->refused_ns = 0;
    txn->first = NONE;
    txn->last = NONE;
    txn->answered_ns = begin_ns;
}

static enum wio_status add_request(struct wio_replays *replays, struct wio_replay_txn *txn,
                                   const struct wio_txn_row *row, uint64_t came_ns)
{
    void *array = replays->requests;
    WIO_TRY(wio_grow(&array, sizeof(*replays->requests), &replays->request_capacity,
                     replays->request_count + 1));
    replays->requests = array;
    uint32_t index = replays->request_count++;
    bool is_beside = txn->last != NONE && came_ns < txn->answered_ns;
    replays->requests[index] = (struct wio_replay_request){
        .range = row->range,
        .next = NONE,
        .server = row->server,
        .touched = ns32(row->bytes),
        .after_ns = is_beside ? 0 : ns32(came_ns - txn->answered_ns),
        .run_ns = ns32(row->run_ns),
        .storage_ns = ns32(row->storage_ns),
        .mode = row->mode,
        .is_beside = is_beside,
    };
    *(txn->last == NONE ? &txn->first : &replays->requests[txn->last].next) = index;
    txn->last = index;
    txn->answered_ns = row->t_ns > txn->answered_ns ? row->t_ns : txn->answered_ns;
    return WIO_OK;
}

static enum wio_status add_to_client(struct wio_replays *replays, struct wio_replay_txn *txn)
{
    uint32_t index = (uint32_t)(txn - replays->txns);
    const uint64_t *before = wio_map_get(&replays->clients, txn->client);
    if (before != NULL) {
        struct wio_replay_txn *last = &replays->txns[*before];
        last->next_of_client = index;
        txn->after_ns = txn->begin_ns > last->end_ns ? txn->begin_ns - last->end_ns : 0;
    } else {
        void *array = replays->first_of_clients;
        WIO_TRY(wio_grow(&array, sizeof(*replays->first_of_clients), &replays->client_capacity,
                         replays->client_count + 1));
        replays->first_of_clients = array;
        replays->first_of_clients[replays->client_count++] = index;
        txn->after_ns = txn->begin_ns;
    }
    return wio_map_put(&replays->clients, txn->client, index);
}

static enum wio_status commit(struct wio_replays *replays, struct wio_replay_txn *txn,
                              uint64_t end_ns)
{
    if (txn->is_committed) {
        return WIO_OK;
    }
    txn->is_committed = true;
    replays->open--;
    txn->end_ns = end_ns;
    txn->hold_ns = end_ns > txn->answered_ns ? end_ns - txn->answered_ns : 0;
    return add_to_client(replays, txn);
}

/* Its locks go at one server after the other: the run has one end, in the middle. */
static void hold_longer(struct wio_replay_txn *txn, const struct wio_txn_row *row)
{
    bool is_release = row->kind == WIO_TXN_RELEASE && row->txn.attempt == txn->attempt;
    if (is_release && row->t_ns > txn->end_ns) {
        uint64_t more_ns = (row->t_ns - txn->end_ns) / 2;
        txn->end_ns += more_ns;
        txn->hold_ns += more_ns;
    }
}

static bool is_kept_request(const struct wio_txn_row *row)
{
    return row->kind == WIO_TXN_ANSWER && row->result == WIO_TXN_OK && row->range.to != 0 &&
           row->server < SERVERS_MAX;
}

/* How long an attempt that is to end keeps its locks. */
static void note_abort(struct wio_replays *replays, struct wio_replay_txn *txn,
                       const struct wio_txn_row *row)
{
    bool is_refusal = row->kind == WIO_TXN_WOUND ||
                      (row->kind == WIO_TXN_ANSWER && row->result == WIO_TXN_REFUSED &&
                       (row->flags & WIO_TXN_SINGLE) == 0);
    bool is_own = row->txn.attempt == txn->attempt;
    if (is_own && row->kind == WIO_TXN_RELEASE && row->outcome == WIO_TXN_ENDED_ABORTED) {
        txn->aborted_ns = row->t_ns;
    }
    if (is_own && is_refusal && txn->refused_ns == 0) {
        txn->refused_ns = row->t_ns;
    } else if (is_own && row->kind == WIO_TXN_RELEASE && txn->refused_ns != 0 &&
               row->outcome == WIO_TXN_ENDED_ABORTED) {
        replays->abort_ns += row->t_ns - txn->refused_ns;
        replays->abort_count++;
        txn->refused_ns = 0;
    }
}

enum wio_status wio_replays_row(struct wio_replays *replays, const struct wio_txn_row *row)
{
    if (is_full(replays) && replays->open == 0) {
        replays->left_out += row->kind == WIO_TXN_BEGIN;
        return WIO_OK;
    }
    struct wio_replay_txn *txn = find(replays, &row->txn);
    uint64_t took = row->queue_ns + row->lock_ns + row->storage_ns + row->run_ns;
    uint64_t came_ns =
        row->kind == WIO_TXN_ANSWER && took <= row->t_ns ? row->t_ns - took : row->t_ns;
    bool is_begin = row->kind == WIO_TXN_BEGIN || is_kept_request(row);
    if (txn == NULL && is_begin) {
        if (is_full(replays)) {
            replays->left_out += row->kind == WIO_TXN_BEGIN;
            return WIO_OK;
        }
        WIO_TRY(add_txn(replays, row, came_ns, &txn));
    }
    if (txn != NULL && txn->is_committed) {
        hold_longer(txn, row);
        return WIO_OK;
    }
    if (txn == NULL) {
        return WIO_OK;
    }
    if (row->txn.attempt > txn->attempt) {
        begin_again(replays, txn, row, came_ns);
    }
    note_abort(replays, txn, row);
    if (is_kept_request(row)) {
        replays->servers = row->server >= replays->servers ? row->server + 1 : replays->servers;
        return is_full(replays) ? WIO_OK : add_request(replays, txn, row, came_ns);
    }
    bool is_end = row->kind == WIO_TXN_END || row->kind == WIO_TXN_RELEASE;
    return is_end && row->outcome == WIO_TXN_COMMITTED ? commit(replays, txn, row->t_ns) : WIO_OK;
}
