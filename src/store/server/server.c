/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of server.h: requests, what the lock manager says, the log, time. */
#include "store/server/server.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "store/server/server_internal.h"

static enum wio_status make_locks(struct wio_server *server)
{
    const struct wio_server_config *config = &server->config;
    struct wio_locks_config locks = {config->policy, config->lock_timeout_ns, config->txns_max,
                                     config->locks_max};
    struct wio_locks_config advisory = {WIO_LOCK_NO_WAIT, 0, config->clients_max,
                                        config->locks_max};
    WIO_TRY(wio_locks_create(&server->alloc, &locks, &server->locks));
    return wio_locks_create(&server->alloc, &advisory, &server->advisory);
}

static void init(struct wio_server *server)
{
    RB_INIT(&server->sessions);
    RB_INIT(&server->txns);
    RB_INIT(&server->outcomes);
    RB_INIT(&server->pointers);
    TAILQ_INIT(&server->leases);
    TAILQ_INIT(&server->ended);
    TAILQ_INIT(&server->gone);
    TAILQ_INIT(&server->logged);
    TAILQ_INIT(&server->free_calls);
    TAILQ_INIT(&server->free_txns);
}

enum wio_status wio_server_create(const struct wio_alloc *alloc,
                                  const struct wio_server_config *config,
                                  struct wio_server **server_out)
{
    if (config->self >= config->targets || config->clients_max == 0 || config->calls_max == 0 ||
        config->outcomes_max == 0) {
        return WIO_ERR_USAGE;
    }
    struct wio_server *server = wio_alloc_array(alloc, 1, sizeof(*server));
    if (server == NULL) {
        return WIO_ERR_NOMEM;
    }
    server->alloc = *alloc;
    server->config = *config;
    server->config.lease_ns = config->lease_ns > 0 ? config->lease_ns : WIO_SERVER_LEASE_NS;
    init(server);
    server->scratch = wio_alloc_array(alloc, 1, WIO_STORE_DATA_MAX);
    enum wio_status status = server->scratch != NULL ? make_locks(server) : WIO_ERR_NOMEM;
    if (status != WIO_OK) {
        wio_server_destroy(server);
        return status;
    }
    *server_out = server;
    return WIO_OK;
}

static void drop_calls(struct wio_server *server, struct server_txn *txn)
{
    struct server_call *call;
    while ((call = TAILQ_FIRST(&txn->calls)) != NULL) {
        TAILQ_REMOVE(&txn->calls, call, by_txn);
        server_call_free(server, call);
    }
}

static void drop_txns(struct wio_server *server, struct server_txn_list *list)
{
    struct server_txn *txn;
    while ((txn = TAILQ_FIRST(list)) != NULL) {
        drop_calls(server, txn);
        server_txn_end(server, txn);
    }
}

void wio_server_destroy(struct wio_server *server)
{
    struct server_session *session;
    struct server_call *call;
    if (server == NULL) {
        return;
    }
    struct wio_alloc alloc = server->alloc;
    while ((session = TAILQ_FIRST(&server->leases)) != NULL) {
        drop_txns(server, &session->txns);
        server_session_free(server, session);
    }
    while ((session = TAILQ_FIRST(&server->ended)) != NULL) {
        server_session_free(server, session);
    }
    drop_txns(server, &server->gone);
    while ((call = TAILQ_FIRST(&server->logged)) != NULL) {
        TAILQ_REMOVE(&server->logged, call, by_log);
        server_call_free(server, call);
    }
    while ((call = TAILQ_FIRST(&server->free_calls)) != NULL) {
        TAILQ_REMOVE(&server->free_calls, call, by_log);
        alloc.put(alloc.context, call);
    }
    server_txns_free(server);
    server_pointers_free(server);
    wio_locks_destroy(server->locks);
    wio_locks_destroy(server->advisory);
    alloc.put(alloc.context, server->scratch);
    alloc.put(alloc.context, server);
}

/* ---- requests ---- */

static void dispatch(struct wio_server *server, struct server_session *session,
                     struct server_call *call)
{
    switch (call->request.op) {
    case WIO_STORE_READ:
    case WIO_STORE_WRITE:
    case WIO_STORE_TRUNCATE:
    case WIO_STORE_SIZE:
    case WIO_STORE_DROP:
    case WIO_STORE_POINTER:
    case WIO_STORE_PREPARE:
        server_operate(server, session, call);
        break;
    case WIO_STORE_COMMIT:
        server_do_commit(server, call);
        break;
    case WIO_STORE_ABORT:
        server_do_abort(server, call);
        break;
    case WIO_STORE_FORGET:
        server_do_forget(server, call);
        break;
    case WIO_STORE_LOCK:
    case WIO_STORE_UNLOCK:
        server_advise(server, session, call);
        break;
    case WIO_STORE_STATFS:
        server_answer_space(server, call);
        break;
    case WIO_STORE_DEFINE_SOURCE:
        server_answer(server, call, WIO_STORE_OK);
        break;
    default:
        server_answer(server, call, WIO_STORE_BAD);
        break;
    }
}

