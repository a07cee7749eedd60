/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations, and the locks that they need.
 *
 * Beside its bytes a segment has a size, which is locked by itself, or a read that met the end
 * could not be repeated: what sees the size locks it shared, a truncation exclusively. Writes
 * behind the end make the size the greater of two, in any order the same: they lock it for
 * increment, so that many may append at once.
 */
#include <string.h>

#include "base/cleanup.h"
#include "store/server/server_internal.h"

#define OFFSET_MAX (UINT64_C(1) << 62)

static uint64_t bytes_of(const struct wio_store_request *request)
{
    return request->op == WIO_STORE_WRITE ? request->data_size : request->size;
}

bool server_request_is_sound(const struct wio_store_request *request)
{
    uint64_t bytes = bytes_of(request);
    if (request->segment >= WIO_STORE_SEGMENTS_MAX || bytes > OFFSET_MAX ||
        request->data_size > WIO_STORE_DATA_MAX) {
        return false;
    }
    bool is_increment = (request->flags & WIO_STORE_FLAG_INCREMENT) != 0;
    bool is_last = (request->flags & (WIO_STORE_FLAG_PREPARE | WIO_STORE_FLAG_COMMIT)) != 0;
    switch (request->op) {
    case WIO_STORE_READ:
        return bytes <= WIO_STORE_DATA_MAX && request->offset <= OFFSET_MAX - bytes && !is_last;
    case WIO_STORE_WRITE:
        return request->offset <= OFFSET_MAX - bytes && (!is_increment || bytes == 8);
    case WIO_STORE_SIZE:
        return !is_last;
    case WIO_STORE_POINTER:
        return request->whence <= WIO_STORE_WHENCE_ADD;
    case WIO_STORE_LOCK:
        return request->mode < WIO_LOCK_MODES && request->offset <= OFFSET_MAX && bytes > 0;
    case WIO_STORE_UNLOCK:
        return request->offset <= OFFSET_MAX && bytes > 0;
    default:
        return true;
    }
}

static void lock_bytes(const struct wio_store_request *request, struct wio_lock_request *lock_out)
{
    struct wio_lock_range *range = &lock_out->range;
    *range = (struct wio_lock_range){request->file, request->segment, request->offset, 0};
    switch (request->op) {
    case WIO_STORE_POINTER:
        range->segment = WIO_STORE_LOCK_POINTER;
        range->from = request->group;
        range->to = range->from + 1;
        break;
    case WIO_STORE_TRUNCATE:
        range->from = request->size;
        range->to = UINT64_MAX;
        break;
    case WIO_STORE_DROP:
        range->from = 0;
        range->to = UINT64_MAX;
        break;
    default: /* READ, WRITE; none for SIZE */
        range->to = request->offset + bytes_of(request);
        break;
    }
    lock_out->mode = request->op == WIO_STORE_READ ? WIO_LOCK_SHARED : WIO_LOCK_EXCLUSIVE;
}

/* False: the operation has nothing to do with the size. */
static bool lock_size(struct wio_server *server, const struct server_call *call,
                      struct wio_lock_request *lock_out, enum wio_status *status_out)
{
    const struct wio_store_request *request = &call->request;
    struct wio_backing *backing = server->config.backing;
    lock_out->range =
        (struct wio_lock_range){request->file, request->segment | WIO_STORE_LOCK_SIZE, 0, 1};
    if (request->op != WIO_STORE_READ && request->op != WIO_STORE_WRITE) {
        lock_out->mode = request->op == WIO_STORE_SIZE ? WIO_LOCK_SHARED : WIO_LOCK_EXCLUSIVE;
        return request->op != WIO_STORE_POINTER;
    }
    uint64_t size = 0;
    lock_out->mode = request->op == WIO_STORE_READ ? WIO_LOCK_SHARED : WIO_LOCK_INCREMENT;
    *status_out = backing->ops->size(backing, request->file, request->segment, &size, NULL);
    return request->offset + bytes_of(request) > size;
}

bool server_lock_needed(struct wio_server *server, const struct server_call *call,
                        struct wio_lock_request *lock_out, enum wio_status *status_out)
{
    const struct wio_store_request *request = &call->request;
    *status_out = WIO_OK;
    *lock_out = (struct wio_lock_request){.is_try = (request->flags & WIO_STORE_FLAG_REJECT) != 0,
                                          .source = request->source,
                                          .tag = (uint64_t)(uintptr_t)call};
    bool is_data = request->op == WIO_STORE_READ || request->op == WIO_STORE_WRITE;
    if (request->op == WIO_STORE_PREPARE || (is_data && bytes_of(request) == 0)) {
        return false;
    }
    if (call->stage == 0 && request->op != WIO_STORE_SIZE) {
        lock_bytes(request, lock_out);
        return true;
    }
    return call->stage <= 1 && lock_size(server, call, lock_out, status_out);
}

