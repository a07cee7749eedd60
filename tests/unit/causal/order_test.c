/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "causal/order/order.h"

/* What the walk said about each point that it stopped at. */
struct log {
    size_t count;
    struct wio_point points[64];
    uint64_t clocks[64][4]; /* with the edges into the point */
};

static enum wio_status note(void *context, const struct wio_order_stop *stop)
{
    struct log *log = context;
    assert_true(log->count < 64);
    log->points[log->count] = stop->point;
    for (uint32_t t = 0; t < 4; t++) {
        uint64_t done = wio_order_before(stop, t);
        for (size_t i = 0; i < stop->in_count; i++) {
            uint64_t by = wio_order_done(&stop->in[i], t);
            done = by > done ? by : done;
        }
        log->clocks[log->count][t] = done;
    }
    log->count++;
    return WIO_OK;
}

static const uint64_t *clock_at(const struct log *log, uint32_t thread, uint64_t op)
{
    for (size_t i = 0; i < log->count; i++) {
        if (log->points[i].thread == thread && log->points[i].op == op) {
            return log->clocks[i];
        }
    }
    fail_msg("no stop at %u:%u", thread, (unsigned)op);
    return NULL;
}

static void assert_clock(const struct log *log, uint32_t thread, uint64_t op,
                         const uint64_t expected[4])
{
    assert_memory_equal(clock_at(log, thread, op), expected, 4 * sizeof(*expected));
}

static struct wio_edges set(void)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges edges;
    wio_edges_init(&edges, &heap, 4);
    return edges;
}

static void add(struct wio_edges *edges, uint32_t a, uint64_t i, uint32_t b, uint64_t j)
{
    struct wio_edge edge = {.from_thread = a, .from_op = i, .to_thread = b, .to_op = j};
    assert_int_equal(wio_edges_add(edges, &edge), WIO_OK);
}

static void a_chain_passes_knowledge_on(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_error err = WIO_ERROR_INIT;
    struct log log = {0};
    add(&edges, 1, 7, 2, 4);
    add(&edges, 0, 3, 1, 5);
    assert_ok(wio_order_walk(&edges, WIO_EDGE_ALL, note, &log, &err), &err);
    assert_int_equal(log.count, 4);
    assert_clock(&log, 1, 5, (const uint64_t[]){4, 5, 0, 0});
    assert_clock(&log, 2, 4, (const uint64_t[]){4, 8, 4, 0});
    wio_edges_fini(&edges);
}

static void a_point_does_not_know_what_its_thread_learns_later(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_error err = WIO_ERROR_INIT;
    struct log log = {0};
    add(&edges, 1, 1, 2, 9); /* sent before 1 hears of 0 */
    add(&edges, 0, 0, 1, 2);
    assert_ok(wio_order_walk(&edges, WIO_EDGE_ALL, note, &log, &err), &err);
    assert_clock(&log, 2, 9, (const uint64_t[]){0, 2, 9, 0});
    wio_edges_fini(&edges);
}

static void a_barrier_waits_for_what_precedes_it_only(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_error err = WIO_ERROR_INIT;
    struct log log = {0};
    struct wio_member all[3];
    for (uint32_t t = 0; t < 3; t++) {
        all[t] = (struct wio_member){10 + t, 10 + t, t, true, true};
    }
    assert_int_equal(wio_edges_add_collective(&edges, all, 3, 1, WIO_EVIDENCE_MPI), WIO_OK);
    assert_ok(wio_order_walk(&edges, WIO_EDGE_ALL, note, &log, &err), &err);
    assert_clock(&log, 0, 10, (const uint64_t[]){10, 11, 12, 0});
    assert_clock(&log, 2, 12, (const uint64_t[]){10, 11, 12, 0});
    wio_edges_fini(&edges);
}

static void a_broadcast_orders_nothing_before_its_root(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_error err = WIO_ERROR_INIT;
    struct log log = {0};
    struct wio_member all[] = {{5, 5, 0, true, false}, {6, 8, 1, false, true}};
    assert_int_equal(wio_edges_add_collective(&edges, all, 2, 1, WIO_EVIDENCE_MPI), WIO_OK);
    assert_ok(wio_order_walk(&edges, WIO_EDGE_ALL, note, &log, &err), &err);
    assert_clock(&log, 0, 5, (const uint64_t[]){5, 0, 0, 0});
    assert_clock(&log, 1, 8, (const uint64_t[]){5, 8, 0, 0});
    wio_edges_fini(&edges);
}

