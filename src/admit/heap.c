/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/heap.h"

#include <stdbool.h>

#include "base/cleanup.h"

#define CHILDREN 4

enum wio_status wio_admit_heap_init(struct wio_admit_heap *heap, const struct wio_alloc *alloc,
                                    uint32_t room)
{
    *heap = (struct wio_admit_heap){.alloc = *alloc, .room = room};
    heap->nodes = wio_alloc_array(alloc, room, sizeof(*heap->nodes));
    return heap->nodes != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

void wio_admit_heap_fini(struct wio_admit_heap *heap)
{
    if (heap->nodes != NULL) {
        heap->alloc.put(heap->alloc.context, heap->nodes);
        heap->nodes = NULL;
    }
}

static bool is_before(const struct wio_admit_heap_node *a, const struct wio_admit_heap_node *b)
{
    return a->major != b->major ? a->major < b->major : a->minor < b->minor;
}

void wio_admit_heap_add(struct wio_admit_heap *heap, uint64_t major, uint64_t minor, uint32_t item)
{
    WIO_PRE(heap->count < heap->room);
    struct wio_admit_heap_node node = {major, minor, item};
    uint32_t at = heap->count++;
    while (at > 0 && is_before(&node, &heap->nodes[(at - 1) / CHILDREN])) {
        heap->nodes[at] = heap->nodes[(at - 1) / CHILDREN];
        at = (at - 1) / CHILDREN;
    }
    heap->nodes[at] = node;
}

static uint32_t least_child(const struct wio_admit_heap *heap, uint32_t at)
{
    uint32_t first = at * CHILDREN + 1;
    uint32_t least = first;
    for (uint32_t i = first + 1; i < first + CHILDREN && i < heap->count; i++) {
        if (is_before(&heap->nodes[i], &heap->nodes[least])) {
            least = i;
        }
    }
    return least;
}

uint32_t wio_admit_heap_take(struct wio_admit_heap *heap)
{
    if (heap->count == 0) {
        return WIO_NO_INDEX;
    }
    uint32_t item = heap->nodes[0].item;
    struct wio_admit_heap_node moved = heap->nodes[--heap->count];
    uint32_t at = 0;
    while ((uint64_t)at * CHILDREN + 1 < heap->count) {
        uint32_t child = least_child(heap, at);
        if (!is_before(&heap->nodes[child], &moved)) {
            break;
        }
        heap->nodes[at] = heap->nodes[child];
        at = child;
    }
    heap->nodes[at] = moved;
    return item;
}
