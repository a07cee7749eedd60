/* SPDX-License-Identifier: Apache-2.0 */
#include "report/dump/node_waits.h"

#include "base/cleanup.h"

static enum wio_status next_edge(struct wio_edge_cursor *cursor, const struct wio_edge_row **row,
                                 struct wio_error *err)
{
    enum wio_status status = wio_edge_cursor_next(cursor, row, err);
    *row = status == WIO_OK ? *row : NULL;
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status next_member(struct wio_node_waits *waits, struct wio_error *err)
{
    enum wio_status status = wio_edge_cursor_next_member(waits->members, &waits->member, err);
    waits->member = status == WIO_OK ? waits->member : NULL;
    return status == WIO_END ? WIO_OK : status;
}

enum wio_status wio_node_waits_init(struct wio_node_waits *waits, const struct wio_trace *trace,
                                    struct wio_error *err)
{
    const struct wio_edge_file *file = wio_trace_edges(trace);
    struct wio_edge_filter filter = {.struct_size = sizeof(filter), .kind = WIO_EDGES_IN};
    *waits = (struct wio_node_waits){0};
    if (file == NULL) {
        return WIO_OK;
    }
    WIO_TRY(wio_edge_cursor_create(file, &filter, &waits->in, err));
    filter.kind = WIO_EDGES_OUT;
    WIO_TRY(wio_edge_cursor_create(file, &filter, &waits->out, err));
    filter.kind = WIO_EDGES_MEMBERS;
    WIO_TRY(wio_edge_cursor_create(file, &filter, &waits->members, err));
    WIO_TRY(next_edge(waits->in, &waits->wait, err));
    WIO_TRY(next_edge(waits->out, &waits->signal, err));
    return next_member(waits, err);
}

void wio_node_waits_fini(struct wio_node_waits *waits)
{
    wio_edge_cursor_destroy(waits->in);
    wio_edge_cursor_destroy(waits->out);
    wio_edge_cursor_destroy(waits->members);
}

/* Is the point one of the node before `limit`, or of a node that was left out? */
static bool is_due(uint32_t stream, uint64_t seq, uint32_t node, uint64_t limit)
{
    return stream < node || (stream == node && seq < limit);
}

/* "WAIT(3)  # for its operation 17: hard, mpi" */
static void put_edge(struct wio_line *line, const char *what, const struct wio_edge_point *other,
                     const char *which, const struct wio_edge_row *row)
{
    wio_line_text(line, what);
    wio_line_u64(line, other->stream);
    wio_line_text(line, which);
    wio_line_u64(line, other->seq);
    WIO_LINE_LITERAL(line, ": ");
    wio_line_text(line, wio_edge_class_name(row->edge_class));
    WIO_LINE_LITERAL(line, ", ");
    wio_line_text(line, wio_evidence_name(row->evidence));
    wio_line_byte(line, '\n');
}

/* "COLLECTIVE(5)  # of 4 nodes: mpi" */
static void put_member(struct wio_line *line, const struct wio_member_row *row)
{
    WIO_LINE_LITERAL(line, "COLLECTIVE(");
    wio_line_u64(line, row->collective);
    WIO_LINE_LITERAL(line, ")  # of ");
    wio_line_u64(line, row->members);
    WIO_LINE_LITERAL(line, " nodes: ");
    wio_line_text(line, wio_evidence_name(row->evidence));
    wio_line_byte(line, '\n');
}

enum wio_status wio_node_put_waits(struct wio_node_waits *waits, struct wio_line *line,
                                   uint32_t node, uint64_t limit, struct wio_error *err)
{
    while (waits->wait != NULL &&
           is_due(waits->wait->to.stream, waits->wait->to.seq, node, limit)) {
        if (waits->wait->to.stream == node) {
            put_edge(line, "WAIT(", &waits->wait->from, ")  # for its operation ", waits->wait);
        }
        WIO_TRY(next_edge(waits->in, &waits->wait, err));
    }
    while (waits->member != NULL &&
           is_due(waits->member->stream, waits->member->enter_seq, node, limit)) {
        if (waits->member->stream == node) {
            put_member(line, waits->member);
        }
        WIO_TRY(next_member(waits, err));
    }
    return WIO_OK;
}

enum wio_status wio_node_put_signals(struct wio_node_waits *waits, struct wio_line *line,
                                     uint32_t node, uint64_t limit, struct wio_error *err)
{
    while (waits->signal != NULL &&
           is_due(waits->signal->from.stream, waits->signal->from.seq, node, limit)) {
        if (waits->signal->from.stream == node) {
            put_edge(line, "SIGNAL(", &waits->signal->to, ")  # before its operation ",
                     waits->signal);
        }
        WIO_TRY(next_edge(waits->out, &waits->signal, err));
    }
    return WIO_OK;
}

static void put_point_json(struct wio_line *line, bool is_first, const struct wio_edge_point *other,
                           const struct wio_edge_row *row)
{
    wio_line_text(line, is_first ? "{\"node\": " : ", {\"node\": ");
    wio_line_u64(line, other->stream);
    WIO_LINE_LITERAL(line, ", \"seq\": ");
    wio_line_u64(line, other->seq);
    WIO_LINE_LITERAL(line, ", \"class\": \"");
    wio_line_text(line, wio_edge_class_name(row->edge_class));
    WIO_LINE_LITERAL(line, "\", \"evidence\": \"");
    wio_line_text(line, wio_evidence_name(row->evidence));
    WIO_LINE_LITERAL(line, "\"}");
}

enum wio_status wio_node_put_json(struct wio_node_waits *waits, struct wio_line *line,
                                  uint32_t node, uint64_t limit, struct wio_error *err)
{
    bool is_first = true;
    WIO_LINE_LITERAL(line, ", \"waits\": [");
    while (waits->wait != NULL &&
           is_due(waits->wait->to.stream, waits->wait->to.seq, node, limit)) {
        if (waits->wait->to.stream == node) {
            put_point_json(line, is_first, &waits->wait->from, waits->wait);
            is_first = false;
        }
        WIO_TRY(next_edge(waits->in, &waits->wait, err));
    }
    is_first = true;
    WIO_LINE_LITERAL(line, "], \"collectives\": [");
    while (waits->member != NULL &&
           is_due(waits->member->stream, waits->member->enter_seq, node, limit)) {
        if (waits->member->stream == node) {
            wio_line_text(line, is_first ? "" : ", ");
            wio_line_u64(line, waits->member->collective);
            is_first = false;
        }
        WIO_TRY(next_member(waits, err));
    }
    is_first = true;
    WIO_LINE_LITERAL(line, "], \"signals\": [");
    while (waits->signal != NULL &&
           is_due(waits->signal->from.stream, waits->signal->from.seq, node, limit)) {
        if (waits->signal->from.stream == node) {
            put_point_json(line, is_first, &waits->signal->to, waits->signal);
            is_first = false;
        }
        WIO_TRY(next_edge(waits->out, &waits->signal, err));
    }
    WIO_LINE_LITERAL(line, "]");
    return WIO_OK;
}
