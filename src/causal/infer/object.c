/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that edges are about: found by name, made anew where a name is used again. */
#include "causal/infer/infer_internal.h"
#include "causal/infer/name.h"

static uint64_t key_of(const struct wio_feed_object *object)
{
    return (uint64_t)object->kind << 32 | object->place;
}

enum wio_status wio_feed_new_object(struct wio_feed *feed, struct wio_feed_object object,
                                    uint32_t *number_out)
{
    WIO_TRY(wio_alloc_room(&feed->alloc, (void **)&feed->objects, &feed->object_room,
                           (size_t)feed->object_count + 1, sizeof(*feed->objects)));
    uint32_t number = feed->object_count++;
    feed->objects[number] = (struct wio_feed_state){.object = object,
                                                    .list = wio_feed_empty,
                                                    .more = wio_feed_empty,
                                                    .openings = wio_feed_empty};
    *number_out = number;
    return wio_pair_map_put(&feed->object_of, key_of(&object), object.id, number);
}

enum wio_status wio_feed_find_object(struct wio_feed *feed, struct wio_feed_object object,
                                     uint32_t *number_out)
{
    *number_out = wio_pair_map_get(&feed->object_of, key_of(&object), object.id);
    return *number_out != WIO_FEED_NONE ? WIO_OK : wio_feed_new_object(feed, object, number_out);
}

struct wio_feed_object wio_feed_memory_name(const struct wio_feed *feed,
                                            const struct wio_event *event, enum wio_feed_kind kind,
                                            int64_t id)
{
    /* R-SYNC-1: an id with bit 63 is that of all processes of the host */
    uint32_t image = wio_feed_stream(feed, event)->process;
    uint32_t place = id < 0 ? wio_feed_host(feed, event) : image;
    return (struct wio_feed_object){.kind = kind, .id = (uint64_t)id, .place = place};
}

enum wio_status wio_feed_memory_object(struct wio_feed *feed, const struct wio_event *event,
                                       enum wio_feed_kind kind, int64_t id, uint32_t *number_out)
{
    return wio_feed_find_object(feed, wio_feed_memory_name(feed, event, kind, id), number_out);
}

void wio_feed_forget_object(struct wio_feed *feed, struct wio_feed_object object)
{
    wio_pair_map_remove(&feed->object_of, key_of(&object), object.id);
}

enum wio_status wio_feed_channel_behind(struct wio_feed *feed, const struct wio_event *event,
                                        int32_t fd, uint32_t path, uint32_t *object_out)
{
    static const enum wio_feed_kind kinds[] = {
        [WIO_FEED_PATH_PIPE] = WIO_FEED_PIPE,
        [WIO_FEED_PATH_FIFO] = WIO_FEED_PIPE,
        [WIO_FEED_PATH_SOCKET] = WIO_FEED_SOCKET,
        [WIO_FEED_PATH_EVENTFD] = WIO_FEED_EVENTFD,
    };
    enum wio_feed_path kind = wio_feed_path_kind(feed, path);
    *object_out = 0;
    if (kind == WIO_FEED_PATH_OTHER || kind >= WIO_FEED_PATH_SIGNALFD) {
        return WIO_OK;
    }
    bool is_fifo = kind == WIO_FEED_PATH_FIFO;
    struct wio_feed_object object = {
        .kind = kinds[kind], .id = path, .place = wio_feed_host(feed, event)};
    if (is_fifo) {
        WIO_TRY(wio_feed_opened(feed, event, fd, path, &object.id));
    }
    if (is_fifo &&
        wio_pair_map_get(&feed->object_of, key_of(&object), object.id) == WIO_FEED_NONE &&
        !feed->params.is_fifo(feed->params.context, wio_feed_real(feed, path, true))) {
        return WIO_OK; /* another file that has this name just now */
    }
    return wio_feed_find_object(feed, object, object_out);
}

enum wio_status wio_feed_channel(struct wio_feed *feed, const struct wio_event *event,
                                 uint32_t path, uint32_t *object_out)
{
    return wio_feed_channel_behind(feed, event, WIO_NO_FD, path, object_out);
}

enum wio_status wio_feed_lock_object(struct wio_feed *feed, const struct wio_event *event,
                                     enum wio_feed_kind kind, uint32_t *object_out)
{
    uint64_t file;
    WIO_TRY(wio_feed_opened(feed, event, event->fd, event->path, &file));
    return wio_feed_find_object(feed, (struct wio_feed_object){.kind = kind, .id = file},
                                object_out);
}

void wio_feed_note_giver(struct wio_feed_state *state, uint32_t thread)
{
    bool is_other = state->has_giver && state->giver != thread;
    state->is_shared = state->is_shared || (is_other && state->object.kind == WIO_FEED_SEMAPHORE);
    state->has_giver = true;
    state->giver = thread;
}

void wio_feed_note_taker(struct wio_feed_state *state, uint32_t thread)
{
    state->is_shared = state->is_shared || (state->has_taker && state->taker != thread);
    state->has_taker = true;
    state->taker = thread;
}

uint32_t wio_feed_object_count(const struct wio_feed *feed)
{
    return feed->object_count - 1;
}

struct wio_feed_object wio_feed_object(const struct wio_feed *feed, uint32_t object)
{
    WIO_PRE(object > 0 && object < feed->object_count);
    struct wio_feed_object found = feed->objects[object].object;
    if (found.kind <= WIO_FEED_RECORD_LOCK) { /* without what tells files apart */
        found.id = wio_feed_name_string(feed, (uint32_t)found.id);
    }
    return found;
}
