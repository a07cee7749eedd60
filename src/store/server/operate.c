/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of transactions: their locks one after the other, then the operation, then what the
 * request wants besides: a commit or a vote. */
#include "base/cleanup.h"
#include "store/server/server_internal.h"

static bool asks_for_vote(const struct wio_store_request *request)
{
    return (request->flags & WIO_STORE_FLAG_PREPARE) != 0 || request->op == WIO_STORE_PREPARE;
}

static bool commits(const struct wio_store_request *request)
{
    return (request->flags & (WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_COMMIT)) != 0;
}

/* R-LAST-1: a client that does not wait for its answers: what is still to be done would not be in
 * it. */
static bool ends_too_early(const struct server_call *call)
{
    return (commits(&call->request) || asks_for_vote(&call->request)) &&
           !TAILQ_EMPTY(&call->txn->calls);
}

/* All locks are there. */
static void run(struct wio_server *server, struct server_call *call)
{
    struct server_txn *txn = call->txn;
    const struct wio_store_request *request = &call->request;
    bool is_early = ends_too_early(call);
    enum wio_store_result result = is_early ? WIO_STORE_BAD : server_perform(server, call);
    call->locked_ns = server->now_ns;
    if (is_early || (result != WIO_STORE_OK && commits(request))) {
        call->txn = NULL;
        server_abort(server, txn);
        server_answer(server, call, result);
    } else if (result != WIO_STORE_OK) {
        server_answer(server, call, result);
    } else if (commits(request)) {
        server_commit(server, call, txn);
    } else if (asks_for_vote(request)) {
        server_vote(server, call, txn);
    } else if (request->op == WIO_STORE_READ) {
        server_answer_data(server, call, server->scratch, (uint32_t)call->size);
    } else {
        server_answer(server, call, WIO_STORE_OK);
    }
}

static void refuse(struct wio_server *server, struct server_call *call, enum wio_lock_reason reason,
                   const struct wio_lock_blockers *blockers)
{
    struct server_txn *txn = call->txn;
    call->txn = NULL;
    if (commits(&call->request)) {
        server_abort(server, txn);
    }
    server_answer_refused(server, call, reason, blockers);
}

static void wait_for_lock(struct wio_server *server, struct server_call *call,
                          const struct wio_lock_answer *answer)
{
    server->stat.waits++;
    if (call->blockers.count == 0) {
        call->blockers = answer->blockers;
    }
    TAILQ_INSERT_TAIL(&call->txn->calls, call, by_txn);
    if (server->config.watch != NULL) {
        server->config.watch->waits(server->config.watch_context, &call->request, &answer->blockers,
                                    server->now_ns);
    }
}

/* No memory, or a broken storage: the attempt ends, as its request may be queued for a lock. */
static void give_up(struct wio_server *server, struct server_call *call, enum wio_status status)
{
    struct server_txn *txn = call->txn;
    call->txn = NULL;
    server_abort(server, txn);
    server_answer(server, call, server_result_of(status, NULL));
}

/* Take the locks that are missing, then perform. */
static void proceed(struct wio_server *server, struct server_call *call)
{
    struct wio_lock_request lock;
    struct wio_lock_answer answer;
    enum wio_status status = WIO_OK;
    while (server_lock_needed(server, call, &lock, &status)) {
        if (status == WIO_OK) {
            status =
                wio_locks_acquire(server->locks, call->txn->owner, &lock, server->now_ns, &answer);
        }
        if (status == WIO_OK && answer.outcome == WIO_LOCK_WAITING) {
            status = server_call_keep(server, call);
        }
        if (status != WIO_OK) {
            give_up(server, call, status);
            return;
        }
        if (answer.outcome == WIO_LOCK_WAITING) {
            wait_for_lock(server, call, &answer);
            return;
        }
        if (answer.outcome == WIO_LOCK_REFUSED) {
            refuse(server, call, answer.reason, &answer.blockers);
            return;
        }
        call->stage = lock.range.segment & WIO_STORE_LOCK_SIZE ? 2 : call->stage + 1;
    }
    if (status != WIO_OK) {
        give_up(server, call, status);
    } else {
        run(server, call);
    }
}

static struct server_call *call_of(const struct wio_lock_event *event)
{
    return (struct server_call *)(uintptr_t)event->tag;
}

static void push_wound(struct wio_server *server, const struct wio_lock_event *event)
{
    struct wio_store_push push = {
        .op = WIO_STORE_WOUND, .txn = event->txn, .because = event->blockers.list[0]};
    server->stat.wounds++;
    if (server->config.watch != NULL) {
        server->config.watch->wounded(server->config.watch_context, &push, server->now_ns);
    }
    server->config.ops->push(server->config.context, event->txn.client, &push);
}

