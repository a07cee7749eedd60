/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

#define ROOM_FIRST 16

void *wio_alloc_array(const struct wio_alloc *alloc, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count > 0 ? count : 1, size, &bytes)) {
        return NULL;
    }
    return alloc->get(alloc->context, bytes);
}

enum wio_status wio_alloc_room(const struct wio_alloc *alloc, void **array, size_t *room,
                               size_t need, size_t size)
{
    if (need <= *room) {
        return WIO_OK;
    }
    size_t more = *room > 0 ? *room : ROOM_FIRST;
    while (more < need) {
        if (__builtin_mul_overflow(more, (size_t)2, &more)) {
            return WIO_ERR_NOMEM;
        }
    }
    void *grown = wio_alloc_array(alloc, more, size);
    if (grown == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (*room > 0) {
        memcpy(grown, *array, *room * size);
    }
    alloc->put(alloc->context, *array);
    *array = grown;
    *room = more;
    return WIO_OK;
}

struct order {
    uint64_t (*key)(const void *context, uint32_t item);
    const void *context;
};

/* Merge from[a, b) and from[b, end) into `to`. */
static void merge(const uint32_t *from, uint32_t *to, const size_t bounds[3],
                  const struct order *order)
{
    size_t a = bounds[0];
    size_t b = bounds[1];
    for (size_t out = bounds[0]; out < bounds[2]; out++) {
        bool left = b == bounds[2] || (a < bounds[1] && order->key(order->context, from[a]) <=
                                                            order->key(order->context, from[b]));
        to[out] = left ? from[a++] : from[b++];
    }
}

static bool is_sorted(const uint32_t *items, size_t count, const struct order *order)
{
    for (size_t i = 1; i < count; i++) {
        if (order->key(order->context, items[i - 1]) > order->key(order->context, items[i])) {
            return false;
        }
    }
    return true;
}

void wio_stable_sort(uint32_t *items, uint32_t *scratch, size_t count,
                     uint64_t (*key)(const void *context, uint32_t item), const void *context)
{
    struct order order = {key, context};
    if (is_sorted(items, count, &order)) {
        return;
    }
    uint32_t *from = items;
    uint32_t *to = scratch;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t a = 0; a < count; a += 2 * width) {
            size_t b = count - a > width ? a + width : count;
            size_t end = count - a > 2 * width ? a + 2 * width : count;
            merge(from, to, (const size_t[3]){a, b, end}, &order);
        }
        uint32_t *other = from;
        from = to;
        to = other;
    }
    if (from != items) {
        memcpy(items, from, count * sizeof(*items));
    }
}
