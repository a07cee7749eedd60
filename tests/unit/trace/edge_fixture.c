/* SPDX-License-Identifier: Apache-2.0 */
#include "edge_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace_fixture.h"

#define OBJECTS 9u

static struct wio_edge_point random_point(const struct wio_trace *trace,
                                          struct random_source *random)
{
    struct wio_edge_point point;
    point.stream = (uint32_t)random_below(random, wio_trace_stream_count(trace));
    const struct wio_stream_info *stream = wio_trace_stream(trace, point.stream);
    point.seq = stream->first_seq + random_below(random, stream->events);
    return point;
}

static int compare_points(const struct wio_edge_point *a, const struct wio_edge_point *b)
{
    if (a->stream != b->stream) {
        return a->stream < b->stream ? -1 : 1;
    }
    return (a->seq > b->seq) - (a->seq < b->seq);
}

static int by_to(const void *a, const void *b)
{
    const struct wio_edge_row *left = a;
    const struct wio_edge_row *right = b;
    int order = compare_points(&left->to, &right->to);
    return order != 0 ? order : compare_points(&left->from, &right->from);
}

static int by_from(const void *a, const void *b)
{
    const struct wio_edge_row *left = a;
    const struct wio_edge_row *right = b;
    int order = compare_points(&left->from, &right->from);
    return order != 0 ? order : compare_points(&left->to, &right->to);
}

static int by_stream(const void *a, const void *b)
{
    const struct wio_member_row *left = a;
    const struct wio_member_row *right = b;
    const struct wio_edge_point p = {left->enter_seq, left->stream};
    const struct wio_edge_point q = {right->enter_seq, right->stream};
    int order = compare_points(&p, &q);
    return order != 0 ? order : (left->collective > right->collective) - 1;
}

static int waits_by_stream(const void *a, const void *b)
{
    const struct wio_wait_row *left = a;
    const struct wio_wait_row *right = b;
    const struct wio_edge_point p = {left->first_seq, left->stream};
    const struct wio_edge_point q = {right->first_seq, right->stream};
    return compare_points(&p, &q);
}

static void make_members(const struct wio_trace *trace, struct edge_rows *rows,
                         struct random_source *random)
{
    uint32_t streams = wio_trace_stream_count(trace);
    size_t collectives = rows->edge_count / 10;
    rows->members = calloc(collectives * streams + 1, sizeof(*rows->members));
    assert_non_null(rows->members);
    for (size_t i = 0; i < collectives; i++) {
        for (uint32_t s = 0; s < streams; s++) {
            const struct wio_stream_info *stream = wio_trace_stream(trace, s);
            uint64_t enter = stream->first_seq + random_below(random, stream->events);
            uint64_t behind = stream->first_seq + stream->events - enter;
            rows->members[rows->member_count++] = (struct wio_member_row){
                .enter_seq = enter,
                .leave_seq = enter + random_below(random, behind),
                .stream = s,
                .collective = (uint32_t)i,
                .object = 1 + (uint32_t)i % OBJECTS,
                .members = streams,
                .givers = i % 3 == 0 ? 1 : streams,
                .evidence = WIO_EVIDENCE_MPI,
                .gives = i % 3 != 0 || s == 0,
                .takes = i % 3 != 0 || s != 0,
            };
        }
    }
}

static void make_waits(const struct wio_trace *trace, struct edge_rows *rows,
                       struct random_source *random)
{
    rows->wait_count = rows->edge_count / 20;
    rows->waits = calloc(rows->wait_count + 1, sizeof(*rows->waits));
    assert_non_null(rows->waits);
    for (size_t i = 0; i < rows->wait_count; i++) {
        struct wio_edge_point first = random_point(trace, random);
        const struct wio_stream_info *stream = wio_trace_stream(trace, first.stream);
        uint64_t behind = stream->first_seq + stream->events - first.seq;
        rows->waits[i] = (struct wio_wait_row){first.seq, first.seq + random_below(random, behind),
                                               1 + i % 7, first.stream};
    }
    qsort(rows->waits, rows->wait_count, sizeof(*rows->waits), waits_by_stream);
}

