/* SPDX-License-Identifier: Apache-2.0 */
/* Commit, vote, abort, forget: which record the log gets, and when locks go. */
#include "base/cleanup.h"
#include "store/server/server_internal.h"

static enum wio_status log_record(struct wio_server *server,
                                  const struct wio_backing_record *record, uint64_t *lsn_out)
{
    struct wio_backing *backing = server->config.backing;
    enum wio_status status = backing->ops->log(backing, record, lsn_out, NULL);
    if (status != WIO_OK) {
        server->has_failed = true;
        return status;
    }
    server->logged_lsn = *lsn_out;
    if (!record->is_lazy) {
        server->has_lazy = false; /* goes with this one */
    } else if (!server->has_lazy) {
        server->has_lazy = true;
        server->lazy_since_ns = server->now_ns;
    }
    return WIO_OK;
}

static enum wio_status log_txn(struct wio_server *server, const struct server_txn *txn,
                               enum wio_backing_kind kind, uint64_t *lsn_out)
{
    struct wio_backing_record record = {.kind = kind,
                                        .txn = txn->txn,
                                        .participants = txn->participants,
                                        .participant_count = txn->participant_count,
                                        .updates = txn->updates.list,
                                        .update_count = txn->updates.count};
    return log_record(server, &record, lsn_out);
}

static enum wio_status log_outcome(struct wio_server *server, const struct wio_txn *txn,
                                   enum wio_backing_kind kind, bool is_lazy, uint64_t *lsn_out)
{
    struct wio_backing_record record = {.kind = kind, .txn = *txn, .is_lazy = is_lazy};
    return log_record(server, &record, lsn_out);
}

static void answer_done(struct wio_server *server, struct server_call *call,
                        enum wio_store_result result)
{
    call->txn = NULL;
    if (result == WIO_STORE_OK && call->request.op == WIO_STORE_READ) {
        server_answer_data(server, call, server->scratch, (uint32_t)call->size);
    } else {
        server_answer(server, call, result);
    }
}

/* A transaction of several operations, or several targets, may be asked for. */
static void remember_outcome(struct server_txn *txn, enum wio_store_outcome outcome)
{
    if (txn->session != NULL && !txn->is_single) {
        server_past_add(txn->session, &txn->txn, outcome);
    }
}

static void apply_and_answer(struct wio_server *server, struct server_call *call,
                             struct server_txn *txn)
{
    enum wio_status status = server_updates_apply(server, txn->updates.list, txn->updates.count,
                                                  txn->state == SERVER_LOGGING);
    call->outcome = WIO_STORE_OUTCOME_COMMITTED;
    remember_outcome(txn, WIO_STORE_OUTCOME_COMMITTED);
    server->stat.commits += status == WIO_OK;
    server_txn_end_as(server, txn, status == WIO_OK);
    answer_done(server, call, server_result_of(status, NULL));
}

void server_commit(struct wio_server *server, struct server_call *call, struct server_txn *txn)
{
    bool is_stable = (call->request.flags & WIO_STORE_FLAG_STABLE) != 0;
    if (!is_stable || txn->updates.count == 0) {
        apply_and_answer(server, call, txn);
    } else if (log_txn(server, txn, WIO_BACKING_COMMIT, &txn->lsn) != WIO_OK) {
        server_abort(server, txn);
        answer_done(server, call, WIO_STORE_IO);
    } else {
        txn->state = SERVER_LOGGING;
        call->txn = txn;
        wio_locks_set_prepared(txn->owner);
        server_call_wait_log(server, call, SERVER_WAIT_COMMIT, txn->lsn);
    }
}

void server_committed(struct wio_server *server, struct server_call *call)
{
    apply_and_answer(server, call, call->txn);
}

static bool names_itself(const struct wio_server *server, const struct wio_store_request *request)
{
    bool is_named = false;
    for (uint32_t i = 0; i < request->participant_count; i++) {
        is_named |= request->participants[i] == server->config.self;
        if (request->participants[i] >= server->config.targets) {
            return false;
        }
    }
    return is_named && request->participant_count <= WIO_STORE_PARTICIPANTS_MAX;
}

/* Its outcome will have a place, or it must not vote. */
static enum wio_status get_ready(struct wio_server *server, const struct server_call *call,
                                 struct server_txn *txn)
{
    const struct wio_store_request *request = &call->request;
    uint64_t known = (uint64_t)server->stat.outcomes + server->stat.prepared;
    if (!names_itself(server, request)) {
        return WIO_ERR_USAGE;
    }
    if (known >= server->config.outcomes_max) {
        return WIO_ERR_BUSY;
    }
    return server_txn_set_participants(server, txn, request->participants,
                                       request->participant_count);
}

