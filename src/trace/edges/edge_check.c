/* SPDX-License-Identifier: Apache-2.0 */
/* Every byte of a file of edges: checksums, order, points that exist, counts that are right. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "trace/edges/edge_internal.h"
#include "trace/edges/held_file.h"
#include "trace/read/trace_internal.h"

struct edge_check {
    const struct wio_trace *trace;
    const struct wio_edge_file *file;
    wio_fault_fn *fault;
    void *arg;
    uint64_t faults;
    struct wio_edge_info found;
    uint64_t last_collective; /* + 1 */
    uint64_t out_edges;
    uint64_t stream_members;
};

static void report(struct edge_check *check, const struct wio_error *fault)
{
    check->faults++;
    check->fault(check->arg, fault);
}

/* R-EDGE-1: a point is an event of the trace. */
static bool has_event(const struct wio_trace *trace, uint32_t stream, uint64_t seq)
{
    const struct wio_stream_info *info = &trace->streams[stream];
    return seq >= info->first_seq && seq - info->first_seq < info->events;
}

static void check_point(struct edge_check *check, const char *what, uint32_t stream, uint64_t seq)
{
    struct wio_error fault = WIO_ERROR_INIT;
    if (has_event(check->trace, stream, seq)) {
        return;
    }
    const struct wio_stream_info *info = &check->trace->streams[stream];
    (void)wio_error_set(&fault, WIO_ERR_FORMAT, check->file->name, WIO_ERROR_NO_OFFSET,
                        "expected an event of stream %" PRIu32 " (%" PRIu64 " .. %" PRIu64
                        ") where %s, found %" PRIu64,
                        stream, info->first_seq, info->first_seq + info->events, what, seq);
    report(check, &fault);
}

static void count(struct wio_edge_totals *totals, bool is_implied)
{
    totals->all++;
    totals->implied += is_implied ? 1 : 0;
}

static enum wio_status next_edge(struct edge_check *check, struct wio_edge_cursor *cursor,
                                 enum wio_edge_kind kind, struct wio_error *err)
{
    const struct wio_edge_row *row = NULL;
    WIO_TRY(wio_edge_cursor_next(cursor, &row, err));
    check_point(check, "an edge begins", row->from.stream, row->from.seq);
    check_point(check, "an edge ends", row->to.stream, row->to.seq);
    if (kind == WIO_EDGES_OUT) {
        check->out_edges++;
        return WIO_OK;
    }
    check->found.edges++;
    count(&check->found.by_class[row->edge_class], row->is_implied);
    count(&check->found.by_evidence[row->evidence], row->is_implied);
    return WIO_OK;
}

static enum wio_status next_member(struct edge_check *check, struct wio_edge_cursor *cursor,
                                   enum wio_edge_kind kind, struct wio_error *err)
{
    const struct wio_member_row *row = NULL;
    WIO_TRY(wio_edge_cursor_next_member(cursor, &row, err));
    if (kind == WIO_EDGES_MEMBERS) {
        check->stream_members++;
        return WIO_OK;
    }
    check_point(check, "a collective is entered", row->stream, row->enter_seq);
    check_point(check, "a collective is left", row->stream, row->leave_seq);
    check->found.members++;
    if (check->last_collective != row->collective + 1ull) {
        check->last_collective = row->collective + 1ull;
        check->found.collectives++;
        count(&check->found.by_class[WIO_EDGE_COLLECTIVE], false);
        count(&check->found.by_evidence[row->evidence], false);
    }
    return WIO_OK;
}

static enum wio_status next_wait(struct edge_check *check, struct wio_edge_cursor *cursor,
                                 enum wio_edge_kind kind, struct wio_error *err)
{
    const struct wio_wait_row *row = NULL;
    (void)kind;
    WIO_TRY(wio_edge_cursor_next_wait(cursor, &row, err));
    check_point(check, "a wait begins", row->stream, row->first_seq);
    check_point(check, "a wait ends", row->stream, row->last_seq);
    check->found.waits++;
    return WIO_OK;
}

