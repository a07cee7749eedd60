/* SPDX-License-Identifier: Apache-2.0 */
/* Deferred updates: kept in order until the transaction commits; what it reads is what is committed
 * with these on top. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "store/server/server_internal.h"

#define POINTERS_MAX 65536u

static int compare_pointers(const struct server_pointer *a, const struct server_pointer *b)
{
    if (a->file != b->file) {
        return a->file < b->file ? -1 : 1;
    }
    return (a->group > b->group) - (a->group < b->group);
}

RB_GENERATE_STATIC(server_pointers, server_pointer, by_name, compare_pointers)

static enum wio_status check_room(const struct wio_server *server,
                                  const struct server_updates *updates, uint64_t bytes)
{
    if (updates->bytes + bytes > server->config.txn_bytes_max) {
        return WIO_ERR_BUSY;
    }
    return server->stat.update_bytes + bytes > server->config.update_bytes_max ? WIO_ERR_NOMEM
                                                                               : WIO_OK;
}

/* Each update costs some memory, whatever its data. */
static uint64_t cost_of(const struct wio_update *update)
{
    return sizeof(*update) + (update->kind == WIO_UPDATE_WRITE ? update->size : 0);
}

static enum wio_status copy_data(struct wio_server *server, struct wio_update *update)
{
    const struct wio_alloc *alloc = &server->alloc;
    uint8_t *data = wio_alloc_array(alloc, 1, update->size);
    if (data == NULL) {
        return WIO_ERR_NOMEM;
    }
    memcpy(data, update->data, update->size);
    update->data = data;
    return WIO_OK;
}

enum wio_status server_update_add(struct wio_server *server, struct server_updates *updates,
                                  const struct wio_update *update, bool is_lent)
{
    const struct wio_alloc *alloc = &server->alloc;
    uint64_t cost = cost_of(update);
    WIO_TRY(check_room(server, updates, cost));
    void *list = updates->list;
    enum wio_status status =
        wio_alloc_room(alloc, &list, &updates->room, updates->count + 1u, sizeof(*update));
    updates->list = list;
    WIO_TRY(status);
    struct wio_update copy = *update;
    if (update->kind == WIO_UPDATE_WRITE && !is_lent) {
        WIO_TRY(copy_data(server, &copy));
    }
    updates->list[updates->count++] = copy;
    updates->is_last_lent = is_lent;
    updates->bytes += cost;
    server->stat.update_bytes += cost;
    return WIO_OK;
}

void server_updates_drop(struct wio_server *server, struct server_updates *updates)
{
    const struct wio_alloc *alloc = &server->alloc;
    for (uint32_t i = 0; i + updates->is_last_lent < updates->count; i++) {
        if (updates->list[i].kind == WIO_UPDATE_WRITE) {
            /* the copy that server_update_add made */
            alloc->put(alloc->context, (void *)(uintptr_t)updates->list[i].data);
        }
    }
    alloc->put(alloc->context, updates->list);
    server->stat.update_bytes -= updates->bytes;
    if (updates->reserved > 0) {
        server->config.backing->ops->release(server->config.backing, updates->reserved);
    }
    memset(updates, 0, sizeof(*updates));
}

static uint64_t size_after(const struct wio_update *update, uint64_t size)
{
    uint64_t end = update->offset + update->size;
    switch (update->kind) {
    case WIO_UPDATE_WRITE:
        return end > size ? end : size;
    case WIO_UPDATE_TRUNCATE:
        return update->size;
    case WIO_UPDATE_DROP:
        return 0;
    case WIO_UPDATE_POINTER:
        break;
    }
    return size;
}

static bool concerns(const struct wio_update *update, uint64_t file, uint32_t segment)
{
    return update->kind != WIO_UPDATE_POINTER && update->file == file && update->segment == segment;
}

enum wio_status server_view_size(struct wio_server *server, const struct server_updates *updates,
                                 uint64_t file, uint32_t segment, uint64_t *bytes_out)
{
    struct wio_backing *backing = server->config.backing;
    WIO_TRY(backing->ops->size(backing, file, segment, bytes_out, NULL));
    for (uint32_t i = 0; i < updates->count; i++) {
        if (concerns(&updates->list[i], file, segment)) {
            *bytes_out = size_after(&updates->list[i], *bytes_out);
        }
    }
    return WIO_OK;
}

/* The part of `data`, which is at `offset`, that lies in [from, to) of the segment. */
static uint8_t *part(uint8_t *data, uint64_t offset, size_t size, uint64_t *from, uint64_t *to)
{
    *from = *from > offset ? *from : offset;
    *to = *to < offset + size ? *to : offset + size;
    return *from < *to ? data + (*from - offset) : NULL;
}

