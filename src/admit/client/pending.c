/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/client/pending.h"

#include "base/cleanup.h"

void wio_pending_init(struct wio_admit_pending *pending, const struct wio_alloc *alloc)
{
    *pending = (struct wio_admit_pending){
        .alloc = *alloc, .free = WIO_NO_INDEX, .first = WIO_NO_INDEX, .last = WIO_NO_INDEX};
}

void wio_pending_fini(struct wio_admit_pending *pending)
{
    pending->alloc.put(pending->alloc.context, pending->items);
    pending->alloc.put(pending->alloc.context, pending->timers);
}

static uint64_t timer_at(const struct wio_admit_pending *pending, uint32_t at)
{
    return pending->items[pending->timers[at]].timer_ns;
}

static void place(struct wio_admit_pending *pending, uint32_t at, uint32_t item)
{
    pending->timers[at] = item;
    pending->items[item].at = at;
}

static void rise(struct wio_admit_pending *pending, uint32_t at)
{
    uint32_t item = pending->timers[at];
    uint64_t timer_ns = pending->items[item].timer_ns;
    while (at > 0 && timer_ns < timer_at(pending, (at - 1) / 2)) {
        place(pending, at, pending->timers[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(pending, at, item);
}

static void sink(struct wio_admit_pending *pending, uint32_t at)
{
    uint32_t item = pending->timers[at];
    uint64_t timer_ns = pending->items[item].timer_ns;
    for (uint32_t child = 2 * at + 1; child < pending->count; child = 2 * at + 1) {
        if (child + 1 < pending->count && timer_at(pending, child + 1) < timer_at(pending, child)) {
            child++;
        }
        if (timer_at(pending, child) >= timer_ns) {
            break;
        }
        place(pending, at, pending->timers[child]);
        at = child;
    }
    place(pending, at, item);
}

static enum wio_status take_item(struct wio_admit_pending *pending, uint32_t *item_out)
{
    if (pending->free != WIO_NO_INDEX) {
        *item_out = pending->free;
        pending->free = pending->items[*item_out].after;
        return WIO_OK;
    }
    void *items = pending->items;
    size_t need = (size_t)pending->used + 1;
    enum wio_status status =
        wio_alloc_room(&pending->alloc, &items, &pending->room, need, sizeof(*pending->items));
    pending->items = items;
    WIO_TRY(status);
    void *timers = pending->timers;
    status = wio_alloc_room(&pending->alloc, &timers, &pending->timers_room, need,
                            sizeof(*pending->timers));
    pending->timers = timers;
    WIO_TRY(status);
    *item_out = pending->used++;
    return WIO_OK;
}

enum wio_status wio_pending_add(struct wio_admit_pending *pending, uint64_t timer_ns,
                                uint32_t *item_out)
{
    WIO_TRY(take_item(pending, item_out));
    struct wio_pending_request *item = &pending->items[*item_out];
    *item = (struct wio_pending_request){.generation = item->generation + 1,
                                         .timer_ns = timer_ns,
                                         .before = WIO_NO_INDEX,
                                         .after = WIO_NO_INDEX};
    pending->timers[pending->count] = *item_out;
    rise(pending, pending->count++);
    return WIO_OK;
}

void wio_pending_unready(struct wio_admit_pending *pending, uint32_t index)
{
    struct wio_pending_request *item = &pending->items[index];
    if (item->before != WIO_NO_INDEX) {
        pending->items[item->before].after = item->after;
    } else {
        pending->first = item->after;
    }
    if (item->after != WIO_NO_INDEX) {
        pending->items[item->after].before = item->before;
    } else {
        pending->last = item->before;
    }
    pending->ready--;
}

void wio_pending_make_ready(struct wio_admit_pending *pending, uint32_t index, bool is_first)
{
    struct wio_pending_request *item = &pending->items[index];
    item->state = WIO_PENDING_READY;
    item->before = is_first ? WIO_NO_INDEX : pending->last;
    item->after = is_first ? pending->first : WIO_NO_INDEX;
    if (item->before != WIO_NO_INDEX) {
        pending->items[item->before].after = index;
    } else {
        pending->first = index;
    }
    if (item->after != WIO_NO_INDEX) {
        pending->items[item->after].before = index;
    } else {
        pending->last = index;
    }
    pending->ready++;
}

void wio_pending_remove(struct wio_admit_pending *pending, uint32_t index)
{
    struct wio_pending_request *item = &pending->items[index];
    if (item->state == WIO_PENDING_READY) {
        wio_pending_unready(pending, index);
    }
    uint32_t at = item->at;
    uint32_t moved = pending->timers[--pending->count];
    if (moved != index) {
        place(pending, at, moved);
        rise(pending, at);
        sink(pending, pending->items[moved].at);
    }
    item->state = WIO_PENDING_FREE;
    item->after = pending->free;
    pending->free = index;
}

void wio_pending_set_timer(struct wio_admit_pending *pending, uint32_t item, uint64_t timer_ns)
{
    pending->items[item].timer_ns = timer_ns;
    rise(pending, pending->items[item].at);
    sink(pending, pending->items[item].at);
}

uint64_t wio_pending_number(const struct wio_admit_pending *pending, uint32_t item)
{
    return (uint64_t)pending->items[item].generation << 32 | item;
}

uint32_t wio_pending_find(const struct wio_admit_pending *pending, uint64_t number)
{
    uint32_t item = (uint32_t)number;
    bool is_there = item < pending->used && pending->items[item].state != WIO_PENDING_FREE &&
                    pending->items[item].generation == number >> 32;
    return is_there ? item : WIO_NO_INDEX;
}
