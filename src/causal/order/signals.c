/* SPDX-License-Identifier: Apache-2.0 */
/* //TRACE's removal of redundant SIGNAL and WAIT pairs. */
#include "causal/order/signals.h"
#include "base/cleanup.h"
#include "causal/order/order_internal.h"

/* Mark all but the latest of each source thread among items[0, count), which end in one wait. */
static size_t mark(const struct wio_edges *edges, const uint32_t *items, size_t count,
                   uint32_t *best, bool *drop)
{
    size_t dropped = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *seen = &best[edges->edges[items[i]].from_thread];
        if (*seen == 0) {
            *seen = items[i] + 1;
            continue;
        }
        bool later = edges->edges[items[i]].from_op > edges->edges[*seen - 1].from_op;
        drop[later ? *seen - 1 : items[i]] = true;
        dropped++;
        *seen = later ? items[i] + 1 : *seen;
    }
    for (size_t i = 0; i < count; i++) {
        best[edges->edges[items[i]].from_thread] = 0;
    }
    return dropped;
}

static size_t mark_all(const struct wio_edges *edges, const struct wio_order_index *index,
                       uint32_t *best, bool *drop)
{
    size_t dropped = 0;
    for (uint32_t t = 0; t < edges->threads; t++) {
        size_t end;
        for (size_t i = index->start[t]; i < index->start[t + 1]; i = end) {
            uint64_t op = edges->edges[index->items[i]].to_op;
            for (end = i; end < index->start[t + 1]; end++) {
                if (edges->edges[index->items[end]].to_op != op) {
                    break;
                }
            }
            dropped += mark(edges, &index->items[i], end - i, best, drop);
        }
    }
    return dropped;
}

enum wio_status wio_edges_drop_repeated_signals(struct wio_edges *edges, size_t *dropped_out)
{
    const struct wio_alloc *alloc = &edges->alloc;
    struct wio_order_keys keys = {edges, WIO_EDGE_BIT(WIO_EDGE_HARD)};
    struct wio_order_index index = {0};
    bool *drop = wio_alloc_array(alloc, edges->edge_count, sizeof(*drop));
    uint32_t *best = wio_alloc_array(alloc, edges->threads, sizeof(*best));
    enum wio_status status = drop == NULL || best == NULL
                                 ? WIO_ERR_NOMEM
                                 : wio_order_index_init(&index, &keys, WIO_ORDER_IN);
    if (status == WIO_OK) {
        size_t dropped = mark_all(edges, &index, best, drop);
        wio_edges_compact(edges, drop);
        if (dropped_out != NULL) {
            *dropped_out = dropped;
        }
    }
    wio_order_index_fini(&index, alloc);
    alloc->put(alloc->context, drop);
    alloc->put(alloc->context, best);
    return status;
}
