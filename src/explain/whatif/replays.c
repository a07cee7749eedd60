/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/whatif/replays.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

#define NONE UINT32_MAX

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

/* How long the client took to begin again. */
static void note_again(struct wio_replays *replays, const struct wio_replay_txn *txn,
                       uint64_t begin_ns)
{
    uint64_t gap_ns = begin_ns - txn->aborted_ns;
    uint64_t pause_ns = wio_replay_pause_ns(txn->client, txn->number, txn->attempt);
    if (txn->is_wounded) {
        wio_histogram_add(&replays->again_ns, gap_ns);
    } else if (gap_ns >= pause_ns) {
        wio_histogram_add(&replays->late_ns, gap_ns - pause_ns);
    } else {
        wio_histogram_add(&replays->early_ns, pause_ns - gap_ns);
    }
}

/* The attempt before counts no more: its requests are made again. */
static void begin_again(struct wio_replays *replays, struct wio_replay_txn *txn,
                        const struct wio_txn_row *row, uint64_t begin_ns)
{
    if (txn->aborted_ns != 0 && begin_ns > txn->aborted_ns &&
        row->txn.attempt == txn->attempt + 1) {
        note_again(replays, txn, begin_ns);
    }
    txn->aborted_ns = 0;
    txn->attempt = row->txn.attempt;
    txn->refused_ns = 0;
    txn->is_wounded = false;
    txn->first = NONE;
    txn->last = NONE;
    txn->answered_ns = begin_ns;
    txn->got = 0;
}

/* A request that got its locks from another one, within that one's work, tells that work as its
 * own, too. */
static uint64_t run_of(const struct wio_replays *replays, const struct wio_txn_row *row)
{
    uint64_t answered_ns = replays->at[row->server].answered_ns;
    uint64_t since_ns = row->t_ns > answered_ns ? row->t_ns - answered_ns : 0;
    return row->run_ns < since_ns ? row->run_ns : since_ns;
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
    bool is_read = row->op == WIO_TXN_READ;
    const struct wio_replay_server *server = &replays->at[row->server];
    uint64_t other_ns = server->client == row->txn.client ? server->other_ns : server->answered_ns;
    replays->requests[index] = (struct wio_replay_request){
        .range = row->range,
        .next = NONE,
        .server = row->server,
        .touched = ns32(row->bytes),
        .after_ns = is_beside ? 0 : ns32(came_ns - txn->answered_ns),
        .transfer_ns = ns32(row->transfer_ns),
        .run_ns = ns32(run_of(replays, row)),
        .storage_ns = ns32(row->storage_ns),
        .moved = ns32((is_read ? 0 : row->bytes) + txn->got),
        .pause_ns =
            came_ns >= server->answered_ns ? ns32(came_ns - server->answered_ns) : UINT32_MAX,
        .came_ns = came_ns,
        .mode = row->mode,
        .is_beside = is_beside,
        .is_behind = server->answered_ns != 0 && server->client != row->txn.client,
        .is_alone = txn->last != NONE && other_ns < txn->came_ns,
        .commits = (row->flags & (WIO_TXN_SINGLE | WIO_TXN_COMMIT)) != 0,
    };
    *(txn->last == NONE ? &txn->first : &replays->requests[txn->last].next) = index;
    txn->last = index;
    txn->answered_ns = row->t_ns > txn->answered_ns ? row->t_ns : txn->answered_ns;
    txn->came_ns = came_ns;
    txn->got = is_read ? ns32(row->bytes) : 0;
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
           row->server < WIO_REPLAY_SERVERS;
}

/* How long an attempt that is to end keeps its locks. */
static void note_abort(struct wio_replays *replays, struct wio_replay_txn *txn,
                       const struct wio_txn_row *row)
{
    bool is_refusal = row->kind == WIO_TXN_WOUND ||
                      (row->kind == WIO_TXN_ANSWER && row->result == WIO_TXN_REFUSED &&
                       (row->flags & (WIO_TXN_SINGLE | WIO_TXN_COMMIT)) == 0);
    bool is_release = row->kind == WIO_TXN_RELEASE && row->outcome == WIO_TXN_ENDED_ABORTED;
    if (row->txn.attempt != txn->attempt) {
        return;
    }
    if (is_refusal && txn->refused_ns == 0) {
        txn->refused_ns = row->t_ns;
        txn->is_wounded = row->kind == WIO_TXN_WOUND;
    }
    if (is_release && txn->refused_ns != 0 && txn->aborted_ns == 0) {
        wio_histogram_add(&replays->abort_ns, row->t_ns - txn->refused_ns);
    }
    txn->aborted_ns = is_release ? row->t_ns : txn->aborted_ns;
}

static enum wio_status see(struct wio_replays *replays, const struct wio_txn_row *row,
                           uint64_t came_ns)
{
    struct wio_replay_txn *txn = find(replays, &row->txn);
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

static void note_answer(struct wio_replay_server *server, const struct wio_txn_row *row)
{
    server->other_ns = server->client == row->txn.client ? server->other_ns : server->answered_ns;
    server->answered_ns = row->t_ns;
    server->client = row->txn.client;
}

enum wio_status wio_replays_row(struct wio_replays *replays, const struct wio_txn_row *row)
{
    if (is_full(replays) && replays->open == 0) {
        replays->left_out += row->kind == WIO_TXN_BEGIN;
        return WIO_OK;
    }
    uint64_t took = row->queue_ns + row->lock_ns + row->storage_ns + row->run_ns;
    uint64_t came_ns =
        row->kind == WIO_TXN_ANSWER && took <= row->t_ns ? row->t_ns - took : row->t_ns;
    WIO_TRY(see(replays, row, came_ns));
    if (row->kind == WIO_TXN_ANSWER && row->server < WIO_REPLAY_SERVERS) {
        note_answer(&replays->at[row->server], row);
    }
    return WIO_OK;
}
