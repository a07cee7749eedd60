/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions whose client is gone. What is prepared is in doubt: all participants are asked; one
 * that has not voted leaves a tombstone and says no; all votes, or one outcome, decide. What is
 * active is volatile, or was not to be voted on yet: it ends, but for a COMMIT that has reached
 * another target and not this one. So others are asked first.
 */
#include "base/cleanup.h"
#include "base/memory.h"
#include "store/server/server_internal.h"

/* An active transaction whose inquiries have no answer ends after so many leases. */
#define PATIENCE 5

static void answer_outcome(struct wio_server *server, struct server_call *call,
                           enum wio_store_outcome outcome)
{
    call->outcome = (uint16_t)outcome;
    server_answer(server, call, WIO_STORE_OK);
}

/* The asking target is prepared: what is not decided here is decided now. */
static void answer_unknown(struct wio_server *server, struct server_call *call)
{
    if ((call->request.flags & WIO_STORE_FLAG_STABLE) != 0) {
        server_tombstone(server, call);
    } else {
        answer_outcome(server, call, WIO_STORE_OUTCOME_UNKNOWN);
    }
}

static void answer_txn(struct wio_server *server, struct server_call *call, struct server_txn *txn)
{
    bool is_prepared = (call->request.flags & WIO_STORE_FLAG_STABLE) != 0;
    if (txn->txn.attempt > call->request.txn.attempt) {
        answer_outcome(server, call, WIO_STORE_OUTCOME_ABORTED);
    } else if (txn->state == SERVER_PREPARED) {
        answer_outcome(server, call, WIO_STORE_OUTCOME_PREPARED);
    } else if (txn->state != SERVER_ACTIVE) {
        server_call_wait_log(server, call, SERVER_WAIT_AGAIN, txn->lsn);
    } else if (is_prepared) {
        server_abort(server, txn);
        server_tombstone(server, call);
    } else {
        answer_outcome(server, call, WIO_STORE_OUTCOME_ACTIVE);
    }
}

void server_do_inquire(struct wio_server *server, struct server_call *call)
{
    const struct wio_txn *name = &call->request.txn;
    struct server_txn *txn = server_txn_find(server, name->client, name->number);
    enum wio_store_outcome outcome = server_outcome_of(server, name);
    enum wio_store_outcome past = server_past_find(server_session_find(server, name->client), name);
    if (outcome != WIO_STORE_OUTCOME_UNKNOWN) {
        answer_outcome(server, call, outcome);
    } else if (txn != NULL && txn->txn.attempt >= name->attempt) {
        answer_txn(server, call, txn);
    } else if (past == WIO_STORE_OUTCOME_COMMITTED) {
        answer_outcome(server, call, past);
    } else {
        answer_unknown(server, call);
    }
}

static bool may_have_committed(const struct wio_server *server, const struct server_txn *txn)
{
    return server->config.targets > 1 && TAILQ_EMPTY(&txn->calls) && txn->updates.count > 0;
}

void server_client_gone(struct wio_server *server, struct server_session *session)
{
    struct server_txn *txn;
    while ((txn = TAILQ_FIRST(&session->txns)) != NULL) {
        if (txn->state == SERVER_ACTIVE && !may_have_committed(server, txn)) {
            server_abort(server, txn);
        } else {
            server_txn_orphan(server, txn);
        }
    }
    server->stat.leases_ended++;
    server_session_end(server, session);
}

static bool takes_part(const struct server_txn *txn, uint16_t target)
{
    for (uint32_t i = 0; i < txn->participant_count; i++) {
        if (txn->participants[i] == target) {
            return true;
        }
    }
    return txn->participant_count == 0;
}

static void decide(struct wio_server *server, struct server_txn *txn, bool is_commit)
{
    if (txn->state == SERVER_PREPARED) {
        server->has_failed |= server_resolve(server, txn, is_commit) != WIO_OK;
    } else if (is_commit) {
        server->stat.commits +=
            server_updates_apply(server, txn->updates.list, txn->updates.count, false) == WIO_OK;
        server_txn_end_as(server, txn, true);
    } else {
        server_abort(server, txn);
    }
}

/* What is asked and has no answer; 0: all have answered. */
static uint32_t unanswered(const struct wio_server *server, const struct server_txn *txn)
{
    uint32_t count = 0;
    for (uint16_t target = 0; target < server->config.targets; target++) {
        count +=
            target != server->config.self && takes_part(txn, target) && txn->answers[target] == 0;
    }
    return count;
}

void server_heard(struct wio_server *server, struct server_txn *txn, uint16_t target,
                  enum wio_store_outcome outcome)
{
    bool is_prepared = txn->state == SERVER_PREPARED;
    bool binds = outcome != WIO_STORE_OUTCOME_UNKNOWN && outcome != WIO_STORE_OUTCOME_ACTIVE;
    if (!txn->is_asking || !takes_part(txn, target) || (is_prepared && !binds)) {
        return; /* the last: to a question from before the vote */
    }
    txn->answers[target] = (uint8_t)(outcome + 1);
    if (outcome == WIO_STORE_OUTCOME_COMMITTED) {
        decide(server, txn, true);
    } else if (is_prepared && outcome == WIO_STORE_OUTCOME_ABORTED) {
        decide(server, txn, false);
    } else if (unanswered(server, txn) == 0) {
        decide(server, txn, is_prepared);
    }
}

static void ask_others(struct wio_server *server, struct server_txn *txn)
{
    const struct wio_server_config *config = &server->config;
    for (uint16_t target = 0; target < config->targets; target++) {
        if (target != config->self && takes_part(txn, target) && txn->answers[target] == 0) {
            config->ops->inquire(config->context, target, &txn->txn, txn->state == SERVER_PREPARED);
        }
    }
}

static void ask(struct wio_server *server, struct server_txn *txn)
{
    txn->asked_ns = server->now_ns;
    if (txn->answers == NULL) {
        txn->answers = wio_alloc_array(&server->alloc, server->config.targets, 1);
    }
    txn->is_asking = txn->answers != NULL; /* else again later */
    if (txn->is_asking && unanswered(server, txn) == 0) {
        decide(server, txn, txn->state == SERVER_PREPARED);
    } else if (txn->is_asking) {
        ask_others(server, txn);
    }
}

static bool can_ask(const struct server_txn *txn)
{
    return txn->state == SERVER_ACTIVE || txn->state == SERVER_PREPARED;
}

static uint64_t due_ns(const struct wio_server *server, const struct server_txn *txn)
{
    return txn->asked_ns == 0 ? server->now_ns : txn->asked_ns + server->config.lease_ns / 2;
}

void server_ask(struct wio_server *server)
{
    struct server_txn *txn = TAILQ_FIRST(&server->gone);
    while (txn != NULL) {
        struct server_txn *next = TAILQ_NEXT(txn, by_session);
        uint64_t gone_ns = server->now_ns - txn->gone_ns;
        if (txn->state == SERVER_ACTIVE && gone_ns > PATIENCE * server->config.lease_ns) {
            server_abort(server, txn);
        } else if (can_ask(txn) && due_ns(server, txn) <= server->now_ns) {
            ask(server, txn);
        }
        txn = next;
    }
}

uint64_t server_ask_deadline_ns(const struct wio_server *server)
{
    uint64_t first = UINT64_MAX;
    const struct server_txn *txn;
    TAILQ_FOREACH(txn, &server->gone, by_session)
    {
        if (can_ask(txn) && due_ns(server, txn) < first) {
            first = due_ns(server, txn);
        }
    }
    return first;
}