struct edge_rows random_edge_rows(const struct wio_trace *trace, size_t count, uint64_t seed)
{
    struct random_source random = {seed};
    struct edge_rows rows = {.edge_count = count};
    static const uint8_t classes[] = {WIO_EDGE_HARD, WIO_EDGE_MUTEX, WIO_EDGE_QUEUE};
    rows.edges = calloc(count + 1, sizeof(*rows.edges));
    assert_non_null(rows.edges);
    for (size_t i = 0; i < count; i++) {
        rows.edges[i] = (struct wio_edge_row){
            .from = random_point(trace, &random),
            .to = random_point(trace, &random),
            .object = (uint32_t)random_below(&random, OBJECTS + 1),
            .edge_class = classes[random_below(&random, 3)],
            .evidence = (uint8_t)random_below(&random, WIO_EVIDENCE_COUNT),
            .is_implied = random_below(&random, 2) == 1,
        };
    }
    qsort(rows.edges, count, sizeof(*rows.edges), by_to);
    make_members(trace, &rows, &random);
    make_waits(trace, &rows, &random);
    return rows;
}

void edge_rows_fini(struct edge_rows *rows)
{
    free(rows->edges);
    free(rows->members);
    free(rows->waits);
}

static void write_edges(struct wio_edge_writer *writer, const struct edge_rows *rows)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_edge_row *sorted = calloc(rows->edge_count + 1, sizeof(*sorted));
    size_t kept = 0;
    assert_non_null(sorted);
    for (size_t i = 0; i < rows->edge_count; i++) {
        assert_ok(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_IN, &rows->edges[i], &err), &err);
        if (!rows->edges[i].is_implied) {
            sorted[kept++] = rows->edges[i];
        }
    }
    qsort(sorted, kept, sizeof(*sorted), by_from);
    for (size_t i = 0; i < kept; i++) {
        assert_ok(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_OUT, &sorted[i], &err), &err);
    }
    free(sorted);
}

static void write_members(struct wio_edge_writer *writer, const struct edge_rows *rows)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_member_row *sorted = calloc(rows->member_count + 1, sizeof(*sorted));
    assert_non_null(sorted);
    for (size_t i = 0; i < rows->member_count; i++) {
        sorted[i] = rows->members[i];
        assert_ok(wio_edge_writer_member(writer, WIO_BLOCK_COLLECTIVES, &sorted[i], &err), &err);
    }
    qsort(sorted, rows->member_count, sizeof(*sorted), by_stream);
    for (size_t i = 0; i < rows->member_count; i++) {
        assert_ok(wio_edge_writer_member(writer, WIO_BLOCK_MEMBERS, &sorted[i], &err), &err);
    }
    free(sorted);
}

void write_edge_rows(const struct wio_trace *trace, const struct edge_rows *rows,
                     const struct wio_clock_row *clock)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_edge_writer *writer = NULL;
    assert_ok(wio_edge_writer_create(trace, &writer, &err), &err);
    for (unsigned i = 1; i <= OBJECTS; i++) {
        char text[32];
        (void)snprintf(text, sizeof(text), "object %u", i);
        assert_ok(wio_edge_writer_object(writer, text, &err), &err);
    }
    write_edges(writer, rows);
    write_members(writer, rows);
    for (size_t i = 0; i < rows->wait_count; i++) {
        assert_ok(wio_edge_writer_wait(writer, &rows->waits[i], &err), &err);
    }
    if (clock != NULL) {
        assert_ok(wio_edge_writer_clock(writer, clock, &err), &err);
    }
    assert_ok(wio_edge_writer_meta(writer, WIO_EDGES_META_SENDS, "17", &err), &err);
    assert_ok(wio_edge_writer_meta(writer, WIO_EDGES_META_NOTES, "two lines\nof notes", &err),
              &err);
    assert_ok(wio_edge_writer_finish(writer, NULL, &err), &err);
}
