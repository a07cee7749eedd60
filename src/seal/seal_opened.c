/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that were open before the events that are left: R-BOUND-5. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "seal/seal_internal.h"

/* Rows of one process image. */
#define OPENED_MAX 65536u

static bool is_open(const struct wio_slot_event *event)
{
    return wio_op_class(wio_call_op(event->call)) == WIO_CLASS_OPEN && event->result >= 0;
}

static enum wio_status note_event(struct wio_seal_ring *ring, struct wio_seal_work *work,
                                  const struct wio_slot_event *event)
{
    if (event->path == 0) {
        return WIO_OK;
    }
    if (is_open(event)) {
        return wio_map_put(&ring->kept_opens, event->path, 1);
    }
    return event->fd >= 0 && work->used.hash.count < OPENED_MAX
               ? wio_map_put(&work->used, (uint64_t)event->fd << 32 | event->path, 1)
               : WIO_OK;
}

enum wio_status wio_seal_note_fds(struct wio_seal_ring *ring, struct wio_seal_work *work,
                                  const union wio_slot *slot)
{
    switch (slot->any.kind) {
    case WIO_SLOT_OPENED:
        return wio_map_put(&ring->opened, slot->text.id, (uint32_t)slot->text.lo);
    case WIO_SLOT_EVENT:
    case WIO_SLOT_EVENT_EXT:
    case WIO_SLOT_EVENT_RUN:
        return note_event(ring, work, &slot->event);
    default:
        return WIO_OK;
    }
}

/* Path ids go on along fork (R-STRING-2): the ring whose image has opened it; NULL = not here. */
static const struct wio_seal_ring *opener(const struct wio_seal *seal,
                                          const struct wio_seal_ring *ring, uint32_t path)
{
    while (path < ring->header.first_string) {
        if (ring->parent >= (uint32_t)(ring - seal->rings)) {
            return NULL;
        }
        ring = &seal->rings[ring->parent];
    }
    return ring;
}

static enum wio_status add(struct wio_seal *seal, struct wio_seal_ring *ring,
                           struct wio_seal_work *work, uint64_t key)
{
    const uint32_t path = (uint32_t)key;
    const struct wio_seal_ring *from = opener(seal, ring, path);
    const uint64_t *flags = from != NULL ? wio_map_get(&from->opened, path) : NULL;
    uint32_t id = 0;
    if (flags == NULL || wio_map_get(&from->kept_opens, path) != NULL) {
        return WIO_OK;
    }
    WIO_TRY(wio_seal_path(seal, ring, path, &id));
    void *array = work->opened;
    WIO_TRY(
        wio_grow(&array, sizeof(*work->opened), &work->opened_capacity, work->opened_count + 1));
    work->opened = array;
    work->opened[work->opened_count++] =
        (struct wio_open_fd){(int32_t)(key >> 32), id, (int32_t)*flags};
    return WIO_OK;
}

static int compare(const void *a, const void *b)
{
    const struct wio_open_fd *left = a;
    const struct wio_open_fd *right = b;
    if (left->fd != right->fd) {
        return left->fd < right->fd ? -1 : 1;
    }
    return (left->path > right->path) - (left->path < right->path);
}

enum wio_status wio_seal_find_opened(struct wio_seal *seal, struct wio_seal_ring *ring,
                                     struct wio_seal_work *work)
{
    size_t at = 0;
    const struct wio_map_entry *entry;
    while ((entry = wio_map_each(&work->used, &at)) != NULL) {
        WIO_TRY(add(seal, ring, work, entry->key));
    }
    if (work->opened_count > 1) {
        qsort(work->opened, work->opened_count, sizeof(*work->opened), compare);
    }
    return WIO_OK;
}
