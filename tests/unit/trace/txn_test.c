/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of transactions: what goes in comes out, merged by time over segments; what is damaged is
 * named. */
#include "trace/txn/txn.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace_fixture.h"
#include "txn_fixture.h"

#define MANY 10000u

static void assert_same_name(const struct wio_txn_name *a, const struct wio_txn_name *b)
{
    assert_int_equal(a->client, b->client);
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->birth_ns, b->birth_ns);
    assert_int_equal(a->attempt, b->attempt);
}

static void assert_same_range(const struct wio_txn_range *a, const struct wio_txn_range *b)
{
    assert_int_equal(a->file, b->file);
    assert_int_equal(a->from, b->from);
    assert_int_equal(a->to, b->to);
    assert_int_equal(a->segment, b->segment);
}

static void assert_same_row(const struct wio_txn_row *a, const struct wio_txn_row *b)
{
    assert_int_equal(a->t_ns, b->t_ns);
    assert_same_name(&a->txn, &b->txn);
    assert_same_range(&a->range, &b->range);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->queue_ns, b->queue_ns);
    assert_int_equal(a->lock_ns, b->lock_ns);
    assert_int_equal(a->storage_ns, b->storage_ns);
    assert_int_equal(a->run_ns, b->run_ns);
    assert_int_equal(a->transfer_ns, b->transfer_ns);
    assert_int_equal(a->server, b->server);
    assert_int_equal(a->queue_depth, b->queue_depth);
    assert_int_equal(a->op, b->op);
    assert_int_equal(a->result, b->result);
    assert_int_equal(a->reason, b->reason);
    assert_int_equal(a->outcome, b->outcome);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->blocker_count, b->blocker_count);
    assert_int_equal(a->blocker_listed, b->blocker_listed);
    for (uint32_t i = 0; i < a->blocker_listed; i++) {
        assert_same_name(&a->blockers[i].txn, &b->blockers[i].txn);
        assert_same_range(&a->blockers[i].range, &b->blockers[i].range);
        assert_int_equal(a->blockers[i].mode, b->blockers[i].mode);
        assert_int_equal(a->blockers[i].role, b->blockers[i].role);
    }
}

static struct wio_trace *open_trace(const char *dir)
{
    struct wio_trace *trace = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    if (wio_trace_open(dir, &trace, &err) != WIO_OK) {
        fail_msg("%s: %s", err.file, err.message);
    }
    return trace;
}

/* R-TXN-1 kinds, R-TXN-3 shapes, R-TXN-4 names, R-TXN-5 ranges, R-TXN-6 blockers */
static void rows_come_back(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct txn_rows rows = txn_rows_make(MANY, 1);
    txn_rows_write(fixture->segment, "job1", &rows, 0, 1);
    struct wio_trace *trace = open_trace(fixture->dir);
    struct wio_txn_cursor *cursor = NULL;
    const struct wio_txn_row *row = NULL;
    assert_true(wio_trace_has_transactions(trace));
    assert_int_equal(wio_txn_cursor_create(trace, &cursor, &err), WIO_OK);
    for (uint32_t i = 0; i < rows.count; i++) {
        if (wio_txn_cursor_next(cursor, &row, &err) != WIO_OK) {
            fail_msg("row %u: %s", i, err.message);
        }
        assert_same_row(&rows.rows[i], row);
        assert_int_equal(rows.rows[i].origin, row->origin);
    }
    assert_int_equal(wio_txn_cursor_next(cursor, &row, &err), WIO_END);
    wio_txn_cursor_destroy(cursor);
    wio_trace_close(trace);
    txn_rows_fini(&rows);
}

