/* SPDX-License-Identifier: Apache-2.0 */
/* Edges and members by thread and operation. */
#include "base/cleanup.h"
#include "causal/order/order_internal.h"

bool wio_order_key(const struct wio_order_keys *keys, enum wio_order_reason reason, uint32_t item,
                   struct wio_point *point_out)
{
    if (reason == WIO_ORDER_IN || reason == WIO_ORDER_OUT) {
        const struct wio_edge *edge = &keys->edges->edges[item];
        *point_out = reason == WIO_ORDER_IN ? (struct wio_point){edge->to_op, edge->to_thread}
                                            : (struct wio_point){edge->from_op, edge->from_thread};
        return (keys->classes & WIO_EDGE_BIT(edge->class)) != 0;
    }
    const struct wio_member *member = &keys->edges->members[item];
    bool enters = reason == WIO_ORDER_ENTER;
    *point_out = (struct wio_point){enters ? member->enter_op : member->leave_op, member->thread};
    return enters ? member->gives : member->takes;
}

static size_t item_count(const struct wio_order_keys *keys, enum wio_order_reason reason)
{
    if (reason == WIO_ORDER_IN || reason == WIO_ORDER_OUT) {
        return keys->edges->edge_count;
    }
    return (keys->classes & WIO_EDGE_BIT(WIO_EDGE_COLLECTIVE)) != 0 ? keys->edges->member_count : 0;
}

struct sort_context {
    const struct wio_order_keys *keys;
    enum wio_order_reason reason;
};

static uint64_t op_of(const void *context, uint32_t item)
{
    const struct sort_context *sort = context;
    struct wio_point point;
    (void)wio_order_key(sort->keys, sort->reason, item, &point);
    return point.op;
}

/* Counting sort by thread; items keep their order within one. */
static void group(struct wio_order_index *index, const struct wio_order_keys *keys,
                  enum wio_order_reason reason, size_t count)
{
    struct wio_point point = {0};
    uint32_t threads = keys->edges->threads;
    for (uint32_t i = 0; i < count; i++) {
        index->start[point.thread + 1] += wio_order_key(keys, reason, i, &point) ? 1 : 0;
    }
    for (uint32_t t = 0; t < threads; t++) {
        index->start[t + 1] += index->start[t];
    }
    for (size_t i = count; i-- > 0;) {
        if (wio_order_key(keys, reason, (uint32_t)i, &point)) {
            index->items[--index->start[point.thread + 1]] = (uint32_t)i;
        }
    }
    /* Now start[t + 1] is where t begins: shift down. */
    for (uint32_t t = 0; t < threads; t++) {
        index->start[t] = index->start[t + 1];
    }
}

enum wio_status wio_order_index_init(struct wio_order_index *index,
                                     const struct wio_order_keys *keys,
                                     enum wio_order_reason reason)
{
    const struct wio_alloc *alloc = &keys->edges->alloc;
    size_t count = item_count(keys, reason);
    uint32_t threads = keys->edges->threads;
    index->start = wio_alloc_array(alloc, (size_t)threads + 1, sizeof(*index->start));
    index->items = wio_alloc_array(alloc, count, sizeof(*index->items));
    uint32_t *scratch = wio_alloc_array(alloc, count, sizeof(*scratch));
    if (index->start == NULL || index->items == NULL || scratch == NULL) {
        alloc->put(alloc->context, scratch);
        return WIO_ERR_NOMEM;
    }
    size_t total = 0;
    struct wio_point point;
    for (uint32_t i = 0; i < count; i++) {
        total += wio_order_key(keys, reason, i, &point) ? 1 : 0;
    }
    group(index, keys, reason, count);
    index->start[threads] = total;
    struct sort_context context = {keys, reason};
    for (uint32_t t = 0; t < threads; t++) {
        wio_stable_sort(&index->items[index->start[t]], scratch,
                        index->start[t + 1] - index->start[t], op_of, &context);
    }
    alloc->put(alloc->context, scratch);
    return WIO_OK;
}

void wio_order_index_fini(struct wio_order_index *index, const struct wio_alloc *alloc)
{
    alloc->put(alloc->context, index->start);
    alloc->put(alloc->context, index->items);
}