static void lay_over(const struct wio_update *update, uint8_t *data, uint64_t offset, size_t size)
{
    uint64_t from = update->offset;
    uint64_t to = update->offset + update->size;
    if (update->kind == WIO_UPDATE_WRITE) {
        uint8_t *place = part(data, offset, size, &from, &to);
        if (place != NULL) {
            memcpy(place, update->data + (from - update->offset), to - from);
        }
        return;
    }
    from = update->kind == WIO_UPDATE_DROP ? 0 : update->size;
    to = UINT64_MAX;
    uint8_t *place = part(data, offset, size, &from, &to);
    if (place != NULL) {
        memset(place, 0, to - from);
    }
}

enum wio_status server_view_read(struct wio_server *server, const struct server_updates *updates,
                                 const struct wio_store_request *at, uint64_t offset, uint8_t *data,
                                 size_t size, size_t *got_out)
{
    struct wio_backing *backing = server->config.backing;
    size_t got = 0;
    WIO_TRY(backing->ops->read(backing, at->file, at->segment, offset, data, size, &got, NULL));
    *got_out = got;
    if (updates->count == 0) {
        return WIO_OK;
    }
    uint64_t end;
    memset(data + got, 0, size - got);
    for (uint32_t i = 0; i < updates->count; i++) {
        if (concerns(&updates->list[i], at->file, at->segment)) {
            lay_over(&updates->list[i], data, offset, size);
        }
    }
    WIO_TRY(server_view_size(server, updates, at->file, at->segment, &end));
    uint64_t left = end > offset ? end - offset : 0;
    *got_out = left < size ? (size_t)left : size;
    return WIO_OK;
}

static struct server_pointer *find_pointer(const struct wio_server *server, uint64_t file,
                                           uint32_t group)
{
    struct server_pointers pointers = server->pointers;
    struct server_pointer key = {.file = file, .group = group};
    return RB_FIND(server_pointers, &pointers, &key);
}

uint64_t server_view_pointer(const struct wio_server *server, const struct server_updates *updates,
                             uint64_t file, uint32_t group)
{
    for (uint32_t i = updates->count; i-- > 0;) {
        const struct wio_update *update = &updates->list[i];
        if (update->kind == WIO_UPDATE_POINTER && update->file == file &&
            update->segment == group) {
            return update->offset;
        }
    }
    const struct server_pointer *pointer = find_pointer(server, file, group);
    return pointer != NULL ? pointer->value : 0;
}

enum wio_status server_pointer_make(struct wio_server *server, uint64_t file, uint32_t group)
{
    if (find_pointer(server, file, group) != NULL) {
        return WIO_OK;
    }
    if (server->pointer_count == POINTERS_MAX) {
        return WIO_ERR_BUSY;
    }
    struct server_pointer *pointer = wio_alloc_array(&server->alloc, 1, sizeof(*pointer));
    if (pointer == NULL) {
        return WIO_ERR_NOMEM;
    }
    pointer->file = file;
    pointer->group = group;
    RB_INSERT(server_pointers, &server->pointers, pointer);
    server->pointer_count++;
    return WIO_OK;
}

static void remove_pointer(struct wio_server *server, struct server_pointer *pointer)
{
    RB_REMOVE(server_pointers, &server->pointers, pointer);
    server->alloc.put(server->alloc.context, pointer);
    server->pointer_count--;
}

/* Pointers go with the first segment of their file. */
static void drop_pointers(struct wio_server *server, const struct wio_update *update)
{
    struct server_pointer key = {.file = update->file, .group = 0};
    struct server_pointer *pointer = RB_NFIND(server_pointers, &server->pointers, &key);
    while (pointer != NULL && pointer->file == update->file && update->segment == 0) {
        struct server_pointer *next = RB_NEXT(server_pointers, &server->pointers, pointer);
        remove_pointer(server, pointer);
        pointer = next;
    }
}

void server_pointers_free(struct wio_server *server)
{
    struct server_pointer *pointer;
    while ((pointer = RB_ROOT(&server->pointers)) != NULL) {
        remove_pointer(server, pointer);
    }
}

static void apply_pointer(struct wio_server *server, const struct wio_update *update)
{
    if (update->kind == WIO_UPDATE_DROP) {
        drop_pointers(server, update);
    } else if (update->kind == WIO_UPDATE_POINTER) {
        struct server_pointer *pointer = find_pointer(server, update->file, update->segment);
        if (pointer != NULL) {
            pointer->value = update->offset;
        }
    }
}

enum wio_status server_updates_apply(struct wio_server *server, const struct wio_update *list,
                                     uint32_t count, bool is_logged)
{
    struct wio_backing *backing = server->config.backing;
    enum wio_status status =
        count > 0 ? backing->ops->apply(backing, list, count, is_logged, NULL) : WIO_OK;
    if (status != WIO_OK) {
        server->has_failed = true;
        return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        apply_pointer(server, &list[i]);
    }
    return WIO_OK;
}