/* New to this client's window; else it is dealt with here. */
static bool is_new(struct wio_server *server, struct server_session *session,
                   const struct wio_store_request *request)
{
    struct server_seen *seen = &session->seen[request->number % WIO_SERVER_WINDOW];
    if (seen->number == request->number && request->number != 0) {
        server->stat.again++;
        if (seen->is_done) {
            server_answer_again(server, session->peer.client, seen);
        }
        return false;
    }
    if (request->number <= seen->number) { /* 0, or older than the window */
        server_answer_early(server, session->peer.client, request, WIO_STORE_BAD);
        return false;
    }
    if (seen->number != 0 && !seen->is_done) { /* too many are under way */
        server_answer_early(server, session->peer.client, request, WIO_STORE_BUSY);
        return false;
    }
    *seen = (struct server_seen){.number = request->number};
    return true;
}

static void inquiry(struct wio_server *server, uint64_t asker,
                    const struct wio_store_request *request)
{
    struct server_call *call = server_call_make(server, asker, request);
    if (call == NULL || server->has_failed) {
        enum wio_store_result result = server->has_failed ? WIO_STORE_IO : WIO_STORE_BUSY;
        server_answer_early(server, asker, request, result);
        if (call != NULL) {
            server_call_free(server, call);
        }
        return;
    }
    server_do_inquire(server, call);
}

static void request_of(struct wio_server *server, struct server_session *session,
                       const struct wio_store_request *request)
{
    struct wio_store_request own = *request;
    own.txn.client = session->peer.client;
    own.flags &= (uint16_t)~WIO_STORE_FLAG_ADMIT; /* of the connection, and done with */
    server_session_renew(server, session);
    if (own.op == WIO_STORE_PING) { /* any number of times, with any number */
        server_answer_early(server, session->peer.client, &own,
                            server->has_failed ? WIO_STORE_IO : WIO_STORE_OK);
        return;
    }
    if (!is_new(server, session, &own)) {
        return;
    }
    if (server->has_failed) {
        server_answer_early(server, session->peer.client, &own, WIO_STORE_IO);
        return;
    }
    struct server_call *call = server_call_make(server, session->peer.client, &own);
    if (call == NULL) {
        server_answer_early(server, session->peer.client, &own, WIO_STORE_BUSY);
        return;
    }
    dispatch(server, session, call);
}

static void set_now(struct wio_server *server, uint64_t now_ns)
{
    server->now_ns = now_ns > server->now_ns ? now_ns : server->now_ns;
}

void wio_server_request(struct wio_server *server, uint64_t client,
                        const struct wio_store_request *request, uint64_t now_ns)
{
    set_now(server, now_ns);
    server->stat.requests++;
    if (request->op == WIO_STORE_INQUIRE) {
        inquiry(server, client, request);
    } else {
        struct server_session *session = server_session_find(server, client);
        if (session == NULL || session->is_ended) {
            server_answer_early(server, client, request, WIO_STORE_NO_LEASE);
        } else {
            request_of(server, session, request);
        }
    }
    server_listen(server);
}

/* ---- connections, log, time ---- */

/* Those that went with the former connection. */
static void push_wounds(struct wio_server *server, struct server_session *session)
{
    const struct server_txn *txn;
    TAILQ_FOREACH(txn, &session->txns, by_session)
    {
        struct wio_store_push push = {.op = WIO_STORE_WOUND, .txn = txn->txn};
        if (txn->state == SERVER_ACTIVE && wio_locks_is_wounded(txn->owner, &push.because)) {
            server->config.ops->push(server->config.context, session->peer.client, &push);
        }
    }
}

enum wio_status wio_server_connected(struct wio_server *server, const struct wio_store_peer *peer,
                                     uint64_t now_ns, bool *is_new_out)
{
    set_now(server, now_ns);
    server->started_ns = server->started_ns > 0 ? server->started_ns : server->now_ns;
    struct server_session *session = server_session_find(server, peer->client);
    bool is_early = server->now_ns < server->started_ns + server->config.lease_ns;
    if (is_new_out != NULL) {
        *is_new_out = (session == NULL || session->is_ended) && !is_early;
    }
    if (session != NULL && !session->is_ended && session->is_proven &&
        session->peer.uid != peer->uid) {
        return WIO_ERR_USAGE;
    }
    if (session != NULL && session->is_ended) {
        WIO_TRY(server_session_revive(server, session));
    }
    if (session != NULL) {
        session->peer = *peer;
    } else {
        WIO_TRY(server_session_make(server, peer, &session));
    }
    session->is_proven = true;
    server_session_renew(server, session);
    push_wounds(server, session);
    return WIO_OK;
}

void wio_server_disconnected(struct wio_server *server, uint64_t client, bool is_dead,
                             uint64_t now_ns)
{
    set_now(server, now_ns);
    struct server_session *session = server_session_find(server, client);
    if (session != NULL && !session->is_ended && is_dead) {
        server_client_gone(server, session);
        server_listen(server);
    }
}