/* R-TXN-7: ids of origins are those of the trace, whichever segment names them. */
static void segments_are_merged_by_time(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    char name[400];
    const char *jobs[] = {"job0", "job1", "job2"};
    struct txn_rows rows = txn_rows_make(MANY, 2);
    for (uint32_t i = 0; i < WIO_ARRAY_SIZE(jobs); i++) {
        (void)snprintf(name, sizeof(name), "%s/%s.seg", fixture->dir, jobs[i]);
        txn_rows_write(name, jobs[i], &rows, i, WIO_ARRAY_SIZE(jobs));
    }
    struct wio_trace *trace = open_trace(fixture->dir);
    struct wio_txn_cursor *cursor = NULL;
    const struct wio_txn_row *row = NULL;
    uint64_t before = 0;
    uint32_t next[WIO_ARRAY_SIZE(jobs)] = {0, 1, 2};
    assert_int_equal(wio_txn_cursor_create(trace, &cursor, &err), WIO_OK);
    assert_int_equal(wio_txn_origin_count(cursor), 1 + TXN_ORIGINS * WIO_ARRAY_SIZE(jobs));
    for (uint32_t i = 0; i < rows.count; i++) {
        assert_int_equal(wio_txn_cursor_next(cursor, &row, &err), WIO_OK);
        assert_true(row->t_ns >= before);
        before = row->t_ns;
        if (row->origin == 0) {
            continue; /* nothing tells its segment */
        }
        const struct wio_txn_origin *origin = wio_txn_cursor_origin(cursor, row->origin);
        uint32_t lane = (uint32_t)(origin->job[3] - '0');
        while (rows.rows[next[lane]].origin == 0) {
            next[lane] += WIO_ARRAY_SIZE(jobs);
        }
        assert_same_row(&rows.rows[next[lane]], row);
        next[lane] += WIO_ARRAY_SIZE(jobs);
    }
    assert_int_equal(wio_txn_cursor_next(cursor, &row, &err), WIO_END);
    assert_string_equal(wio_txn_cursor_file(cursor, 77)->path, "/data/grid");
    assert_int_equal(wio_txn_cursor_file(cursor, 77)->stripe_unit, 65536);
    assert_null(wio_txn_cursor_file(cursor, 78));
    assert_string_equal(wio_txn_cursor_server(cursor, 3)->name, "unix:/tmp/s");
    wio_txn_cursor_destroy(cursor);
    wio_trace_close(trace);
    txn_rows_fini(&rows);
}

static void traces_without_rows_have_none(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    write_ordinary_segment(fixture->segment, 1, 10, 3);
    struct wio_trace *trace = open_trace(fixture->dir);
    struct wio_txn_cursor *cursor = NULL;
    const struct wio_txn_row *row = NULL;
    assert_false(wio_trace_has_transactions(trace));
    assert_int_equal(wio_txn_cursor_create(trace, &cursor, &err), WIO_OK);
    assert_int_equal(wio_txn_cursor_next(cursor, &row, &err), WIO_END);
    wio_txn_cursor_destroy(cursor);
    wio_trace_close(trace);
}

/* R-TXN-2 */
static void times_only_rise(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_txn_writer *writer = NULL;
    struct wio_segment *segment = begin_segment(fixture->segment, 0, 1);
    assert_int_equal(wio_txn_writer_create(segment, &writer, &err), WIO_OK);
    struct wio_txn_row row = {.t_ns = 5, .kind = WIO_TXN_BEGIN, .server = WIO_TXN_NO_SERVER};
    assert_int_equal(wio_txn_writer_put(writer, &row, &err), WIO_OK);
    row.t_ns = 4;
    assert_int_equal(wio_txn_writer_put(writer, &row, &err), WIO_ERR_INTERNAL);
    wio_txn_writer_destroy(writer);
    wio_segment_abandon(segment);
}

static void count_fault(void *arg, const struct wio_error *fault)
{
    (void)fault;
    ++*(unsigned *)arg;
}

/* An origin that no table has is a fault that check and the cursor name. */
static void unknown_origins_are_faults(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    unsigned faults = 0;
    struct txn_rows rows = txn_rows_make(3, 4);
    rows.rows[1].origin = TXN_ORIGINS + 1;
    txn_rows_write(fixture->segment, "j", &rows, 0, 1);
    struct wio_trace *trace = open_trace(fixture->dir);
    struct wio_txn_cursor *cursor = NULL;
    const struct wio_txn_row *row = NULL;
    assert_int_equal(wio_txn_cursor_create(trace, &cursor, &err), WIO_OK);
    assert_int_equal(wio_txn_cursor_next(cursor, &row, &err), WIO_OK);
    assert_int_equal(wio_txn_cursor_next(cursor, &row, &err), WIO_ERR_FORMAT);
    assert_non_null(strstr(err.message, "a known origin"));
    wio_txn_cursor_destroy(cursor);
    wio_trace_close(trace);
    assert_int_equal(wio_trace_check(fixture->dir, count_fault, &faults, &err), WIO_END);
    assert_int_equal(faults, 1);
    txn_rows_fini(&rows);
}

static void whole_rows_have_no_fault(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    unsigned faults = 0;
    struct txn_rows rows = txn_rows_make(MANY, 5);
    txn_rows_write(fixture->segment, "j", &rows, 0, 1);
    assert_int_equal(wio_trace_check(fixture->dir, count_fault, &faults, &err), WIO_OK);
    assert_int_equal(faults, 0);
    txn_rows_fini(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_come_back, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(segments_are_merged_by_time, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(traces_without_rows_have_none, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(times_only_rise, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(unknown_origins_are_faults, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(whole_rows_have_no_fault, fixture_setup, fixture_teardown),
    };
    return WIO_RUN(tests);
}