static void a_cycle_names_its_edges_and_no_others(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_error err = WIO_ERROR_INIT;
    struct log log = {0};
    add(&edges, 0, 5, 1, 3);
    add(&edges, 1, 4, 2, 1);
    add(&edges, 2, 2, 0, 4);
    add(&edges, 2, 8, 3, 0); /* waits for the cycle, is none of it */
    assert_status(wio_order_walk(&edges, WIO_EDGE_ALL, note, &log, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "cycle of 3 waits"));
    assert_non_null(strstr(err.message, "1:3 waits for 0:5 (hard, mpi)"));
    assert_non_null(strstr(err.message, "2:1 waits for 1:4"));
    assert_non_null(strstr(err.message, "0:4 waits for 2:2"));
    assert_null(strstr(err.message, "3:0"));
    wio_edges_fini(&edges);
}

static void a_thread_that_waits_for_its_own_future_is_a_cycle(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_error err = WIO_ERROR_INIT;
    struct log log = {0};
    add(&edges, 3, 5, 3, 5);
    assert_status(wio_order_walk(&edges, WIO_EDGE_ALL, note, &log, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "3:5 waits for 3:5"));
    wio_edges_fini(&edges);
}

static void collectives_in_different_orders_are_a_cycle(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_error err = WIO_ERROR_INIT;
    struct log log = {0};
    struct wio_member one[] = {{1, 1, 0, true, true}, {2, 2, 1, true, true}};
    struct wio_member two[] = {{2, 2, 0, true, true}, {1, 1, 1, true, true}};
    assert_int_equal(wio_edges_add_collective(&edges, one, 2, 1, WIO_EVIDENCE_MPI), WIO_OK);
    assert_int_equal(wio_edges_add_collective(&edges, two, 2, 1, WIO_EVIDENCE_MPI), WIO_OK);
    assert_status(wio_order_walk(&edges, WIO_EDGE_ALL, note, &log, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "0:1 waits for 1:2 (collective, mpi)"));
    wio_edges_fini(&edges);
}

static void add_class(struct wio_edges *edges, uint32_t a, uint64_t i, uint32_t b, uint64_t j,
                      enum wio_edge_class class)
{
    struct wio_edge edge = {.from_thread = a,
                            .from_op = i,
                            .to_thread = b,
                            .to_op = j,
                            .class = (uint8_t) class,
                            .evidence = WIO_EVIDENCE_THREAD};
    assert_int_equal(wio_edges_add(edges, &edge), WIO_OK);
}

/* Two cycles: a queue's edge is left out before a hard one, and of two the one from the later
 * operation. What is no part of a cycle stays. */
static void cycles_are_broken_where_they_are_weakest(void **state)
{
    (void)state;
    static const bool expected[] = {false, true, false, false, true, false};
    struct wio_edges edges = set();
    struct wio_error err = WIO_ERROR_INIT;
    bool left_out[6] = {false};
    size_t count = 0;
    add_class(&edges, 0, 5, 1, 3, WIO_EDGE_HARD);
    add_class(&edges, 1, 4, 0, 4, WIO_EDGE_QUEUE);
    add_class(&edges, 1, 8, 2, 1, WIO_EDGE_HARD);
    add_class(&edges, 2, 12, 3, 11, WIO_EDGE_QUEUE);
    add_class(&edges, 3, 15, 2, 12, WIO_EDGE_QUEUE);
    add_class(&edges, 3, 20, 0, 30, WIO_EDGE_HARD);
    assert_ok(wio_order_break_cycles(&edges, left_out, &count, &err), &err);
    assert_int_equal(count, 2);
    assert_memory_equal(left_out, expected, sizeof(expected));
    wio_edges_compact(&edges, left_out);
    assert_ok(wio_order_walk(&edges, WIO_EDGE_ALL, NULL, NULL, &err), &err);
    wio_edges_fini(&edges);
}

