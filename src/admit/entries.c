/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/entries.h"

enum wio_status wio_entries_init(struct wio_entries *entries, const struct wio_alloc *alloc,
                                 uint32_t room)
{
    *entries = (struct wio_entries){.alloc = *alloc, .room = room, .free = WIO_NO_INDEX};
    entries->items = wio_alloc_array(alloc, room, sizeof(*entries->items));
    return entries->items != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

void wio_entries_fini(struct wio_entries *entries)
{
    if (entries->items != NULL) {
        entries->alloc.put(entries->alloc.context, entries->items);
        entries->items = NULL;
    }
}

uint32_t wio_entries_take(struct wio_entries *entries)
{
    uint32_t entry = entries->free;
    if (entry != WIO_NO_INDEX) {
        entries->free = entries->items[entry].next;
    } else if (entries->fresh < entries->room) {
        entry = entries->fresh++;
    } else {
        return WIO_NO_INDEX;
    }
    struct wio_admit_entry *item = &entries->items[entry];
    item->generation++;
    item->state = WIO_ENTRY_WAITING;
    return entry;
}

void wio_entries_give(struct wio_entries *entries, uint32_t entry)
{
    struct wio_admit_entry *item = &entries->items[entry];
    item->state = WIO_ENTRY_FREE;
    item->next = entries->free;
    entries->free = entry;
}

uint64_t wio_entries_handle(const struct wio_entries *entries, uint32_t entry)
{
    return (uint64_t)entries->items[entry].generation << 32 | entry;
}

uint32_t wio_entries_find(const struct wio_entries *entries, uint64_t handle)
{
    uint32_t entry = (uint32_t)handle;
    if (entry >= entries->fresh || entries->items[entry].state == WIO_ENTRY_FREE ||
        entries->items[entry].generation != handle >> 32) {
        return WIO_NO_INDEX;
    }
    return entry;
}

void wio_entry_append(struct wio_entries *entries, struct wio_entry_list *list, uint32_t entry)
{
    entries->items[entry].next = WIO_NO_INDEX;
    if (list->head == WIO_NO_INDEX) {
        list->head = entry;
    } else {
        entries->items[list->tail].next = entry;
    }
    list->tail = entry;
}

uint32_t wio_entry_shift(struct wio_entries *entries, struct wio_entry_list *list)
{
    uint32_t entry = list->head;
    if (entry != WIO_NO_INDEX) {
        list->head = entries->items[entry].next;
        if (list->head == WIO_NO_INDEX) {
            list->tail = WIO_NO_INDEX;
        }
    }
    return entry;
}