void server_listen(struct wio_server *server)
{
    struct wio_lock_event event;
    while (wio_locks_next(server->locks, server->now_ns, &event)) {
        struct server_call *call = call_of(&event);
        if (event.kind == WIO_LOCK_EVENT_WOUND) {
            push_wound(server, &event);
            continue;
        }
        TAILQ_REMOVE(&call->txn->calls, call, by_txn);
        if (event.kind == WIO_LOCK_EVENT_REFUSED) {
            refuse(server, call, event.reason, &event.blockers);
        } else {
            bool is_size = call->stage >= 1 || call->request.op == WIO_STORE_SIZE;
            call->stage = is_size ? 2 : 1;
            proceed(server, call);
        }
    }
}

static bool is_buried(const struct wio_server *server, const struct server_session *session,
                      const struct wio_txn *txn)
{
    return server_outcome_of(server, txn) != WIO_STORE_OUTCOME_UNKNOWN ||
           server_past_find(session, txn) != WIO_STORE_OUTCOME_UNKNOWN;
}

/* The transaction of the request, begun where that is what it asks for. */
static enum wio_store_result find_or_begin(struct wio_server *server,
                                           struct server_session *session,
                                           const struct wio_store_request *request,
                                           struct server_txn **txn_out)
{
    const struct wio_txn *name = &request->txn;
    struct server_txn *txn = server_txn_find(server, name->client, name->number);
    bool begins = (request->flags & (WIO_STORE_FLAG_BEGIN | WIO_STORE_FLAG_SINGLE)) != 0;
    if (txn != NULL && txn->txn.attempt == name->attempt) {
        *txn_out = txn;
        return txn->state == SERVER_ACTIVE ? WIO_STORE_OK : WIO_STORE_BAD;
    }
    if (txn != NULL && (txn->txn.attempt > name->attempt || txn->state != SERVER_ACTIVE)) {
        return WIO_STORE_ABORTED;
    }
    if (!begins || is_buried(server, session, name)) {
        return WIO_STORE_ABORTED;
    }
    if (txn != NULL) {
        server_abort(server, txn); /* an attempt that the client has left */
    }
    if (server_txn_begin(server, session, name,
                         request->job != 0 ? request->job : session->peer.job, txn_out) != WIO_OK) {
        return WIO_STORE_BUSY;
    }
    (*txn_out)->is_single = (request->flags & WIO_STORE_FLAG_SINGLE) != 0;
    return WIO_STORE_OK;
}

/* A vote whose answer was lost with its session is asked for anew, when others may have decided. */
static enum wio_store_result vote_again(const struct wio_server *server, struct server_call *call,
                                        enum wio_store_result result)
{
    const struct wio_txn *name = &call->request.txn;
    const struct server_txn *txn = server_txn_find(server, name->client, name->number);
    const struct server_outcome *outcome = server_outcome_find(server, name->client, name->number);
    if (txn != NULL && txn->txn.attempt == name->attempt && txn->state == SERVER_PREPARED) {
        call->outcome = WIO_STORE_OUTCOME_PREPARED;
        return WIO_STORE_OK;
    }
    if (txn != NULL && txn->txn.attempt == name->attempt && txn->state == SERVER_VOTING) {
        return WIO_STORE_BUSY;
    }
    if (outcome != NULL && outcome->txn.attempt == name->attempt) {
        call->outcome = (uint16_t)outcome->outcome;
    }
    return result;
}

/* A commit whose answer was lost in a crash; the log had it. */
static bool has_committed(const struct server_session *session,
                          const struct wio_store_request *request)
{
    return commits(request) &&
           server_past_find(session, &request->txn) == WIO_STORE_OUTCOME_COMMITTED;
}

/* R-LAST-1: at most one of FLAG_SINGLE, FLAG_COMMIT and a vote. */
static bool ends_once(const struct wio_store_request *request)
{
    bool is_single = (request->flags & WIO_STORE_FLAG_SINGLE) != 0;
    bool is_commit = (request->flags & WIO_STORE_FLAG_COMMIT) != 0;
    return is_single + is_commit + asks_for_vote(request) <= 1;
}

void server_operate(struct wio_server *server, struct server_session *session,
                    struct server_call *call)
{
    struct wio_store_request *request = &call->request;
    enum wio_store_result result = WIO_STORE_BAD;
    if (request->txn.number != 0 && ends_once(request) && server_request_is_sound(request)) {
        result = find_or_begin(server, session, request, &call->txn);
    }
    if (result == WIO_STORE_OK) {
        proceed(server, call);
        return;
    }
    call->txn = NULL;
    if (asks_for_vote(request)) {
        result = vote_again(server, call, result);
    } else if (result == WIO_STORE_ABORTED && has_committed(session, request)) {
        call->size = request->data_size;
        result = WIO_STORE_OK;
    }
    server_answer(server, call, result);
}
