/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and answers. Every call is answered once; what was answered is remembered by its number. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "store/server/server_internal.h"

struct server_call *server_call_make(struct wio_server *server, uint64_t client,
                                     const struct wio_store_request *request)
{
    struct server_call *call = TAILQ_FIRST(&server->free_calls);
    if (server->stat.calls >= server->config.calls_max) {
        return NULL;
    }
    if (call != NULL) {
        TAILQ_REMOVE(&server->free_calls, call, by_log);
        memset(call, 0, sizeof(*call));
    } else if ((call = wio_alloc_array(&server->alloc, 1, sizeof(*call))) == NULL) {
        return NULL;
    }
    call->request = *request;
    call->client = client;
    call->received_ns = server->now_ns;
    call->locked_ns = server->now_ns;
    server->stat.calls++;
    return call;
}

enum wio_status server_call_keep(struct wio_server *server, struct server_call *call)
{
    struct wio_store_request *request = &call->request;
    size_t list = request->participant_count * sizeof(*request->participants);
    size_t size = list + request->data_size;
    if (call->copy != NULL || size == 0) {
        return WIO_OK;
    }
    if (server->stat.update_bytes + size > server->config.update_bytes_max) {
        return WIO_ERR_NOMEM;
    }
    call->copy = wio_alloc_array(&server->alloc, 1, size);
    if (call->copy == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (list > 0) {
        memcpy(call->copy, request->participants, list);
        request->participants = (const uint16_t *)(const void *)call->copy;
    }
    if (request->data_size > 0) {
        memcpy(call->copy + list, request->data, request->data_size);
        request->data = call->copy + list;
    }
    server->stat.update_bytes += size;
    return WIO_OK;
}

void server_call_free(struct wio_server *server, struct server_call *call)
{
    if (call->copy != NULL) {
        server->stat.update_bytes -=
            call->request.data_size +
            call->request.participant_count * sizeof(*call->request.participants);
        server->alloc.put(server->alloc.context, call->copy);
    }
    TAILQ_INSERT_HEAD(&server->free_calls, call, by_log);
    server->stat.calls--;
}

void server_call_wait_log(struct wio_server *server, struct server_call *call,
                          enum server_wait wait, uint64_t lsn)
{
    struct wio_store_request *request = &call->request;
    if (server->config.watch != NULL) {
        server->config.watch->waits(server->config.watch_context, request, NULL, server->now_ns);
    }
    if (call->copy == NULL) { /* what was borrowed is not needed any more */
        request->data = NULL;
        request->data_size = 0;
        request->participants = NULL;
        request->participant_count = 0;
    }
    call->wait = wait;
    call->lsn = lsn;
    TAILQ_INSERT_TAIL(&server->logged, call, by_log);
}

static struct wio_store_reply reply_of(const struct wio_server *server,
                                       const struct wio_store_request *request,
                                       enum wio_store_result result)
{
    struct wio_store_reply reply = {.op = request->op,
                                    .result = (uint16_t)result,
                                    .number = request->number,
                                    .txn = request->txn,
                                    .queue_depth = server->stat.calls,
                                    .received_ns = server->now_ns,
                                    .locked_ns = server->now_ns,
                                    .done_ns = server->now_ns,
                                    .sent_ns = server->now_ns};
    return reply;
}

static void remember(struct wio_server *server, uint64_t client,
                     const struct wio_store_reply *reply)
{
    struct server_session *session = server_session_find(server, client);
    struct server_seen *seen =
        session != NULL ? &session->seen[reply->number % WIO_SERVER_WINDOW] : NULL;
    if (seen != NULL && seen->number == reply->number && reply->op != WIO_STORE_PING) {
        /* what only reads may be done again: its bytes are not kept */
        bool is_read = reply->op == WIO_STORE_READ && reply->result == WIO_STORE_OK;
        *seen = (struct server_seen){.number = is_read ? 0 : reply->number,
                                     .is_done = true,
                                     .op = reply->op,
                                     .result = reply->result,
                                     .reason = reply->reason,
                                     .outcome = reply->outcome,
                                     .txn = reply->txn,
                                     .offset = reply->offset,
                                     .size = reply->size};
    }
}

static void send(struct wio_server *server, struct server_call *call, struct wio_store_reply *reply)
{
    reply->received_ns = call->received_ns;
    reply->locked_ns = call->locked_ns;
    reply->outcome = call->outcome;
    reply->offset = call->offset;
    reply->size = call->size;
    if (reply->blockers.count == 0) {
        reply->blockers = call->blockers;
    }
    remember(server, call->client, reply);
    if (server->config.watch != NULL) {
        server->config.watch->answered(server->config.watch_context, &call->request, reply,
                                       call->lsn != 0);
    }
    server->config.ops->reply(server->config.context, call->client, reply);
    server_call_free(server, call);
}

void server_answer(struct wio_server *server, struct server_call *call,
                   enum wio_store_result result)
{
    struct wio_store_reply reply = reply_of(server, &call->request, result);
    send(server, call, &reply);
}

void server_answer_data(struct wio_server *server, struct server_call *call, const uint8_t *data,
                        uint32_t size)
{
    struct wio_store_reply reply = reply_of(server, &call->request, WIO_STORE_OK);
    reply.data = data;
    reply.data_size = size;
    send(server, call, &reply);
}

void server_answer_refused(struct wio_server *server, struct server_call *call,
                           enum wio_lock_reason reason, const struct wio_lock_blockers *blockers)
{
    bool is_full = reason == WIO_LOCK_REASON_LIMIT;
    struct wio_store_reply reply =
        reply_of(server, &call->request, is_full ? WIO_STORE_BUSY : WIO_STORE_REFUSED);
    reply.reason = (uint16_t)reason;
    reply.blockers = *blockers;
    server->stat.refusals++;
    send(server, call, &reply);
}

void server_answer_space(struct wio_server *server, struct server_call *call)
{
    struct wio_backing *backing = server->config.backing;
    struct wio_backing_space space = {0, 0};
    enum wio_status status = backing->ops->space(backing, &space, NULL);
    struct wio_store_reply reply =
        reply_of(server, &call->request, status == WIO_OK ? WIO_STORE_OK : WIO_STORE_IO);
    reply.stat.size = space.total_bytes;
    reply.stat.used = space.used_bytes;
    send(server, call, &reply);
}

void server_answer_early(struct wio_server *server, uint64_t client,
                         const struct wio_store_request *request, enum wio_store_result result)
{
    struct wio_store_reply reply = reply_of(server, request, result);
    remember(server, client, &reply);
    server->config.ops->reply(server->config.context, client, &reply);
}

void server_answer_again(struct wio_server *server, uint64_t client, const struct server_seen *seen)
{
    struct wio_store_request request = {.op = seen->op, .number = seen->number, .txn = seen->txn};
    struct wio_store_reply reply = reply_of(server, &request, (enum wio_store_result)seen->result);
    reply.reason = seen->reason;
    reply.outcome = seen->outcome;
    reply.offset = seen->offset;
    reply.size = seen->size;
    server->config.ops->reply(server->config.context, client, &reply);
}

enum wio_store_result server_result_of(enum wio_status status, const struct wio_error *err)
{
    switch (status) {
    case WIO_OK:
        return WIO_STORE_OK;
    case WIO_ERR_BUSY:
        return WIO_STORE_TOO_BIG;
    case WIO_ERR_NOMEM:
        return WIO_STORE_BUSY;
    case WIO_ERR_USAGE:
        return WIO_STORE_BAD;
    case WIO_END:
    case WIO_ERR_IO:
    case WIO_ERR_FORMAT:
    case WIO_ERR_TRUNCATED:
    case WIO_ERR_UNSUPPORTED:
    case WIO_ERR_INTERNAL:
        break;
    }
    if (err != NULL && (err->sys_errno == ENOSPC || err->sys_errno == EDQUOT)) {
        return WIO_STORE_NO_SPACE;
    }
    return err != NULL && err->sys_errno == EFBIG ? WIO_STORE_TOO_BIG : WIO_STORE_IO;
}
