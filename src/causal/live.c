/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/live.h"

#include "base/cleanup.h"

#define ROOM_FIRST 32

void wio_live_init(struct wio_live *live, const struct wio_alloc *alloc)
{
    *live = (struct wio_live){.alloc = *alloc};
}

void wio_live_fini(struct wio_live *live)
{
    live->alloc.put(live->alloc.context, live->entries);
    *live = (struct wio_live){.alloc = live->alloc};
}

static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

static size_t home(const struct wio_live *live, uint64_t a, uint64_t b)
{
    return mix(mix(a + 0x9e3779b97f4a7c15u) + b) & (live->room - 1);
}

/* Where the key is, or the free place where it would be. */
static size_t place(const struct wio_live *live, uint64_t a, uint64_t b)
{
    size_t i = home(live, a, b);
    while (live->entries[i].is_used &&
           (live->entries[i].key[0] != a || live->entries[i].key[1] != b)) {
        i = (i + 1) & (live->room - 1);
    }
    return i;
}

static enum wio_status grow(struct wio_live *live)
{
    struct wio_live old = *live;
    live->room = old.room > 0 ? old.room * 2 : ROOM_FIRST;
    live->entries = wio_causal_array(&live->alloc, live->room, sizeof(*live->entries));
    if (live->entries == NULL) {
        *live = old;
        return WIO_ERR_NOMEM;
    }
    for (size_t i = 0; i < old.room; i++) {
        if (old.entries[i].is_used) {
            live->entries[place(live, old.entries[i].key[0], old.entries[i].key[1])] =
                old.entries[i];
        }
    }
    live->alloc.put(live->alloc.context, old.entries);
    return WIO_OK;
}

uint32_t wio_live_get(const struct wio_live *live, uint64_t a, uint64_t b)
{
    if (live->count == 0) {
        return WIO_CAUSAL_NONE;
    }
    const struct wio_live_entry *entry = &live->entries[place(live, a, b)];
    return entry->is_used ? entry->value : WIO_CAUSAL_NONE;
}

enum wio_status wio_live_put(struct wio_live *live, uint64_t a, uint64_t b, uint32_t value)
{
    if ((live->count + 1) * 2 > live->room) {
        WIO_TRY(grow(live));
    }
    struct wio_live_entry *entry = &live->entries[place(live, a, b)];
    live->count += entry->is_used ? 0 : 1;
    *entry = (struct wio_live_entry){{a, b}, value, true};
    return WIO_OK;
}

/* What stands behind the gap moves up, unless that is before its home. */
void wio_live_remove(struct wio_live *live, uint64_t a, uint64_t b)
{
    if (live->count == 0) {
        return;
    }
    size_t mask = live->room - 1;
    size_t gap = place(live, a, b);
    if (!live->entries[gap].is_used) {
        return;
    }
    live->count--;
    live->entries[gap].is_used = false;
    for (size_t i = (gap + 1) & mask; live->entries[i].is_used; i = (i + 1) & mask) {
        size_t at = home(live, live->entries[i].key[0], live->entries[i].key[1]);
        if (((i - at) & mask) >= ((i - gap) & mask)) {
            live->entries[gap] = live->entries[i];
            live->entries[i].is_used = false;
            gap = i;
        }
    }
}
