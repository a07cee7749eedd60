/* SPDX-License-Identifier: Apache-2.0 */
/* Files of edges: what is written is read, in order, by stream, and not at all where it is not that
 * of the trace; damage is named. */
#include "trace/edges/edge_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "edge_fixture.h"
#include "trace_fixture.h"

#define STREAMS 7u
#define EVENTS 900u
#define EDGES 20000u

static struct wio_trace *open_trace(const struct fixture *fixture)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    assert_ok(wio_trace_open(fixture->dir, &trace, &err), &err);
    return trace;
}

/* A trace with stored edges; rows_out says which. */
static struct wio_trace *make_trace(const struct fixture *fixture, size_t edges,
                                    const struct wio_clock_row *clock, struct edge_rows *rows_out)
{
    write_ordinary_segment(fixture->segment, STREAMS, EVENTS, 3);
    struct wio_trace *trace = open_trace(fixture);
    assert_null(wio_trace_edges(trace));
    *rows_out = random_edge_rows(trace, edges, 5);
    write_edge_rows(trace, rows_out, clock);
    wio_trace_close(trace);
    trace = open_trace(fixture);
    assert_non_null(wio_trace_edges(trace));
    return trace;
}

static struct wio_edge_cursor *read_kind(const struct wio_trace *trace, enum wio_edge_kind kind)
{
    const struct wio_edge_filter filter = {
        .struct_size = sizeof(filter), .kind = kind, .has_implied = true};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_edge_cursor *cursor = NULL;
    assert_ok(wio_edge_cursor_create(wio_trace_edges(trace), &filter, &cursor, &err), &err);
    return cursor;
}

static void assert_same_edge(const struct wio_edge_row *a, const struct wio_edge_row *b)
{
    assert_int_equal(a->from.stream, b->from.stream);
    assert_int_equal(a->from.seq, b->from.seq);
    assert_int_equal(a->to.stream, b->to.stream);
    assert_int_equal(a->to.seq, b->to.seq);
    assert_int_equal(a->object, b->object);
    assert_int_equal(a->edge_class, b->edge_class);
    assert_int_equal(a->evidence, b->evidence);
    assert_int_equal(a->is_implied, b->is_implied);
}

static void assert_same_member(const struct wio_member_row *a, const struct wio_member_row *b)
{
    assert_int_equal(a->enter_seq, b->enter_seq);
    assert_int_equal(a->leave_seq, b->leave_seq);
    assert_int_equal(a->stream, b->stream);
    assert_int_equal(a->collective, b->collective);
    assert_int_equal(a->object, b->object);
    assert_int_equal(a->members, b->members);
    assert_int_equal(a->givers, b->givers);
    assert_int_equal(a->evidence, b->evidence);
    assert_int_equal(a->gives, b->gives);
    assert_int_equal(a->takes, b->takes);
}

/* R-EDGE-2, R-EDGE-3, R-EDGE-4 */
static void what_is_written_is_read(void **state)
{
    struct edge_rows rows;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = make_trace(*state, EDGES, NULL, &rows);
    struct wio_edge_cursor *cursor = read_kind(trace, WIO_EDGES_IN);
    const struct wio_edge_row *edge = NULL;
    for (size_t i = 0; i < rows.edge_count; i++) {
        assert_ok(wio_edge_cursor_next(cursor, &edge, &err), &err);
        assert_same_edge(edge, &rows.edges[i]);
    }
    assert_int_equal(wio_edge_cursor_next(cursor, &edge, &err), WIO_END);
    assert_int_equal(wio_edge_cursor_next(cursor, &edge, &err), WIO_END);
    wio_edge_cursor_destroy(cursor);

    cursor = read_kind(trace, WIO_EDGES_COLLECTIVES);
    const struct wio_member_row *member = NULL;
    for (size_t i = 0; i < rows.member_count; i++) {
        assert_ok(wio_edge_cursor_next_member(cursor, &member, &err), &err);
        assert_same_member(member, &rows.members[i]);
    }
    assert_int_equal(wio_edge_cursor_next_member(cursor, &member, &err), WIO_END);
    wio_edge_cursor_destroy(cursor);

    cursor = read_kind(trace, WIO_EDGES_WAITS);
    const struct wio_wait_row *wait = NULL;
    for (size_t i = 0; i < rows.wait_count; i++) {
        assert_ok(wio_edge_cursor_next_wait(cursor, &wait, &err), &err);
        assert_memory_equal(wait, &rows.waits[i], sizeof(*wait));
    }
    assert_int_equal(wio_edge_cursor_next_wait(cursor, &wait, &err), WIO_END);
    assert_int_equal(wio_edge_cursor_next(cursor, &edge, &err), WIO_ERR_USAGE);
    wio_edge_cursor_destroy(cursor);
    assert_string_equal(wio_edge_file_object(wio_trace_edges(trace), 3), "object 3");
    assert_string_equal(wio_edge_file_object(wio_trace_edges(trace), 10), "");
    wio_trace_close(trace);
    edge_rows_fini(&rows);
}