void server_vote(struct wio_server *server, struct server_call *call, struct server_txn *txn)
{
    enum wio_status status = get_ready(server, call, txn);
    if (status == WIO_OK) {
        status = log_txn(server, txn, WIO_BACKING_PREPARED, &txn->lsn);
    }
    if (status != WIO_OK) {
        server_abort(server, txn);
        call->txn = NULL;
        server_answer(server, call, status == WIO_ERR_USAGE ? WIO_STORE_BAD : WIO_STORE_NO);
        return;
    }
    txn->state = SERVER_VOTING;
    server_forget_answers(server, txn);
    server->stat.prepared++;
    call->txn = txn;
    wio_locks_set_prepared(txn->owner);
    server_call_wait_log(server, call, SERVER_WAIT_VOTE, txn->lsn);
}

void server_voted(struct wio_server *server, struct server_call *call)
{
    if (call->txn == NULL) {
        server_answer(server, call, WIO_STORE_NO);
        return;
    }
    call->txn->state = SERVER_PREPARED;
    call->txn = NULL;
    call->outcome = WIO_STORE_OUTCOME_PREPARED;
    server_answer(server, call, WIO_STORE_OK);
}

void server_not_logged(struct wio_server *server, struct server_call *call,
                       enum wio_store_result result)
{
    struct server_txn *txn = call->txn;
    bool is_vote = call->wait == SERVER_WAIT_VOTE;
    call->txn = NULL;
    if (txn != NULL) {
        server->stat.prepared -= is_vote;
        txn->state = SERVER_ACTIVE; /* the log has nothing of it */
        server_abort(server, txn);
    }
    call->outcome = WIO_STORE_OUTCOME_ABORTED;
    server_answer(server, call, is_vote ? WIO_STORE_NO : result);
}

void server_abort(struct wio_server *server, struct server_txn *txn)
{
    struct server_call *call;
    uint64_t lsn;
    if (txn->state == SERVER_VOTING) {
        /* lazily: where a crash finds only the vote, others are asked, and one says no */
        server->has_failed |=
            log_outcome(server, &txn->txn, WIO_BACKING_ABORTED, true, &lsn) != WIO_OK ||
            server_outcome_set(server, &txn->txn, WIO_STORE_OUTCOME_ABORTED) != WIO_OK;
    }
    remember_outcome(txn, WIO_STORE_OUTCOME_ABORTED);
    while ((call = TAILQ_FIRST(&txn->calls)) != NULL) {
        TAILQ_REMOVE(&txn->calls, call, by_txn);
        call->txn = NULL;
        server_answer(server, call, WIO_STORE_ABORTED);
    }
    server->stat.aborts++;
    server_txn_end_as(server, txn, false);
}

void server_tombstone(struct wio_server *server, struct server_call *call)
{
    uint64_t lsn = 0;
    const struct wio_txn *txn = &call->request.txn;
    if (server_outcome_set(server, txn, WIO_STORE_OUTCOME_ABORTED) != WIO_OK) {
        server_answer(server, call, WIO_STORE_BUSY);
    } else if (log_outcome(server, txn, WIO_BACKING_ABORTED, false, &lsn) != WIO_OK) {
        server_answer(server, call, WIO_STORE_IO);
    } else {
        call->outcome = WIO_STORE_OUTCOME_ABORTED;
        server_call_wait_log(server, call, SERVER_WAIT_ANSWER, lsn);
    }
}

static enum wio_status resolve(struct wio_server *server, struct server_txn *txn, bool is_commit)
{
    uint64_t lsn = 0;
    enum wio_backing_kind kind = is_commit ? WIO_BACKING_COMMITTED : WIO_BACKING_ABORTED;
    WIO_PRE(txn->state == SERVER_PREPARED);
    WIO_TRY(log_outcome(server, &txn->txn, kind, true, &lsn));
    WIO_TRY(server_outcome_set(
        server, &txn->txn, is_commit ? WIO_STORE_OUTCOME_COMMITTED : WIO_STORE_OUTCOME_ABORTED));
    if (is_commit) {
        WIO_TRY(server_updates_apply(server, txn->updates.list, txn->updates.count, true));
        server->stat.commits++;
    } else {
        server->stat.aborts++;
    }
    server_txn_end_as(server, txn, is_commit);
    return WIO_OK;
}

enum wio_status server_resolve(struct wio_server *server, struct server_txn *txn, bool is_commit)
{
    enum wio_status status = resolve(server, txn, is_commit);
    server->has_failed |= status != WIO_OK;
    return status;
}

