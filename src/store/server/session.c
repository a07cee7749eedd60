/* SPDX-License-Identifier: Apache-2.0 */
/* Clients: leases, and what is remembered of each. */
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "store/server/server_internal.h"

/* Longer than others ask how a transaction ended: PATIENCE of inquire.c. */
#define KEPT_LEASES 8

static int compare_clients(const struct server_session *a, const struct server_session *b)
{
    return (a->peer.client > b->peer.client) - (a->peer.client < b->peer.client);
}

RB_GENERATE_STATIC(server_sessions, server_session, by_client, compare_clients)

struct server_session *server_session_find(const struct wio_server *server, uint64_t client)
{
    struct server_sessions sessions = server->sessions;
    struct server_session key = {.peer = {.client = client}};
    return RB_FIND(server_sessions, &sessions, &key);
}

enum wio_status server_session_make(struct wio_server *server, const struct wio_store_peer *peer,
                                    struct server_session **session_out)
{
    if (server->stat.clients == server->config.clients_max) {
        return WIO_ERR_BUSY;
    }
    struct server_session *session = wio_alloc_array(&server->alloc, 1, sizeof(*session));
    if (session == NULL) {
        return WIO_ERR_NOMEM;
    }
    session->peer = *peer;
    TAILQ_INIT(&session->txns);
    RB_INSERT(server_sessions, &server->sessions, session);
    TAILQ_INSERT_TAIL(&server->leases, session, by_lease);
    session->lease_until_ns = server->now_ns + server->config.lease_ns;
    server->stat.clients++;
    *session_out = session;
    return WIO_OK;
}

/* Out of the list that it is in. */
static void leave(struct wio_server *server, struct server_session *session)
{
    if (session->is_ended) {
        TAILQ_REMOVE(&server->ended, session, by_lease);
        server->ended_count--;
    } else {
        TAILQ_REMOVE(&server->leases, session, by_lease);
        server->stat.clients--;
    }
}

void server_session_free(struct wio_server *server, struct server_session *session)
{
    leave(server, session);
    wio_locks_release(server->advisory, session->advisory);
    RB_REMOVE(server_sessions, &server->sessions, session);
    server->alloc.put(server->alloc.context, session);
}

void server_session_end(struct wio_server *server, struct server_session *session)
{
    leave(server, session);
    wio_locks_release(server->advisory, session->advisory);
    session->advisory = NULL;
    memset(session->seen, 0, sizeof(session->seen));
    session->is_ended = true;
    session->lease_until_ns = server->now_ns + KEPT_LEASES * server->config.lease_ns;
    TAILQ_INSERT_TAIL(&server->ended, session, by_lease);
    server->ended_count++;
    if (server->ended_count > server->config.clients_max) {
        server_session_free(server, TAILQ_FIRST(&server->ended));
    }
}

enum wio_status server_session_revive(struct wio_server *server, struct server_session *session)
{
    if (server->stat.clients == server->config.clients_max) {
        return WIO_ERR_BUSY;
    }
    leave(server, session);
    session->is_ended = false;
    session->lease_until_ns = server->now_ns + server->config.lease_ns;
    TAILQ_INSERT_TAIL(&server->leases, session, by_lease);
    server->stat.clients++;
    return WIO_OK;
}

void server_sessions_forget(struct wio_server *server)
{
    struct server_session *session;
    while ((session = TAILQ_FIRST(&server->ended)) != NULL &&
           session->lease_until_ns <= server->now_ns) {
        server_session_free(server, session);
    }
}

void server_session_renew(struct wio_server *server, struct server_session *session)
{
    TAILQ_REMOVE(&server->leases, session, by_lease);
    session->lease_until_ns = server->now_ns + server->config.lease_ns;
    TAILQ_INSERT_TAIL(&server->leases, session, by_lease);
}

void server_past_add(struct server_session *session, const struct wio_txn *txn,
                     enum wio_store_outcome outcome)
{
    struct server_past *past = &session->past[session->past_next++ % WIO_SERVER_WINDOW];
    *past = (struct server_past){txn->number, txn->attempt, (uint8_t)outcome};
    session->past_newest = txn->number > session->past_newest ? txn->number : session->past_newest;
}

enum wio_store_outcome server_past_find(const struct server_session *session,
                                        const struct wio_txn *txn)
{
    enum wio_store_outcome outcome = WIO_STORE_OUTCOME_UNKNOWN;
    if (session == NULL || txn->number > session->past_newest) {
        return outcome;
    }
    for (uint32_t i = 0; i < WIO_SERVER_WINDOW; i++) {
        const struct server_past *past = &session->past[i];
        if (past->number != txn->number || past->number == 0 || past->attempt < txn->attempt) {
            continue;
        }
        if (past->attempt == txn->attempt) {
            return (enum wio_store_outcome)past->outcome;
        }
        outcome = WIO_STORE_OUTCOME_ABORTED;
    }
    return outcome;
}