static void counts_are_known_without_reading(void **state)
{
    struct edge_rows rows;
    struct wio_edge_info info;
    struct wio_edge_totals hard = {0};
    struct wio_edge_totals mpi = {0};
    struct wio_trace *trace = make_trace(*state, EDGES, NULL, &rows);
    wio_edge_file_get_info(wio_trace_edges(trace), &info);
    for (size_t i = 0; i < rows.edge_count; i++) {
        const struct wio_edge_row *row = &rows.edges[i];
        hard.all += row->edge_class == WIO_EDGE_HARD ? 1 : 0;
        hard.implied += row->edge_class == WIO_EDGE_HARD && row->is_implied ? 1 : 0;
        mpi.all += row->evidence == WIO_EVIDENCE_MPI ? 1 : 0;
    }
    assert_int_equal(info.edges, rows.edge_count);
    assert_int_equal(info.collectives, EDGES / 10);
    assert_int_equal(info.members, rows.member_count);
    assert_int_equal(info.waits, rows.wait_count);
    assert_int_equal(info.objects, 9);
    assert_int_equal(info.by_class[WIO_EDGE_HARD].all, hard.all);
    assert_int_equal(info.by_class[WIO_EDGE_HARD].implied, hard.implied);
    assert_int_equal(info.by_class[WIO_EDGE_COLLECTIVE].all, EDGES / 10);
    assert_int_equal(info.by_evidence[WIO_EVIDENCE_MPI].all, mpi.all + EDGES / 10);
    assert_int_equal(info.unmatched_sends, 17);
    assert_string_equal(wio_edge_file_notes(wio_trace_edges(trace)), "two lines\nof notes");
    wio_trace_close(trace);
    edge_rows_fini(&rows);
}

/* Each stream from each of some numbers on, against a scan. */
static void one_stream_is_found_by_the_index(void **state)
{
    struct edge_rows rows;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = make_trace(*state, EDGES, NULL, &rows);
    for (uint32_t stream = 0; stream < STREAMS; stream++) {
        for (uint64_t from = 0; from <= EVENTS; from += 100) {
            const struct wio_edge_filter filter = {.struct_size = sizeof(filter),
                                                   .has_stream = true,
                                                   .stream = stream,
                                                   .from_seq = from,
                                                   .classes = 1u << WIO_EDGE_HARD};
            struct wio_edge_cursor *cursor = NULL;
            const struct wio_edge_row *edge = NULL;
            assert_ok(wio_edge_cursor_create(wio_trace_edges(trace), &filter, &cursor, &err), &err);
            for (size_t i = 0; i < rows.edge_count; i++) {
                const struct wio_edge_row *row = &rows.edges[i];
                if (row->to.stream == stream && row->to.seq >= from && !row->is_implied &&
                    row->edge_class == WIO_EDGE_HARD) {
                    assert_ok(wio_edge_cursor_next(cursor, &edge, &err), &err);
                    assert_same_edge(edge, row);
                }
            }
            assert_int_equal(wio_edge_cursor_next(cursor, &edge, &err), WIO_END);
            wio_edge_cursor_destroy(cursor);
        }
    }
    wio_trace_close(trace);
    edge_rows_fini(&rows);
}