/* It is applied before the request is answered, and so while its data are there. */
static bool is_applied_at_once(const struct wio_store_request *request)
{
    return (request->flags & (WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_COMMIT)) != 0 &&
           (request->flags & WIO_STORE_FLAG_STABLE) == 0;
}

static enum wio_store_result add_update(struct wio_server *server, struct server_call *call,
                                        const struct wio_update *update)
{
    struct wio_backing *backing = server->config.backing;
    struct server_updates *updates = &call->txn->updates;
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t reserved = 0;
    if (update->kind == WIO_UPDATE_WRITE || update->kind == WIO_UPDATE_TRUNCATE) {
        enum wio_status status = backing->ops->reserve(backing, update, &reserved, &err);
        if (status != WIO_OK) {
            return server_result_of(status, &err);
        }
    }
    updates->reserved += reserved;
    bool is_lent = update->data != NULL && update->data == call->request.data &&
                   is_applied_at_once(&call->request);
    return server_result_of(server_update_add(server, updates, update, is_lent), NULL);
}

static uint64_t little_endian(const uint8_t bytes[8])
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) {
        value = value << 8 | bytes[i];
    }
    return value;
}

/* The sum is what is written: the lock is exclusive. */
static enum wio_status sum(struct wio_server *server, struct server_call *call, uint8_t bytes[8])
{
    size_t got = 0;
    memset(bytes, 0, 8);
    WIO_TRY(server_view_read(server, &call->txn->updates, &call->request, call->request.offset,
                             bytes, 8, &got));
    memset(bytes + got, 0, 8 - got);
    call->offset = little_endian(bytes);
    uint64_t value = call->offset + little_endian(call->request.data);
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    return WIO_OK;
}

static enum wio_store_result do_write(struct wio_server *server, struct server_call *call)
{
    const struct wio_store_request *request = &call->request;
    uint8_t bytes[8];
    struct wio_update update = {.kind = WIO_UPDATE_WRITE,
                                .file = request->file,
                                .segment = request->segment,
                                .offset = request->offset,
                                .size = request->data_size,
                                .data = request->data};
    call->size = request->data_size;
    if (request->data_size == 0) {
        return WIO_STORE_OK;
    }
    if ((request->flags & WIO_STORE_FLAG_INCREMENT) != 0) {
        enum wio_status status = sum(server, call, bytes);
        if (status != WIO_OK) {
            return server_result_of(status, NULL);
        }
        update.data = bytes;
    }
    return add_update(server, call, &update);
}

static enum wio_store_result do_truncate(struct wio_server *server, struct server_call *call)
{
    const struct wio_store_request *request = &call->request;
    bool is_drop = request->op == WIO_STORE_DROP;
    struct wio_update update = {.kind = is_drop ? WIO_UPDATE_DROP : WIO_UPDATE_TRUNCATE,
                                .file = request->file,
                                .segment = request->segment,
                                .size = is_drop ? 0 : request->size};
    return add_update(server, call, &update);
}

static enum wio_store_result do_pointer(struct wio_server *server, struct server_call *call)
{
    const struct wio_store_request *request = &call->request;
    enum wio_status status = server_pointer_make(server, request->file, request->group);
    if (status != WIO_OK) {
        return WIO_STORE_BUSY;
    }
    call->offset = server_view_pointer(server, &call->txn->updates, request->file, request->group);
    bool is_add = request->whence == WIO_STORE_WHENCE_ADD;
    call->size = is_add ? call->offset + request->offset : request->offset;
    struct wio_update update = {.kind = WIO_UPDATE_POINTER,
                                .file = request->file,
                                .segment = request->group,
                                .offset = call->size};
    return call->size == call->offset ? WIO_STORE_OK : add_update(server, call, &update);
}

static enum wio_store_result do_read(struct wio_server *server, struct server_call *call)
{
    const struct wio_store_request *request = &call->request;
    size_t got = 0;
    enum wio_status status =
        request->size == 0 ? WIO_OK
                           : server_view_read(server, &call->txn->updates, request, request->offset,
                                              server->scratch, request->size, &got);
    call->size = got;
    return server_result_of(status, NULL);
}

static enum wio_store_result do_size(struct wio_server *server, struct server_call *call)
{
    return server_result_of(server_view_size(server, &call->txn->updates, call->request.file,
                                             call->request.segment, &call->size),
                            NULL);
}

enum wio_store_result server_perform(struct wio_server *server, struct server_call *call)
{
    switch (call->request.op) {
    case WIO_STORE_READ:
        return do_read(server, call);
    case WIO_STORE_WRITE:
        return do_write(server, call);
    case WIO_STORE_TRUNCATE:
    case WIO_STORE_DROP:
        return do_truncate(server, call);
    case WIO_STORE_SIZE:
        return do_size(server, call);
    case WIO_STORE_POINTER:
        return do_pointer(server, call);
    default: /* PREPARE */
        return WIO_STORE_OK;
    }
}
