/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each I/O would begin if each node worked as fast as in the run that throttled it, and waited
 * for what the edges say. One pass over all I/Os, each thread as far as it can go.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "causal/order/order.h"
#include "edges/edges_internal.h"
#include "throttle/merge/merge_internal.h"

/* One I/O of a node on the node's own time line. */
struct io {
    uint64_t begin_ns;
    uint64_t dur_ns;
};

struct node_ios {
    struct io *ios;
    size_t count;
    uint64_t birth_ns; /* in the first run */
    uint64_t done;     /* I/Os whose shift is known */
    size_t next_edge;  /* of those that end in I/Os from `done` on */
};

struct timer {
    struct wio_merge *merge;
    struct node_ios *lines; /* per node */
    uint32_t *edges_in;     /* by (to_thread, to_op) */
};

static void timer_fini(struct timer *timer)
{
    for (uint32_t n = 0; timer->lines != NULL && n < timer->merge->nodes; n++) {
        free(timer->lines[n].ios);
    }
    free(timer->lines);
    free(timer->edges_in);
}

/* The I/Os of all nodes whose events are from this run. */
static enum wio_status read_run(struct timer *timer, uint32_t r, struct wio_error *err)
{
    const struct wio_merge_run *run = &timer->merge->runs[r];
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event;
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .columns = WIO_COLUMN_TIME | WIO_COLUMN_FLAGS};
    WIO_TRY(wio_cursor_create(run->trace, &filter, &cursor, err));
    enum wio_status status;
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        uint32_t n = run->node_of[event->stream];
        struct node_ios *line = &timer->lines[n];
        if (!wio_run_op_counts(event) || timer->merge->source[n] != r || line->ios == NULL) {
            continue;
        }
        uint64_t begin_ns = wio_merge_unheld(&run->holds[n], event->t_ns);
        uint64_t end_ns = wio_merge_unheld(&run->holds[n], event->t_ns + event->dur_ns);
        line->ios[line->count++] = (struct io){begin_ns - run->birth_ns[n], end_ns - begin_ns};
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

static int compare_edges(const void *a, const void *b, void *context)
{
    const struct wio_edges *edges = context;
    const struct wio_edge *x = &edges->edges[*(const uint32_t *)a];
    const struct wio_edge *y = &edges->edges[*(const uint32_t *)b];
    if (x->to_thread != y->to_thread) {
        return x->to_thread < y->to_thread ? -1 : 1;
    }
    return (x->to_op > y->to_op) - (x->to_op < y->to_op);
}

static enum wio_status sort_edges(struct timer *timer, struct wio_error *err)
{
    struct wio_edges *edges = &timer->merge->edges;
    timer->edges_in = calloc(edges->edge_count + 1, sizeof(*timer->edges_in));
    if (timer->edges_in == NULL) {
        return wio_merge_no_memory(err);
    }
    for (size_t i = 0; i < edges->edge_count; i++) {
        timer->edges_in[i] = (uint32_t)i;
    }
    qsort_r(timer->edges_in, edges->edge_count, sizeof(*timer->edges_in), compare_edges, edges);
    for (size_t i = edges->edge_count; i-- > 0;) {
        timer->lines[edges->edges[timer->edges_in[i]].to_thread].next_edge = i;
    }
    return WIO_OK;
}

static uint64_t end_of(const struct timer *timer, uint32_t node, uint64_t op)
{
    const struct node_ios *line = &timer->lines[node];
    const struct io *io = &line->ios[op];
    return line->birth_ns + io->begin_ns + timer->merge->shift_ns[node][op] + io->dur_ns;
}

