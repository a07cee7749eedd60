/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "causal/order/reduce.h"
#include "causal/order/signals.h"

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
        cmocka_unit_test(only_the_last_signal_of_a_run_stays),
        cmocka_unit_test(reduced_signals_and_waits_pair_in_order),
    };
    return WIO_RUN(tests);
}
