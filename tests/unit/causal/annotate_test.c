/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "causal/order/annotate.h"
#include "causal/order/reduce.h"

/* Steps as one line: "C10 W1:7 O0 S2:3". */
static const char *text_of(const struct wio_annotated_steps *steps)
{
    static char text[1024];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < steps->count; i++) {
        const struct wio_annotated_step *s = &steps->items[i];
        char one[64];
        if (s->kind == WIO_STEP_COMPUTE) {
            (void)snprintf(one, sizeof(one), "C%u", (unsigned)s->wall_ns);
        } else if (s->kind == WIO_STEP_OPERATION) {
            (void)snprintf(one, sizeof(one), "O%u", (unsigned)s->op);
        } else if (s->kind == WIO_STEP_WAIT || s->kind == WIO_STEP_SIGNAL) {
            (void)snprintf(one, sizeof(one), "%c%u:%u", s->kind == WIO_STEP_WAIT ? 'W' : 'S',
                           s->peer, (unsigned)s->peer_op);
        } else {
            (void)snprintf(one, sizeof(one), "%c%u", s->kind == WIO_STEP_ENTER ? 'E' : 'L',
                           s->peer);
        }
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? " " : "", one);
    }
    return text;
}

static struct wio_edges set(void)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_edges edges;
    wio_edges_init(&edges, &heap, 3);
    return edges;
}

static void add(struct wio_edges *edges, uint32_t a, uint64_t i, uint32_t b, uint64_t j)
{
    struct wio_edge edge = {.from_thread = a, .from_op = i, .to_thread = b, .to_op = j};
    assert_int_equal(wio_edges_add(edges, &edge), WIO_OK);
}

static void assert_steps(const struct wio_edges *edges, const struct wio_thread_calls *calls,
                         enum wio_compute_mode mode, const char *expected)
{
    struct wio_annotation *annotation;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_annotated_steps steps = {.alloc = heap};
    assert_int_equal(wio_annotation_create(edges, &annotation), WIO_OK);
    assert_int_equal(wio_annotate(annotation, calls, mode, &steps), WIO_OK);
    assert_string_equal(text_of(&steps), expected);
    wio_annotated_steps_fini(&steps);
    wio_annotation_destroy(annotation);
}

/* 10 computing, I/O of 5, 20 computing, receive that waits 30, 7 computing, I/O of 5, 3 computing.
 */
static const struct wio_call_times calls[] = {
    {110, 115, true, false},
    {135, 165, false, true},
    {172, 177, true, false},
};
static const struct wio_thread_calls thread = {
    .calls = calls, .count = 3, .life = {100, 180, false, false}, .thread = 1};

static void approaches_differ_by_the_time_that_was_waited(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    add(&edges, 0, 6, 1, 1);
    add(&edges, 1, 2, 2, 9);
    assert_steps(&edges, &thread, WIO_COMPUTE_THINK, "C10 O0 C57 W0:6 O2 S2:9 C3");
    assert_steps(&edges, &thread, WIO_COMPUTE_LESS_BLOCKED, "C10 O0 C27 W0:6 O2 S2:9 C3");
    assert_steps(&edges, &thread, WIO_COMPUTE_SEGMENTS, "C10 O0 C20 W0:6 C7 O2 S2:9 C3");
    wio_edges_fini(&edges);
}

static void a_call_that_cannot_block_is_computing(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_call_times free_calls[3];
    memcpy(free_calls, calls, sizeof(calls));
    free_calls[1].can_block = false;
    struct wio_thread_calls other = thread;
    other.calls = free_calls;
    assert_steps(&edges, &other, WIO_COMPUTE_LESS_BLOCKED, "C10 O0 C57 O2 C3");
    assert_steps(&edges, &other, WIO_COMPUTE_SEGMENTS, "C10 O0 C50 C7 O2 C3");
    wio_edges_fini(&edges);
}

