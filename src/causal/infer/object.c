/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that edges are about: found by name, made anew where a name is used again. */
#include <string.h>

#include "causal/infer/infer_internal.h"
#include "causal/infer/name.h"

static uint64_t key_of(const struct wio_infer_object *object)
{
    return (uint64_t)object->kind << 32 | object->place;
}

/* Of each kind that has a part: how large it is, and how many lists stand first in it. */
static const struct {
    size_t bytes;
    unsigned lists;
} part_kinds[WIO_INFER_KIND_COUNT] = {
    [WIO_INFER_PIPE] = {sizeof(struct wio_infer_pipe), 3},
    [WIO_INFER_SOCKET] = {sizeof(struct wio_infer_socket), 2},
    [WIO_INFER_EVENTFD] = {sizeof(struct wio_infer_eventfd), 1},
    [WIO_INFER_RECORD_LOCK] = {sizeof(struct wio_infer_record_lock), 1},
    [WIO_INFER_CONDITION] = {sizeof(struct wio_infer_wakes), 2},
    [WIO_INFER_FUTEX] = {sizeof(struct wio_infer_wakes), 2},
    [WIO_INFER_BARRIER] = {sizeof(struct wio_infer_barrier), 0},
    [WIO_INFER_SEMAPHORE] = {sizeof(struct wio_infer_semaphore), 3},
};

static void *part_at(const struct wio_infer *infer, enum wio_infer_kind kind, uint32_t part)
{
    return infer->objects.parts[kind].items + part * part_kinds[kind].bytes;
}

static enum wio_status new_part(struct wio_infer *infer, enum wio_infer_kind kind,
                                uint32_t *part_out)
{
    struct wio_infer_parts *parts = &infer->objects.parts[kind];
    *part_out = 0;
    if (part_kinds[kind].bytes == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&parts->items, &parts->room,
                           (size_t)parts->count + 1, part_kinds[kind].bytes));
    struct wio_infer_list *lists = part_at(infer, kind, parts->count);
    memset(lists, 0, part_kinds[kind].bytes);
    for (unsigned i = 0; i < part_kinds[kind].lists; i++) {
        lists[i] = wio_infer_empty;
    }
    *part_out = parts->count++;
    return WIO_OK;
}

enum wio_status wio_infer_objects_init(struct wio_infer *infer)
{
    wio_pair_map_init(&infer->objects.of, &infer->alloc);
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->objects.items, &infer->objects.room, 1,
                           sizeof(*infer->objects.items)));
    infer->objects.items[infer->objects.count++] = (struct wio_infer_state){0};
    return WIO_OK;
}

void wio_infer_objects_fini(struct wio_infer *infer)
{
    wio_pair_map_fini(&infer->objects.of);
    for (uint32_t i = 0; i < infer->objects.parts[WIO_INFER_RECORD_LOCK].count; i++) {
        const struct wio_infer_record_lock *lock = part_at(infer, WIO_INFER_RECORD_LOCK, i);
        wio_ranges_destroy(lock->released);
    }
    for (unsigned kind = 0; kind < WIO_INFER_KIND_COUNT; kind++) {
        infer->alloc.put(infer->alloc.context, infer->objects.parts[kind].items);
    }
    infer->alloc.put(infer->alloc.context, infer->objects.items);
}

enum wio_status wio_infer_new_object(struct wio_infer *infer, struct wio_infer_object object,
                                     uint32_t *number_out)
{
    WIO_TRY(wio_alloc_room(&infer->alloc, (void **)&infer->objects.items, &infer->objects.room,
                           (size_t)infer->objects.count + 1, sizeof(*infer->objects.items)));
    uint32_t part;
    WIO_TRY(new_part(infer, object.kind, &part));
    uint32_t number = infer->objects.count++;
    infer->objects.items[number] = (struct wio_infer_state){.object = object, .part = part};
    *number_out = number;
    return wio_pair_map_put(&infer->objects.of, key_of(&object), object.id, number);
}

enum wio_status wio_infer_find_object(struct wio_infer *infer, struct wio_infer_object object,
                                      uint32_t *number_out)
{
    *number_out = wio_pair_map_get(&infer->objects.of, key_of(&object), object.id);
    return *number_out != WIO_INFER_NONE ? WIO_OK : wio_infer_new_object(infer, object, number_out);
}