static void logged(struct wio_server *server, struct server_call *call)
{
    switch (call->wait) {
    case SERVER_WAIT_COMMIT:
        server_committed(server, call);
        break;
    case SERVER_WAIT_VOTE:
        server_voted(server, call);
        break;
    case SERVER_WAIT_AGAIN:
        if (call->request.op == WIO_STORE_INQUIRE) {
            server_do_inquire(server, call);
        } else {
            server_do_abort(server, call);
        }
        break;
    case SERVER_WAIT_ANSWER:
    case SERVER_WAIT_LOCK:
        server_answer(server, call, WIO_STORE_OK);
        break;
    }
}

/* What waited for the log is not known to be durable, and never will be. */
static void fail_logged(struct wio_server *server)
{
    struct server_call *call;
    server->has_failed = true;
    while ((call = TAILQ_FIRST(&server->logged)) != NULL) {
        TAILQ_REMOVE(&server->logged, call, by_log);
        server_answer(server, call, WIO_STORE_IO);
    }
}

void wio_server_durable(struct wio_server *server, uint64_t lsn, bool is_ok, uint64_t now_ns)
{
    struct server_call *call;
    set_now(server, now_ns);
    if (!is_ok) {
        fail_logged(server);
        return;
    }
    server->durable_lsn = lsn > server->durable_lsn ? lsn : server->durable_lsn;
    server->has_lazy &= server->logged_lsn > server->durable_lsn;
    while ((call = TAILQ_FIRST(&server->logged)) != NULL && call->lsn <= server->durable_lsn) {
        TAILQ_REMOVE(&server->logged, call, by_log);
        logged(server, call);
    }
    server_listen(server);
}

/* What waits for all records up to it waits on. */
static bool concerns(const struct server_call *call, uint64_t lsn)
{
    return call->lsn == lsn && call->wait != SERVER_WAIT_ANSWER;
}

static void unlogged(struct wio_server *server, struct server_call *call,
                     enum wio_store_result result)
{
    if (call->wait == SERVER_WAIT_COMMIT || call->wait == SERVER_WAIT_VOTE) {
        server_not_logged(server, call, result);
    } else {
        logged(server, call);
    }
}

void wio_server_unlogged(struct wio_server *server, uint64_t lsn, enum wio_store_result result,
                         uint64_t now_ns)
{
    struct server_call *call = TAILQ_FIRST(&server->logged);
    set_now(server, now_ns);
    while (call != NULL) {
        struct server_call *next = TAILQ_NEXT(call, by_log);
        if (concerns(call, lsn)) {
            TAILQ_REMOVE(&server->logged, call, by_log);
            unlogged(server, call, result);
            next = TAILQ_FIRST(&server->logged); /* the list is another one now */
        }
        call = next;
    }
    server_listen(server);
}

void wio_server_answered(struct wio_server *server, uint16_t target, const struct wio_txn *name,
                         enum wio_store_outcome outcome, uint64_t now_ns)
{
    set_now(server, now_ns);
    struct server_txn *txn = server_txn_find(server, name->client, name->number);
    bool is_asked = txn != NULL && txn->txn.attempt == name->attempt && txn->session == NULL;
    if (is_asked && target < server->config.targets && !server->has_failed) {
        server_heard(server, txn, target, outcome);
        server_listen(server);
    }
}

static uint64_t lazy_deadline_ns(const struct wio_server *server)
{
    return server->has_lazy ? server->lazy_since_ns + server->config.lease_ns / 4 : UINT64_MAX;
}

static void flush_lazy(struct wio_server *server)
{
    struct wio_backing *backing = server->config.backing;
    if (lazy_deadline_ns(server) <= server->now_ns) {
        server->lazy_since_ns = server->now_ns;
        server->has_failed |= backing->ops->flush(backing, NULL) != WIO_OK;
    }
}

void wio_server_tick(struct wio_server *server, uint64_t now_ns)
{
    struct server_session *session;
    set_now(server, now_ns);
    while ((session = TAILQ_FIRST(&server->leases)) != NULL &&
           session->lease_until_ns <= server->now_ns) {
        server_client_gone(server, session);
    }
    server_sessions_forget(server);
    if (!server->has_failed) {
        server_ask(server);
        flush_lazy(server);
    }
    server_listen(server);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t wio_server_deadline_ns(const struct wio_server *server)
{
    const struct server_session *next = TAILQ_FIRST(&server->leases);
    uint64_t lease = next != NULL ? next->lease_until_ns : UINT64_MAX;
    uint64_t locks = wio_locks_deadline_ns(server->locks);
    uint64_t asking = server->has_failed ? UINT64_MAX : server_ask_deadline_ns(server);
    uint64_t lazy = server->has_failed ? UINT64_MAX : lazy_deadline_ns(server);
    return earlier(earlier(lease, locks), earlier(asking, lazy));
}

struct wio_server_stat wio_server_stat(const struct wio_server *server)
{
    return server->stat;
}