static void what_holding_found_is_never_left_out(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_error err = WIO_ERROR_INIT;
    bool left_out[2] = {false};
    size_t count = 0;
    add_class(&edges, 0, 5, 1, 3, WIO_EDGE_HARD);
    add_class(&edges, 1, 4, 0, 4, WIO_EDGE_HARD);
    edges.edges[0].evidence = WIO_EVIDENCE_HELD;
    assert_ok(wio_order_break_cycles(&edges, left_out, &count, &err), &err);
    assert_true(!left_out[0] && left_out[1]);
    edges.edges[1].evidence = WIO_EVIDENCE_HELD;
    left_out[1] = false;
    assert_status(wio_order_break_cycles(&edges, left_out, &count, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "cycle of 2 waits"));
    wio_edges_fini(&edges);
}

static void classes_that_are_not_asked_for_do_not_exist(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_error err = WIO_ERROR_INIT;
    struct log log = {0};
    struct wio_edge lock = {
        .from_thread = 0, .from_op = 1, .to_thread = 1, .to_op = 0, .class = WIO_EDGE_MUTEX};
    assert_int_equal(wio_edges_add(&edges, &lock), WIO_OK);
    add(&edges, 1, 1, 0, 0);
    assert_ok(wio_order_walk(&edges, WIO_EDGE_FIRM, note, &log, &err), &err);
    assert_status(wio_order_walk(&edges, WIO_EDGE_ALL, note, &log, &err), WIO_ERR_FORMAT, &err);
    wio_edges_fini(&edges);
}

static void *get_counted(void *context, size_t bytes)
{
    *(size_t *)context += bytes;
    return wio_alloc_heap_get(NULL, bytes);
}

static enum wio_status ignore(void *context, const struct wio_order_stop *stop)
{
    (void)context;
    (void)stop;
    return WIO_OK;
}

/* A shell that starts one program after the other: none of them knows of the others. With a clock
 * of all threads for each these would take 512 MiB. */
static void strangers_take_no_memory(void **state)
{
    enum { PROGRAMS = 8192 };
    (void)state;
    size_t bytes = 0;
    struct wio_alloc counted = {get_counted, wio_alloc_heap_put, &bytes};
    struct wio_edges edges;
    struct wio_error err = WIO_ERROR_INIT;
    wio_edges_init(&edges, &counted, PROGRAMS + 1);
    for (uint32_t t = 1; t <= PROGRAMS; t++) {
        add(&edges, 0, 2 * t, t, 0);
        add(&edges, t, 5, 0, 2 * t + 1);
    }
    bytes = 0;
    assert_ok(wio_order_walk(&edges, WIO_EDGE_ALL, ignore, NULL, &err), &err);
    assert_in_range(bytes, 0, 16 << 20);
    wio_edges_fini(&edges);
}

/* Threads far apart in number, so that they are in different parts of a clock. */
static void knowledge_crosses_parts_of_clocks(void **state)
{
    enum { FAR = 1000 };
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges edges;
    struct wio_error err = WIO_ERROR_INIT;
    struct log log = {0};
    wio_edges_init(&edges, &heap, FAR + 1);
    add(&edges, 0, 3, FAR, 5);
    add(&edges, 1, 2, FAR / 2, 1);
    add(&edges, FAR / 2, 1, FAR, 6);
    add(&edges, FAR, 6, 2, 9);
    assert_ok(wio_order_walk(&edges, WIO_EDGE_ALL, note, &log, &err), &err);
    assert_clock(&log, FAR, 5, (const uint64_t[]){4, 0, 0, 0});
    assert_clock(&log, FAR, 6, (const uint64_t[]){4, 3, 0, 0});
    assert_clock(&log, 2, 9, (const uint64_t[]){4, 3, 9, 0});
    wio_edges_fini(&edges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_passes_knowledge_on),
        cmocka_unit_test(a_point_does_not_know_what_its_thread_learns_later),
        cmocka_unit_test(a_barrier_waits_for_what_precedes_it_only),
        cmocka_unit_test(a_broadcast_orders_nothing_before_its_root),
        cmocka_unit_test(a_cycle_names_its_edges_and_no_others),
        cmocka_unit_test(a_thread_that_waits_for_its_own_future_is_a_cycle),
        cmocka_unit_test(collectives_in_different_orders_are_a_cycle),
        cmocka_unit_test(cycles_are_broken_where_they_are_weakest),
        cmocka_unit_test(what_holding_found_is_never_left_out),
        cmocka_unit_test(classes_that_are_not_asked_for_do_not_exist),
        cmocka_unit_test(strangers_take_no_memory),
        cmocka_unit_test(knowledge_crosses_parts_of_clocks),
    };
    return WIO_RUN(tests);
}