static void collectives_are_steps_of_their_own(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_member all[] = {{0, 0, 0, true, true}, {1, 1, 1, true, true}};
    assert_int_equal(wio_edges_add_collective(&edges, all, 2, 1, WIO_EVIDENCE_MPI), WIO_OK);
    assert_steps(&edges, &thread, WIO_COMPUTE_SEGMENTS, "C10 O0 C20 E0 L0 C7 O2 C3");
    wio_edges_fini(&edges);
}

static void calls_that_overlap_leave_no_negative_time(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    const struct wio_call_times overlapping[] = {
        {10, 50, true, false}, {20, 30, true, false}, {40, 45, false, true}, {55, 60, true, false}};
    struct wio_thread_calls other = {
        .calls = overlapping, .count = 4, .life = {0, 60, false, false}, .thread = 0};
    assert_steps(&edges, &other, WIO_COMPUTE_SEGMENTS, "C10 O0 O1 C5 O3");
    assert_steps(&edges, &other, WIO_COMPUTE_THINK, "C10 O0 O1 C5 O3");
    wio_edges_fini(&edges);
}

static void an_edge_behind_the_last_call_is_refused(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_annotation *annotation;
    struct wio_annotated_steps steps = {.alloc = heap};
    add(&edges, 0, 6, 1, 3);
    assert_int_equal(wio_annotation_create(&edges, &annotation), WIO_OK);
    assert_int_equal(wio_annotate(annotation, &thread, WIO_COMPUTE_THINK, &steps), WIO_ERR_USAGE);
    wio_annotated_steps_fini(&steps);
    wio_annotation_destroy(annotation);
    wio_edges_fini(&edges);
}

/* The paper's example: open, two writes and close of node 0 all signal the open of node 1. */
static void only_the_last_signal_of_a_run_stays(void **state)
{
    (void)state;
    struct wio_edges edges = set();
    for (uint64_t op = 0; op < 4; op++) {
        add(&edges, 0, op, 1, 0);
    }
    add(&edges, 0, 4, 1, 2);
    add(&edges, 2, 0, 1, 0); /* another node's */
    size_t dropped;
    assert_int_equal(wio_edges_drop_repeated_signals(&edges, &dropped), WIO_OK);
    assert_int_equal(dropped, 3);
    assert_int_equal(edges.edge_count, 3);
    assert_int_equal(edges.edges[0].from_op, 3);
    wio_edges_fini(&edges);
}

/* Signals from one thread to another may be sent as messages, without numbers, once the edges are
 * reduced: their order is that of the waits. */
static void reduced_signals_and_waits_pair_in_order(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (unsigned round = 0; round < 300; round++) {
        struct wio_edges edges = set();
        struct wio_error err = WIO_ERROR_INIT;
        for (size_t i = 0; i < 40; i++) {
            uint64_t from = wio_test_random(&seed) % 20;
            add(&edges, (uint32_t)(wio_test_random(&seed) % 3), from,
                (uint32_t)(wio_test_random(&seed) % 3), from + 1 + wio_test_random(&seed) % 5);
        }
        assert_ok(wio_edges_reduce(&edges, NULL, &err), &err);
        for (size_t i = 0; i < edges.edge_count; i++) {
            for (size_t k = 0; k < edges.edge_count; k++) {
                const struct wio_edge *a = &edges.edges[i];
                const struct wio_edge *b = &edges.edges[k];
                if (a->from_thread == b->from_thread && a->to_thread == b->to_thread &&
                    a->from_op < b->from_op) {
                    assert_true(a->to_op < b->to_op);
                }
            }
        }
        wio_edges_fini(&edges);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(approaches_differ_by_the_time_that_was_waited),
        cmocka_unit_test(a_call_that_cannot_block_is_computing),
        cmocka_unit_test(collectives_are_steps_of_their_own),
        cmocka_unit_test(calls_that_overlap_leave_no_negative_time),
        cmocka_unit_test(an_edge_behind_the_last_call_is_refused),
        cmocka_unit_test(only_the_last_signal_of_a_run_stays),
        cmocka_unit_test(reduced_signals_and_waits_pair_in_order),
    };
    return WIO_RUN(tests);
}
