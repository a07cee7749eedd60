/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions by name, and the outcomes of those that had been prepared. */
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "store/server/server_internal.h"

static int compare_names(const struct wio_txn *a, const struct wio_txn *b)
{
    if (a->client != b->client) {
        return a->client < b->client ? -1 : 1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

static int compare_txns(const struct server_txn *a, const struct server_txn *b)
{
    return compare_names(&a->txn, &b->txn);
}

static int compare_outcomes(const struct server_outcome *a, const struct server_outcome *b)
{
    return compare_names(&a->txn, &b->txn);
}

RB_GENERATE_STATIC(server_txns, server_txn, by_name, compare_txns)
RB_GENERATE_STATIC(server_outcomes, server_outcome, by_name, compare_outcomes)

struct server_txn *server_txn_find(const struct wio_server *server, uint64_t client,
                                   uint64_t number)
{
    struct server_txns txns = server->txns;
    struct server_txn key = {.txn = {.client = client, .number = number}};
    return RB_FIND(server_txns, &txns, &key);
}

static struct server_txn *take_txn(struct wio_server *server)
{
    struct server_txn *txn = TAILQ_FIRST(&server->free_txns);
    if (txn != NULL) {
        TAILQ_REMOVE(&server->free_txns, txn, by_session);
        memset(txn, 0, sizeof(*txn));
        return txn;
    }
    return wio_alloc_array(&server->alloc, 1, sizeof(*txn));
}

enum wio_status server_txn_begin(struct wio_server *server, struct server_session *session,
                                 const struct wio_txn *name, uint32_t job,
                                 struct server_txn **txn_out)
{
    if (server->stat.txns == server->config.txns_max) {
        return WIO_ERR_BUSY;
    }
    struct server_txn *txn = take_txn(server);
    if (txn == NULL) {
        return WIO_ERR_NOMEM;
    }
    enum wio_status status = wio_locks_begin(server->locks, name, job, txn, &txn->owner);
    if (status != WIO_OK) {
        TAILQ_INSERT_HEAD(&server->free_txns, txn, by_session);
        return status;
    }
    txn->txn = *name;
    txn->session = session;
    TAILQ_INIT(&txn->calls);
    RB_INSERT(server_txns, &server->txns, txn);
    if (session != NULL) {
        TAILQ_INSERT_TAIL(&session->txns, txn, by_session);
    } else {
        TAILQ_INSERT_TAIL(&server->gone, txn, by_session);
    }
    server->stat.txns++;
    *txn_out = txn;
    return WIO_OK;
}

/* What waits for the log goes on without its transaction. */
static void leave_calls(struct wio_server *server, const struct server_txn *txn)
{
    struct server_call *call;
    TAILQ_FOREACH(call, &server->logged, by_log)
    {
        if (call->txn == txn) {
            call->txn = NULL;
        }
    }
}

void server_txn_end(struct wio_server *server, struct server_txn *txn)
{
    const struct wio_alloc *alloc = &server->alloc;
    WIO_PRE(TAILQ_EMPTY(&txn->calls));
    if (txn->state == SERVER_VOTING) {
        leave_calls(server, txn);
    }
    server->stat.prepared -= txn->state == SERVER_VOTING || txn->state == SERVER_PREPARED;
    wio_locks_release(server->locks, txn->owner);
    server_updates_drop(server, &txn->updates);
    alloc->put(alloc->context, txn->participants);
    alloc->put(alloc->context, txn->answers);
    RB_REMOVE(server_txns, &server->txns, txn);
    TAILQ_REMOVE(txn->session != NULL ? &txn->session->txns : &server->gone, txn, by_session);
    TAILQ_INSERT_HEAD(&server->free_txns, txn, by_session);
    server->stat.txns--;
}

void server_txn_end_as(struct wio_server *server, struct server_txn *txn, bool is_committed)
{
    const struct wio_server_watch *watch = server->config.watch;
    if (watch != NULL) {
        watch->ended(server->config.watch_context, &txn->txn, is_committed, server->now_ns);
    }
    server_txn_end(server, txn);
}

void server_txn_orphan(struct wio_server *server, struct server_txn *txn)
{
    TAILQ_REMOVE(&txn->session->txns, txn, by_session);
    txn->session = NULL;
    txn->gone_ns = server->now_ns;
    TAILQ_INSERT_TAIL(&server->gone, txn, by_session);
    wio_locks_set_dead(txn->owner);
}

void server_forget_answers(const struct wio_server *server, struct server_txn *txn)
{
    txn->is_asking = false;
    if (txn->answers != NULL) {
        memset(txn->answers, 0, server->config.targets);
    }
}

enum wio_status server_txn_set_participants(struct wio_server *server, struct server_txn *txn,
                                            const uint16_t *participants, uint32_t count)
{
    uint16_t *copy = wio_alloc_array(&server->alloc, count, sizeof(*copy));
    if (copy == NULL) {
        return WIO_ERR_NOMEM;
    }
    memcpy(copy, participants, count * sizeof(*copy));
    server->alloc.put(server->alloc.context, txn->participants);
    txn->participants = copy;
    txn->participant_count = count;
    return WIO_OK;
}

struct server_outcome *server_outcome_find(const struct wio_server *server, uint64_t client,
                                           uint64_t number)
{
    struct server_outcomes outcomes = server->outcomes;
    struct server_outcome key = {.txn = {.client = client, .number = number}};
    return RB_FIND(server_outcomes, &outcomes, &key);
}

enum wio_store_outcome server_outcome_of(const struct wio_server *server, const struct wio_txn *txn)
{
    const struct server_outcome *outcome = server_outcome_find(server, txn->client, txn->number);
    if (outcome == NULL || outcome->txn.attempt < txn->attempt) {
        return WIO_STORE_OUTCOME_UNKNOWN;
    }
    return outcome->txn.attempt == txn->attempt ? outcome->outcome : WIO_STORE_OUTCOME_ABORTED;
}

enum wio_status server_outcome_set(struct wio_server *server, const struct wio_txn *txn,
                                   enum wio_store_outcome outcome)
{
    struct server_outcome *found = server_outcome_find(server, txn->client, txn->number);
    if (found == NULL) {
        if (server->stat.outcomes >= server->config.outcomes_max) {
            return WIO_ERR_BUSY;
        }
        found = wio_alloc_array(&server->alloc, 1, sizeof(*found));
        if (found == NULL) {
            return WIO_ERR_NOMEM;
        }
        found->txn = *txn;
        RB_INSERT(server_outcomes, &server->outcomes, found);
        server->stat.outcomes++;
    }
    found->txn = *txn;
    found->outcome = outcome;
    return WIO_OK;
}

void server_outcome_drop(struct wio_server *server, struct server_outcome *outcome)
{
    if (outcome != NULL) {
        RB_REMOVE(server_outcomes, &server->outcomes, outcome);
        server->alloc.put(server->alloc.context, outcome);
        server->stat.outcomes--;
    }
}

void server_txns_free(struct wio_server *server)
{
    struct server_txn *txn;
    while ((txn = TAILQ_FIRST(&server->free_txns)) != NULL) {
        TAILQ_REMOVE(&server->free_txns, txn, by_session);
        server->alloc.put(server->alloc.context, txn);
    }
    while (!RB_EMPTY(&server->outcomes)) {
        server_outcome_drop(server, RB_ROOT(&server->outcomes));
    }
}