/* When may this I/O begin, as far as others are concerned? False: one of them is not known yet. */
static bool find_ready(struct timer *timer, uint32_t node, uint64_t *ready_out)
{
    const struct wio_edges *edges = &timer->merge->edges;
    struct node_ios *line = &timer->lines[node];
    size_t next = line->next_edge;
    *ready_out = 0;
    for (; next < edges->edge_count; next++) {
        const struct wio_edge *edge = &edges->edges[timer->edges_in[next]];
        if (edge->to_thread != node || edge->to_op != line->done) {
            break;
        }
        if (edge->from_op >= timer->lines[edge->from_thread].done) {
            return false;
        }
        uint64_t end_ns = end_of(timer, edge->from_thread, edge->from_op);
        *ready_out = end_ns > *ready_out ? end_ns : *ready_out;
    }
    line->next_edge = next;
    return true;
}

/* As far as this node gets; true where it got anywhere. */
static bool go_on(struct timer *timer, uint32_t node)
{
    struct wio_merge *merge = timer->merge;
    struct node_ios *line = &timer->lines[node];
    uint64_t before = line->done;
    uint64_t ready_ns;
    while (line->done < line->count && find_ready(timer, node, &ready_ns)) {
        uint64_t *shift_ns = &merge->shift_ns[node][line->done];
        shift_ns[0] = line->done > 0 ? shift_ns[-1] : 0;
        uint64_t begin_ns = line->birth_ns + line->ios[line->done].begin_ns + shift_ns[0];
        shift_ns[0] += ready_ns > begin_ns ? ready_ns - begin_ns : 0;
        line->done++;
    }
    return line->done > before;
}

/* Points of the merged edges: (node, how many-th I/O). */
static void name_io(const void *context, struct wio_point point, char *text, size_t room)
{
    const struct wio_merge_run *first = context;
    const struct wio_edge_point *at = &first->ops.lists[point.thread].points[point.op];
    wio_join_name_point(first->trace, (struct wio_point){at->seq, at->stream}, text, room);
}

/* A lock that nodes took in one order in one run, in another one in the next. */
static enum wio_status name_cycle(struct wio_merge *merge, struct wio_error *err)
{
    merge->edges.name_point = name_io;
    merge->edges.name_context = &merge->runs[0];
    enum wio_status status = wio_order_walk(&merge->edges, WIO_EDGE_ALL, NULL, NULL, err);
    return status != WIO_OK
               ? status
               : wio_error_set(err, WIO_ERR_FORMAT, merge->runs[0].dir, WIO_ERROR_NO_OFFSET,
                               "the edges of the runs contradict each other");
}

static enum wio_status fill(struct timer *timer, struct wio_error *err)
{
    struct wio_merge *merge = timer->merge;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t n = 0; n < merge->nodes; n++) {
            moved = go_on(timer, n) || moved;
        }
    }
    for (uint32_t n = 0; n < merge->nodes; n++) {
        if (timer->lines[n].done < timer->lines[n].count) {
            return name_cycle(merge, err);
        }
    }
    return WIO_OK;
}

enum wio_status wio_merge_time(struct wio_merge *merge, struct wio_error *err)
{
    struct timer timer WIO_CLEANUP(timer_fini) = {.merge = merge};
    timer.lines = calloc((size_t)merge->nodes + 1, sizeof(*timer.lines));
    merge->shift_ns = calloc((size_t)merge->nodes + 1, sizeof(*merge->shift_ns));
    if (timer.lines == NULL || merge->shift_ns == NULL) {
        return wio_merge_no_memory(err);
    }
    for (uint32_t n = 0; n < merge->nodes; n++) {
        size_t count = merge->runs[merge->source[n]].ops.lists[n].count;
        timer.lines[n].ios = calloc(count + 1, sizeof(*timer.lines[n].ios));
        timer.lines[n].birth_ns = merge->runs[0].birth_ns[n];
        merge->shift_ns[n] = calloc(count + 1, sizeof(*merge->shift_ns[n]));
        if (timer.lines[n].ios == NULL || merge->shift_ns[n] == NULL) {
            return wio_merge_no_memory(err);
        }
    }
    for (uint32_t r = 0; r < merge->params->count; r++) {
        WIO_TRY(read_run(&timer, r, err));
    }
    WIO_TRY(sort_edges(&timer, err));
    return fill(&timer, err);
}