/* FORGET follows the answers, so what they say has to be durable. */
static void answer_durable(struct wio_server *server, struct server_call *call)
{
    if (server->logged_lsn > server->durable_lsn) {
        server_call_wait_log(server, call, SERVER_WAIT_ANSWER, server->logged_lsn);
    } else {
        server_answer(server, call, WIO_STORE_OK);
    }
}

static void resolve_and_answer(struct wio_server *server, struct server_call *call,
                               struct server_txn *txn, bool is_commit)
{
    enum wio_status status = server_resolve(server, txn, is_commit);
    call->outcome = is_commit ? WIO_STORE_OUTCOME_COMMITTED : WIO_STORE_OUTCOME_ABORTED;
    if (status != WIO_OK) {
        server_answer(server, call, WIO_STORE_IO);
    } else {
        answer_durable(server, call);
    }
}

/* What is known of a transaction that is not there. */
static enum wio_store_outcome known(const struct wio_server *server, const struct wio_txn *txn)
{
    enum wio_store_outcome outcome = server_outcome_of(server, txn);
    return outcome != WIO_STORE_OUTCOME_UNKNOWN
               ? outcome
               : server_past_find(server_session_find(server, txn->client), txn);
}

static struct server_txn *find_attempt(const struct wio_server *server, const struct wio_txn *name)
{
    struct server_txn *txn = server_txn_find(server, name->client, name->number);
    return txn != NULL && txn->txn.attempt == name->attempt ? txn : NULL;
}

void server_do_commit(struct wio_server *server, struct server_call *call)
{
    struct server_txn *txn = find_attempt(server, &call->request.txn);
    if (txn == NULL) {
        call->outcome = (uint16_t)known(server, &call->request.txn);
        if (call->outcome == WIO_STORE_OUTCOME_COMMITTED) {
            answer_durable(server, call);
        } else {
            server_answer(server, call, WIO_STORE_ABORTED);
        }
    } else if (txn->state == SERVER_PREPARED) {
        resolve_and_answer(server, call, txn, true);
    } else if (txn->state == SERVER_ACTIVE && TAILQ_EMPTY(&txn->calls)) {
        server_commit(server, call, txn);
    } else {
        server_answer(server, call, WIO_STORE_BAD);
    }
}

static void abort_unknown(struct wio_server *server, struct server_call *call, bool is_try)
{
    struct server_session *session = server_session_find(server, call->request.txn.client);
    call->outcome = (uint16_t)known(server, &call->request.txn);
    if (call->outcome == WIO_STORE_OUTCOME_UNKNOWN && is_try) {
        server_tombstone(server, call);
        return;
    }
    if (call->outcome == WIO_STORE_OUTCOME_UNKNOWN) {
        call->outcome = WIO_STORE_OUTCOME_ABORTED;
        if (session != NULL) {
            server_past_add(session, &call->request.txn, WIO_STORE_OUTCOME_ABORTED);
        }
    }
    answer_durable(server, call);
}

static void abort_active(struct wio_server *server, struct server_call *call,
                         struct server_txn *txn, bool is_try)
{
    server_abort(server, txn);
    if (is_try) {
        server_tombstone(server, call);
    } else {
        call->outcome = WIO_STORE_OUTCOME_ABORTED;
        server_answer(server, call, WIO_STORE_OK);
    }
}

void server_do_abort(struct wio_server *server, struct server_call *call)
{
    struct server_txn *txn = find_attempt(server, &call->request.txn);
    bool is_try = (call->request.flags & WIO_STORE_FLAG_TRY) != 0;
    if (txn == NULL) {
        abort_unknown(server, call, is_try);
    } else if (txn->state == SERVER_LOGGING || (txn->state == SERVER_VOTING && is_try)) {
        server_call_wait_log(server, call, SERVER_WAIT_AGAIN, txn->lsn);
    } else if (txn->state == SERVER_PREPARED && is_try) {
        call->outcome = WIO_STORE_OUTCOME_PREPARED;
        server_answer(server, call, WIO_STORE_OK);
    } else if (txn->state == SERVER_PREPARED) {
        resolve_and_answer(server, call, txn, false);
    } else {
        abort_active(server, call, txn, is_try);
    }
}

void server_do_forget(struct wio_server *server, struct server_call *call)
{
    const struct wio_txn *txn = &call->request.txn;
    struct server_outcome *outcome = server_outcome_find(server, txn->client, txn->number);
    uint64_t lsn;
    enum wio_status status = WIO_OK;
    if (outcome != NULL) {
        status = log_outcome(server, txn, WIO_BACKING_FORGOTTEN, true, &lsn);
        server_outcome_drop(server, outcome);
    }
    server_answer(server, call, server_result_of(status, NULL));
}
