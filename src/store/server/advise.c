/* SPDX-License-Identifier: Apache-2.0 */
/* Advisory locks of clients: outside transactions, as long as the lease. */
#include "base/cleanup.h"
#include "store/server/server_internal.h"

static enum wio_status advisory_owner(struct wio_server *server, struct server_session *session)
{
    struct wio_txn txn = {.client = session->peer.client, .number = 1, .attempt = 1};
    if (session->advisory != NULL) {
        return WIO_OK;
    }
    return wio_locks_begin(server->advisory, &txn, session->peer.job, session, &session->advisory);
}

/* As fcntl(2): a lock takes the place of what the client has there. */
static void do_lock(struct wio_server *server, struct server_session *session,
                    struct server_call *call)
{
    const struct wio_store_request *request = &call->request;
    struct wio_lock_request lock = {.range = {request->file, request->segment, request->offset,
                                              request->offset + request->size},
                                    .mode = (enum wio_lock_mode)request->mode,
                                    .source = request->source};
    struct wio_lock_answer answer = {WIO_LOCK_GRANTED, WIO_LOCK_REASON_NONE, {0}};
    enum wio_status status = advisory_owner(server, session);
    if (status == WIO_OK) {
        wio_locks_explain(server->advisory, session->advisory, &lock.range, lock.mode,
                          &answer.blockers);
        if (answer.blockers.count > 0) {
            server_answer_refused(server, call, WIO_LOCK_REASON_CONFLICT, &answer.blockers);
            return;
        }
        status = wio_locks_unlock(server->advisory, session->advisory, &lock.range);
    }
    if (status == WIO_OK) {
        status =
            wio_locks_acquire(server->advisory, session->advisory, &lock, server->now_ns, &answer);
    }
    if (status == WIO_OK && answer.outcome == WIO_LOCK_REFUSED) {
        server_answer_refused(server, call, answer.reason, &answer.blockers);
    } else {
        server_answer(server, call, server_result_of(status, NULL));
    }
}

static void do_unlock(struct wio_server *server, struct server_session *session,
                      struct server_call *call)
{
    const struct wio_store_request *request = &call->request;
    struct wio_lock_range range = {request->file, request->segment, request->offset,
                                   request->offset + request->size};
    enum wio_status status = session->advisory == NULL
                                 ? WIO_OK
                                 : wio_locks_unlock(server->advisory, session->advisory, &range);
    server_answer(server, call, server_result_of(status, NULL));
}

void server_advise(struct wio_server *server, struct server_session *session,
                   struct server_call *call)
{
    if (!server_request_is_sound(&call->request)) {
        server_answer(server, call, WIO_STORE_BAD);
    } else if (call->request.op == WIO_STORE_LOCK) {
        do_lock(server, session, call);
    } else {
        do_unlock(server, session, call);
    }
}