static bool check_rows(struct edge_check *check, enum wio_edge_kind kind)
{
    static enum wio_status (*const next[])(struct edge_check *, struct wio_edge_cursor *,
                                           enum wio_edge_kind, struct wio_error *) = {
        [WIO_EDGES_IN] = next_edge,        [WIO_EDGES_OUT] = next_edge,
        [WIO_EDGES_MEMBERS] = next_member, [WIO_EDGES_COLLECTIVES] = next_member,
        [WIO_EDGES_WAITS] = next_wait,
    };
    const struct wio_edge_filter filter = {
        .struct_size = sizeof(filter), .kind = kind, .has_implied = true};
    struct wio_edge_cursor *cursor = NULL;
    struct wio_error fault = WIO_ERROR_INIT;
    enum wio_status status = wio_edge_cursor_create(check->file, &filter, &cursor, &fault);
    while (status == WIO_OK) {
        status = next[kind](check, cursor, kind, &fault);
    }
    wio_edge_cursor_destroy(cursor);
    if (status != WIO_END) {
        report(check, &fault);
    }
    return status == WIO_END;
}

static void check_counts(struct edge_check *check)
{
    const struct wio_edge_info *info = &check->file->info;
    const struct wio_edge_info *found = &check->found;
    uint64_t implied = 0;
    for (unsigned i = 0; i < WIO_EDGE_CLASS_COUNT; i++) {
        implied += found->by_class[i].implied;
    }
    if (memcmp(info->by_class, found->by_class, sizeof(info->by_class)) != 0 ||
        memcmp(info->by_evidence, found->by_evidence, sizeof(info->by_evidence)) != 0 ||
        info->members != found->members || info->waits != found->waits ||
        check->out_edges != found->edges - implied || check->stream_members != found->members) {
        struct wio_error fault = WIO_ERROR_INIT;
        (void)wio_error_set(&fault, WIO_ERR_FORMAT, check->file->name, check->file->index_offset,
                            "expected the counts of the rows: %" PRIu64 " edges (%" PRIu64
                            " implied, %" PRIu64 " by their begin), %" PRIu64 " members (%" PRIu64
                            " by stream), %" PRIu64 " waits",
                            found->edges, implied, check->out_edges, found->members,
                            check->stream_members, found->waits);
        report(check, &fault);
    }
}

static void check_file(struct edge_check *check)
{
    bool is_whole = true;
    for (unsigned kind = WIO_EDGES_IN; kind <= WIO_EDGES_WAITS; kind++) {
        is_whole = check_rows(check, (enum wio_edge_kind)kind) && is_whole;
    }
    if (is_whole) {
        check_counts(check);
    }
}

/* Held edges that fit no longer are no fault. */
static void check_held(struct edge_check *check)
{
    struct wio_held held;
    struct wio_error fault = WIO_ERROR_INIT;
    if (wio_held_file_read(check->trace, &held, &fault) != WIO_OK) {
        report(check, &fault);
        return;
    }
    wio_held_fini(&held);
}

static enum wio_status end(const struct edge_check *check)
{
    return check->faults == 0 ? WIO_OK : WIO_END;
}

enum wio_status wio_edge_file_check(const struct wio_trace *trace, wio_fault_fn *fault, void *arg,
                                    struct wio_error *err)
{
    struct edge_check check = {.trace = trace, .fault = fault, .arg = arg};
    struct wio_edge_file *file = NULL;
    struct wio_error finding = WIO_ERROR_INIT;
    bool is_current = false;
    char *name = NULL;
    if (asprintf(&name, "%s/%s", trace->path, WIO_EDGES_NAME) < 0) {
        return wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET, "no memory");
    }
    int fd = wio_io_open_regular(AT_FDCWD, name, 0);
    if (fd < 0 && errno == ENOENT) {
        free(name);
        check_held(&check);
        return end(&check);
    }
    enum wio_status status =
        fd < 0 ? wio_error_sys(&finding, name, "cannot open the file of edges")
               : wio_edge_file_open(trace, fd, name, &file, &is_current, &finding);
    free(name);
    if (status != WIO_OK) {
        report(&check, &finding);
    } else if (is_current) {
        check.file = file;
        check_file(&check);
    }
    wio_edge_file_close(file);
    if (status == WIO_OK) { /* else what is in the same file may be told twice */
        check_held(&check);
    }
    return end(&check);
}