static void edges_out_are_those_not_implied(void **state)
{
    struct edge_rows rows;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = make_trace(*state, EDGES, NULL, &rows);
    struct wio_edge_cursor *cursor = read_kind(trace, WIO_EDGES_OUT);
    const struct wio_edge_row *edge = NULL;
    struct wio_edge_point last = {0, 0};
    size_t expected = 0;
    size_t count = 0;
    enum wio_status status;
    for (size_t i = 0; i < rows.edge_count; i++) {
        expected += rows.edges[i].is_implied ? 0 : 1;
    }
    while ((status = wio_edge_cursor_next(cursor, &edge, &err)) == WIO_OK) {
        assert_true(last.stream < edge->from.stream ||
                    (last.stream == edge->from.stream && last.seq <= edge->from.seq));
        last = edge->from;
        assert_false(edge->is_implied);
        count++;
    }
    assert_int_equal(status, WIO_END);
    assert_int_equal(count, expected);
    wio_edge_cursor_destroy(cursor);
    wio_trace_close(trace);
    edge_rows_fini(&rows);
}

static void rows_out_of_order_are_refused(void **state)
{
    const struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_edge_writer *writer = NULL;
    write_ordinary_segment(fixture->segment, STREAMS, EVENTS, 3);
    struct wio_trace *trace = open_trace(fixture);
    struct wio_edge_row row = {.from = {1, 0}, .to = {5, 2}};
    assert_ok(wio_edge_writer_create(trace, &writer, &err), &err);
    assert_ok(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_IN, &row, &err), &err);
    row.to.seq = 4;
    assert_int_equal(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_IN, &row, &err), WIO_ERR_USAGE);
    wio_edge_writer_abandon(writer);
    wio_trace_close(trace);
    trace = open_trace(fixture); /* nothing was left behind */
    assert_null(wio_trace_edges(trace));
    wio_trace_close(trace);
}

/* R-EDGE-1: another segment makes them those of another trace. */
static void edges_of_other_segments_are_ignored(void **state)
{
    const struct fixture *fixture = *state;
    struct edge_rows rows;
    char other[400];
    wio_trace_close(make_trace(fixture, 100, NULL, &rows));
    (void)snprintf(other, sizeof(other), "%s/b.seg", fixture->dir);
    write_ordinary_segment(other, 1, 10, 4);
    struct wio_trace *trace = open_trace(fixture);
    assert_null(wio_trace_edges(trace));
    wio_trace_close(trace);
    edge_rows_fini(&rows);
}

/* R-EDGE-6 */
static void clocks_are_corrected(void **state)
{
    const struct wio_clock_row clock = {
        .host = "node0", .offset_ns = 1000, .rate = -(int64_t)(1ull << 30), .uncertainty_ns = 5};
    struct edge_rows rows;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_cursor *plain = NULL;
    struct wio_cursor *corrected = NULL;
    const struct wio_event *a = NULL;
    const struct wio_event *b = NULL;
    const struct fixture *fixture = *state;
    const struct wio_filter by_stream = {.struct_size = sizeof(by_stream),
                                         .order = WIO_ORDER_STREAM};
    write_ordinary_segment(fixture->segment, STREAMS, EVENTS, 3);
    struct wio_trace *before = open_trace(fixture);
    const char *host = wio_trace_process(before, 0)->host;
    struct wio_clock_row row = clock;
    row.host = host;
    rows = random_edge_rows(before, 10, 5);
    write_edge_rows(before, &rows, &row);
    struct wio_trace *trace = open_trace(fixture);
    assert_ok(wio_cursor_create(before, &by_stream, &plain, &err), &err);
    assert_ok(wio_cursor_create(trace, &by_stream, &corrected, &err), &err);
    unsigned moved = 0;
    while (wio_cursor_next(plain, &a, &err) == WIO_OK) {
        assert_ok(wio_cursor_next(corrected, &b, &err), &err);
        const struct wio_process_info *process =
            wio_trace_process(before, wio_trace_stream(before, a->stream)->process);
        if (strcmp(process->host, host) == 0) {
            /* 2^30 / 2^40: one in 1,024 slower, rounded down */
            assert_int_equal(b->t_ns, a->t_ns - (a->t_ns + 1023) / 1024 + 1000);
            moved++;
        } else {
            assert_int_equal(b->t_ns, a->t_ns);
        }
    }
    assert_true(moved > 0);
    wio_cursor_destroy(plain);
    wio_cursor_destroy(corrected);
    wio_trace_close(before);
    wio_trace_close(trace);
    edge_rows_fini(&rows);
}

