/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/order/annotate.h"

#include "base/cleanup.h"
#include "causal/order/order_internal.h"

struct wio_annotation {
    struct wio_alloc alloc;
    struct wio_order_keys keys;
    struct wio_order_index index[WIO_ORDER_REASON_COUNT];
    uint32_t *collective_of; /* per member */
};

void wio_annotated_steps_fini(struct wio_annotated_steps *steps)
{
    steps->alloc.put(steps->alloc.context, steps->items);
    *steps = (struct wio_annotated_steps){.alloc = steps->alloc};
}

void wio_annotation_destroy(struct wio_annotation *annotation)
{
    if (annotation == NULL) {
        return;
    }
    struct wio_alloc alloc = annotation->alloc;
    for (unsigned r = 0; r < WIO_ORDER_REASON_COUNT; r++) {
        wio_order_index_fini(&annotation->index[r], &alloc);
    }
    alloc.put(alloc.context, annotation->collective_of);
    alloc.put(alloc.context, annotation);
}

static enum wio_status init(struct wio_annotation *annotation)
{
    const struct wio_edges *edges = annotation->keys.edges;
    for (unsigned r = 0; r < WIO_ORDER_REASON_COUNT; r++) {
        WIO_TRY(wio_order_index_init(&annotation->index[r], &annotation->keys,
                                     (enum wio_order_reason)r));
    }
    annotation->collective_of = wio_alloc_array(&annotation->alloc, edges->member_count,
                                                sizeof(*annotation->collective_of));
    if (annotation->collective_of == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (size_t c = 0; c < edges->collective_count; c++) {
        for (size_t i = 0; i < edges->collectives[c].count; i++) {
            annotation->collective_of[edges->collectives[c].first + i] = (uint32_t)c;
        }
    }
    return WIO_OK;
}

enum wio_status wio_annotation_create(const struct wio_edges *edges,
                                      struct wio_annotation **annotation_out)
{
    const struct wio_alloc *alloc = &edges->alloc;
    struct wio_annotation *annotation = alloc->get(alloc->context, sizeof(*annotation));
    if (annotation == NULL) {
        return WIO_ERR_NOMEM;
    }
    annotation->alloc = *alloc;
    annotation->keys = (struct wio_order_keys){edges, WIO_EDGE_ALL};
    enum wio_status status = init(annotation);
    if (status != WIO_OK) {
        wio_annotation_destroy(annotation);
        return status;
    }
    *annotation_out = annotation;
    return WIO_OK;
}

/* One thread being written down. */
struct thread_writer {
    const struct wio_annotation *annotation;
    const struct wio_thread_calls *calls;
    struct wio_annotated_steps *steps;
    enum wio_compute_mode mode;
    size_t next[WIO_ORDER_REASON_COUNT];
    uint64_t free_ns; /* since when the thread is in no call */
};

static enum wio_status append(struct thread_writer *w, const struct wio_annotated_step *step)
{
    WIO_TRY(wio_alloc_room(&w->steps->alloc, (void **)&w->steps->items, &w->steps->room,
                           w->steps->count + 1, sizeof(*step)));
    w->steps->items[w->steps->count++] = *step;
    return WIO_OK;
}

static struct wio_annotated_step step_of(const struct thread_writer *w,
                                         enum wio_order_reason reason, uint32_t item)
{
    const struct wio_edges *edges = w->annotation->keys.edges;
    if (reason == WIO_ORDER_IN || reason == WIO_ORDER_OUT) {
        const struct wio_edge *edge = &edges->edges[item];
        bool in = reason == WIO_ORDER_IN;
        return (struct wio_annotated_step){.kind = in ? WIO_STEP_WAIT : WIO_STEP_SIGNAL,
                                           .op = in ? edge->to_op : edge->from_op,
                                           .peer = in ? edge->from_thread : edge->to_thread,
                                           .peer_op = in ? edge->from_op : edge->to_op,
                                           .class = edge->class};
    }
    const struct wio_member *member = &edges->members[item];
    bool enters = reason == WIO_ORDER_ENTER;
    return (struct wio_annotated_step){.kind = enters ? WIO_STEP_ENTER : WIO_STEP_LEAVE,
                                       .op = enters ? member->enter_op : member->leave_op,
                                       .peer = w->annotation->collective_of[item],
                                       .class = WIO_EDGE_COLLECTIVE};
}

/* The steps of one reason at operation `op`. */
static enum wio_status append_reason(struct thread_writer *w, enum wio_order_reason reason,
                                     uint64_t op)
{
    const struct wio_order_index *index = &w->annotation->index[reason];
    while (w->next[reason] < index->start[w->calls->thread + 1]) {
        struct wio_annotated_step step = step_of(w, reason, index->items[w->next[reason]]);
        if (step.op != op) {
            break;
        }
        WIO_TRY(append(w, &step));
        w->next[reason]++;
    }
    return WIO_OK;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static enum wio_status append_compute(struct thread_writer *w, uint64_t op, uint64_t wall_ns)
{
    if (wall_ns == 0) {
        return WIO_OK;
    }
    return append(
        w, &(struct wio_annotated_step){.kind = WIO_STEP_COMPUTE, .op = op, .wall_ns = wall_ns});
}

/* The calls from `op` up to the next I/O are one gap: its time goes before the first of them. */
static enum wio_status append_gap(struct thread_writer *w, uint64_t op)
{
    uint64_t free_ns = w->free_ns;
    uint64_t wall_ns = 0;
    const struct wio_call_times *call = &w->calls->life;
    bool at_end = false;
    for (uint64_t i = op; !at_end; i++) {
        at_end = i == w->calls->count;
        call = at_end ? &w->calls->life : &w->calls->calls[i];
        uint64_t until_ns = at_end ? call->end_ns : call->begin_ns;
        wall_ns += less(until_ns, free_ns);
        if (at_end || call->is_io) {
            break;
        }
        /* A call that is no I/O counts as computing, unless it blocked and that is left out. */
        bool counts = w->mode == WIO_COMPUTE_THINK || !call->can_block;
        uint64_t from_ns = free_ns > call->begin_ns ? free_ns : call->begin_ns;
        wall_ns += counts ? less(call->end_ns, from_ns) : 0;
        free_ns = call->end_ns > free_ns ? call->end_ns : free_ns;
    }
    return append_compute(w, op, wall_ns);
}

/* In order: what was computed right before this call, and in it if it cannot block. */
static enum wio_status append_segment(struct thread_writer *w, uint64_t op)
{
    const struct wio_call_times *call = &w->calls->calls[op];
    bool counts = !call->is_io && !call->can_block;
    uint64_t until_ns = counts ? call->end_ns : call->begin_ns;
    return append_compute(w, op, less(until_ns, w->free_ns));
}

static enum wio_status append_call(struct thread_writer *w, uint64_t op)
{
    const struct wio_call_times *call = &w->calls->calls[op];
    bool begins_gap = op == 0 || w->calls->calls[op - 1].is_io;
    if (w->mode == WIO_COMPUTE_SEGMENTS) {
        WIO_TRY(append_segment(w, op));
    } else if (begins_gap) {
        WIO_TRY(append_gap(w, op));
    }
    WIO_TRY(append_reason(w, WIO_ORDER_ENTER, op));
    WIO_TRY(append_reason(w, WIO_ORDER_IN, op));
    WIO_TRY(append_reason(w, WIO_ORDER_LEAVE, op));
    if (call->is_io) {
        WIO_TRY(append(w, &(struct wio_annotated_step){.kind = WIO_STEP_OPERATION, .op = op}));
    }
    w->free_ns = call->end_ns > w->free_ns ? call->end_ns : w->free_ns;
    return append_reason(w, WIO_ORDER_OUT, op);
}

/* After the last call; a gap that began before it has been written down already. */
static enum wio_status append_end(struct thread_writer *w)
{
    const struct wio_thread_calls *calls = w->calls;
    bool begins_gap = calls->count == 0 || calls->calls[calls->count - 1].is_io;
    if (w->mode != WIO_COMPUTE_SEGMENTS && !begins_gap) {
        return WIO_OK;
    }
    return append_compute(w, calls->count, less(calls->life.end_ns, w->free_ns));
}

enum wio_status wio_annotate(const struct wio_annotation *annotation,
                             const struct wio_thread_calls *calls, enum wio_compute_mode mode,
                             struct wio_annotated_steps *steps)
{
    if (calls->thread >= annotation->keys.edges->threads) {
        return WIO_ERR_USAGE;
    }
    struct thread_writer w = {.annotation = annotation,
                              .calls = calls,
                              .steps = steps,
                              .mode = mode,
                              .free_ns = calls->life.begin_ns};
    for (unsigned r = 0; r < WIO_ORDER_REASON_COUNT; r++) {
        w.next[r] = annotation->index[r].start[calls->thread];
    }
    for (uint64_t op = 0; op < calls->count; op++) {
        WIO_TRY(append_call(&w, op));
    }
    WIO_TRY(append_end(&w));
    for (unsigned r = 0; r < WIO_ORDER_REASON_COUNT; r++) {
        if (w.next[r] != annotation->index[r].start[calls->thread + 1]) {
            return WIO_ERR_USAGE;
        }
    }
    return WIO_OK;
}