struct wio_infer_object wio_infer_memory_name(const struct wio_infer *infer,
                                              const struct wio_event *event,
                                              enum wio_infer_kind kind, int64_t id)
{
    /* R-SYNC-1: an id with bit 63 is that of all processes of the host */
    uint32_t image = wio_infer_stream(infer, event)->process;
    uint32_t place = id < 0 ? wio_infer_host(infer, event) : image;
    return (struct wio_infer_object){.kind = kind, .id = (uint64_t)id, .place = place};
}

enum wio_status wio_infer_memory_object(struct wio_infer *infer, const struct wio_event *event,
                                        enum wio_infer_kind kind, int64_t id, uint32_t *number_out)
{
    return wio_infer_find_object(infer, wio_infer_memory_name(infer, event, kind, id), number_out);
}

void wio_infer_forget_object(struct wio_infer *infer, struct wio_infer_object object)
{
    wio_pair_map_remove(&infer->objects.of, key_of(&object), object.id);
}

enum wio_status wio_infer_channel_behind(struct wio_infer *infer, const struct wio_event *event,
                                         int32_t fd, uint32_t path, uint32_t *object_out)
{
    static const enum wio_infer_kind kinds[] = {
        [WIO_INFER_PATH_PIPE] = WIO_INFER_PIPE,
        [WIO_INFER_PATH_FIFO] = WIO_INFER_PIPE,
        [WIO_INFER_PATH_SOCKET] = WIO_INFER_SOCKET,
        [WIO_INFER_PATH_EVENTFD] = WIO_INFER_EVENTFD,
    };
    enum wio_infer_path kind = wio_infer_path_kind(infer, path);
    *object_out = 0;
    if (kind == WIO_INFER_PATH_OTHER || kind >= WIO_INFER_PATH_SIGNALFD) {
        return WIO_OK;
    }
    bool is_fifo = kind == WIO_INFER_PATH_FIFO;
    struct wio_infer_object object = {
        .kind = kinds[kind], .id = path, .place = wio_infer_host(infer, event)};
    if (is_fifo) {
        WIO_TRY(wio_infer_opened(infer, event, fd, path, &object.id));
    }
    if (is_fifo &&
        wio_pair_map_get(&infer->objects.of, key_of(&object), object.id) == WIO_INFER_NONE &&
        !infer->params.is_fifo(infer->params.context, wio_infer_real(infer, path, true))) {
        return WIO_OK; /* another file that has this name just now */
    }
    return wio_infer_find_object(infer, object, object_out);
}

enum wio_status wio_infer_channel(struct wio_infer *infer, const struct wio_event *event,
                                  uint32_t path, uint32_t *object_out)
{
    return wio_infer_channel_behind(infer, event, WIO_NO_FD, path, object_out);
}

enum wio_status wio_infer_lock_object(struct wio_infer *infer, const struct wio_event *event,
                                      enum wio_infer_kind kind, uint32_t *object_out)
{
    uint64_t file;
    WIO_TRY(wio_infer_opened(infer, event, event->fd, event->path, &file));
    return wio_infer_find_object(infer, (struct wio_infer_object){.kind = kind, .id = file},
                                 object_out);
}

void wio_infer_note_giver(struct wio_infer_state *state, uint32_t thread)
{
    bool is_other = state->has_giver && state->giver != thread;
    state->is_shared = state->is_shared || (is_other && state->object.kind == WIO_INFER_SEMAPHORE);
    state->has_giver = true;
    state->giver = thread;
}

void wio_infer_note_taker(struct wio_infer_state *state, uint32_t thread)
{
    state->is_shared = state->is_shared || (state->has_taker && state->taker != thread);
    state->has_taker = true;
    state->taker = thread;
}

uint32_t wio_infer_object_count(const struct wio_infer *infer)
{
    return infer->objects.count - 1;
}

struct wio_infer_object wio_infer_object(const struct wio_infer *infer, uint32_t object)
{
    WIO_PRE(object > 0 && object < infer->objects.count);
    struct wio_infer_object found = infer->objects.items[object].object;
    if (found.kind <= WIO_INFER_RECORD_LOCK) { /* without what tells files apart */
        found.id = wio_infer_name_string(infer, (uint32_t)found.id);
    }
    return found;
}