/* R-EDGE-6: events would last from later to earlier. */
static void clocks_that_run_backwards_are_refused(void **state)
{
    const struct wio_clock_row clock = {.host = "node0", .rate = -(INT64_C(1) << 40)};
    const struct fixture *fixture = *state;
    struct edge_rows rows;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    write_ordinary_segment(fixture->segment, STREAMS, EVENTS, 3);
    struct wio_trace *before = open_trace(fixture);
    rows = random_edge_rows(before, 10, 5);
    write_edge_rows(before, &rows, &clock);
    wio_trace_close(before);
    assert_status(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.file, "trace.edges"));
    edge_rows_fini(&rows);
}

static void count_fault(void *arg, const struct wio_error *fault)
{
    assert_true(fault->file[0] != '\0');
    assert_true(fault->message[0] != '\0');
    (*(unsigned *)arg)++;
}

static unsigned faults_of(const struct wio_trace *trace)
{
    struct wio_error err = WIO_ERROR_INIT;
    unsigned faults = 0;
    enum wio_status status = wio_edge_file_check(trace, count_fault, &faults, &err);
    assert_int_equal(status, faults == 0 ? WIO_OK : WIO_END);
    return faults;
}

/* R-DAMAGE-2: whichever byte is bent, check finds it; and a reader says no or reads on. */
static void every_bent_byte_is_found(void **state)
{
    const struct fixture *fixture = *state;
    struct edge_rows rows;
    char name[400];
    struct stat st;
    struct wio_trace *trace = make_trace(fixture, 300, NULL, &rows);
    assert_int_equal(faults_of(trace), 0);
    (void)snprintf(name, sizeof(name), "%s/trace.edges", fixture->dir);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    for (off_t at = 0; at < st.st_size; at += 1 + at % 3) {
        unsigned char byte = 0;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x40;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        if (faults_of(trace) == 0) {
            fail_msg("byte %lld was bent, and check found nothing", (long long)at);
        }
        byte ^= 0x40;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    assert_int_equal(ftruncate(fd, st.st_size / 2), 0);
    struct wio_trace *refused = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    assert_int_equal(wio_trace_open(fixture->dir, &refused, &err), WIO_ERR_TRUNCATED);
    assert_string_equal(err.file, name);
    assert_int_equal(err.offset, st.st_size / 2 - 4);
    (void)close(fd);
    wio_trace_close(trace);
    edge_rows_fini(&rows);
}

static void points_that_are_not_there_are_faults(void **state)
{
    struct edge_rows rows;
    const struct fixture *fixture = *state;
    write_ordinary_segment(fixture->segment, STREAMS, EVENTS, 3);
    struct wio_trace *trace = open_trace(fixture);
    rows = random_edge_rows(trace, 50, 5);
    rows.edges[49].to.seq = 1000000;
    rows.edges[49].is_implied = true;
    write_edge_rows(trace, &rows, NULL);
    assert_int_equal(faults_of(trace), 1);
    wio_trace_close(trace);
    edge_rows_fini(&rows);
}

static void more_implied_than_all_are_refused(void **state)
{
    const struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_edge_writer *writer;
    write_ordinary_segment(fixture->segment, STREAMS, EVENTS, 3);
    struct wio_trace *trace = open_trace(fixture);
    assert_int_equal(wio_edge_writer_create(trace, &writer, &err), WIO_OK);
    assert_int_equal(wio_edge_writer_meta(writer, WIO_EDGES_META_TOTALS, "7 8", &err), WIO_OK);
    assert_int_equal(wio_edge_writer_finish(writer, NULL, &err), WIO_OK);
    wio_trace_close(trace);
    assert_int_equal(wio_trace_open(fixture->dir, &trace, &err), WIO_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(what_is_written_is_read),
        TEST(counts_are_known_without_reading),
        TEST(one_stream_is_found_by_the_index),
        TEST(edges_out_are_those_not_implied),
        TEST(rows_out_of_order_are_refused),
        TEST(edges_of_other_segments_are_ignored),
        TEST(clocks_are_corrected),
        TEST(clocks_that_run_backwards_are_refused),
        TEST(every_bent_byte_is_found),
        TEST(points_that_are_not_there_are_faults),
        TEST(more_implied_than_all_are_refused),
    };
    return WIO_RUN(tests);
}
