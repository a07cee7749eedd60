/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "explain/waiting/edge_rows.h"
#include "support/script_open.h"

#define EDGES 300u

/* Thread 1 waits for thread 0 at each of its events, twice at every tenth; `others` are idle. */
static struct wio_trace *open_edges(unsigned others)
{
    static char script[65536];
    size_t used = 0;

    used += (size_t)snprintf(script + used, sizeof(script) - used,
                             "process 1\nstream 0 1\nstream 0 2\n");
    for (unsigned i = 0; i < others; i++) {
        used += (size_t)snprintf(script + used, sizeof(script) - used, "stream 0 %u\n", i + 3);
    }
    for (unsigned i = 0; i < EDGES; i++) {
        used += (size_t)snprintf(script + used, sizeof(script) - used,
                                 "read t=%u\nread t=%u stream=1\nedge 0:%u 1:%u\n", i, i, i, i);
        if (i % 10 == 9) {
            used += (size_t)snprintf(script + used, sizeof(script) - used, "edge 0:%u 1:%u\n",
                                     i - 1, i);
        }
    }
    return script_open(script);
}

/* All of them come, in the order of the waiting thread, however small the batches are. */
static void check_all(unsigned others, uint32_t batch_rows)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = open_edges(others);
    struct wio_edge_rows rows = {0};
    struct wio_edge_link link;
    unsigned count = 0;

    assert_ok(wio_edge_rows_init(&rows, wio_trace_edges(trace), WIO_EDGES_IN, 2 + others,
                                 batch_rows, &err),
              &err);
    assert_true(wio_edge_rows_next(&rows, 0) == UINT64_MAX);
    for (unsigned i = 0; i < EDGES; i++) {
        unsigned here = 0;
        assert_int_equal(wio_edge_rows_next(&rows, 1), i);
        while (wio_edge_rows_take(&rows, 1, i, &link, &err) == WIO_OK) {
            assert_int_equal(link.seq, i);
            assert_int_equal(link.other, 0);
            here++;
        }
        assert_int_equal(here, i % 10 == 9 ? 2 : 1);
        count += here;
    }
    assert_int_equal(count, EDGES + EDGES / 10);
    assert_null(wio_edge_rows_peek(&rows, 1));
    wio_edge_rows_fini(&rows);
    wio_trace_close(trace);
}

static void one_batch_holds_them_all(void **state)
{
    (void)state;
    check_all(0, 0);
}

static void small_batches_lose_nothing(void **state)
{
    (void)state;
    check_all(0, 16);
    check_all(0, 7);
    check_all(0, 2);
}

static void many_streams_are_read_in_one_go(void **state)
{
    (void)state;
    check_all(100, 0);
    check_all(100, 16);
    check_all(100, 3);
}

static void rows_that_nothing_asks_for_are_passed_over(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = open_edges(0);
    struct wio_edge_rows rows = {0};
    struct wio_edge_link link;

    (void)state;
    assert_ok(wio_edge_rows_init(&rows, wio_trace_edges(trace), WIO_EDGES_IN, 2, 5, &err), &err);
    assert_ok(wio_edge_rows_take(&rows, 1, 250, &link, &err), &err);
    assert_int_equal(link.seq, 250);
    assert_status(wio_edge_rows_take(&rows, 1, 250, &link, &err), WIO_END, &err);
    wio_edge_rows_fini(&rows);
    wio_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_batch_holds_them_all),
        cmocka_unit_test(small_batches_lose_nothing),
        cmocka_unit_test(many_streams_are_read_in_one_go),
        cmocka_unit_test(rows_that_nothing_asks_for_are_passed_over),
    };
    return WIO_RUN(tests);
}
