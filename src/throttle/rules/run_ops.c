/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/rules/run_ops.h"

#include <fcntl.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "ops/calls.h"
#include "ops/lookup.h"

struct ops_reader {
    const struct wio_trace *trace;
    const uint32_t *node_of;
    struct wio_run_ops *out;
    struct wio_map opened; /* paths that the run itself has opened -> whether it appends to them */
    uint32_t stream;       /* of the last event */
    bool is_looking;       /* the last I/O failed, and may be made again */
};

static uint64_t name_of(const struct wio_trace *trace, uint32_t path)
{
    size_t bytes;
    const char *text = wio_trace_string(trace, path, &bytes);
    return bytes > 0 ? XXH3_64bits(text, bytes) | 1 : 0;
}

static bool is_temporary(const struct wio_event *event)
{
    return wio_op_opens_temporary(event->op) || event->op == WIO_OP_mkdtemp;
}

static bool is_look(const struct wio_event *event)
{
    enum wio_class class = wio_op_class(event->op);
    return class == WIO_CLASS_STAT || class == WIO_CLASS_ACCESS ||
           (class == WIO_CLASS_OPEN && (event->arg[0] & O_CREAT) == 0);
}

/* The number of bytes moved counts. Whether a file was there may depend on the runs before, and
 * descriptor numbers are arbitrary: operations that depend on them differ by themselves. */
static int64_t result_of(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_READ:
    case WIO_CLASS_WRITE:
    case WIO_CLASS_COPY:
    case WIO_CLASS_ASYNC_READ:
    case WIO_CLASS_ASYNC_WRITE:
        return event->result;
    default:
        return 0;
    }
}

/* Where a write went. Appends, and writes to what was open before the run (standard output that
 * goes to a file), begin where the run before ended: they have no offset. */
static int64_t offset_of(const struct ops_reader *reader, const struct wio_event *event)
{
    const uint64_t *appends = wio_map_get(&reader->opened, event->path);
    bool has_place = appends != NULL && *appends == 0;
    return wio_op_class(event->op) != WIO_CLASS_WRITE || has_place ? event->offset : WIO_NO_OFFSET;
}

static enum wio_status grow(struct wio_run_list *list)
{
    size_t room = list->room > 0 ? 2 * list->room : 64;
    struct wio_run_op *ops = reallocarray(list->ops, room, sizeof(*ops));
    if (ops == NULL) {
        return WIO_ERR_NOMEM;
    }
    list->ops = ops;
    struct wio_edge_point *points = reallocarray(list->points, room, sizeof(*points));
    if (points == NULL) {
        return WIO_ERR_NOMEM;
    }
    list->points = points;
    list->room = room;
    return WIO_OK;
}

static bool is_failed_look(const struct wio_event *event)
{
    return event->error != 0 || (wio_op_class(event->op) == WIO_CLASS_READ && event->result == 0);
}

static enum wio_status read_event(struct ops_reader *reader, const struct wio_event *event)
{
    uint32_t n = reader->node_of[event->stream];
    if (n == UINT32_MAX || event->op == WIO_OP_hold) {
        return WIO_OK;
    }
    struct wio_run_list *list = &reader->out->lists[n];
    bool is_new = wio_run_op_counts(event);
    if (is_new && list->count == list->room) {
        WIO_TRY(grow(list));
    }
    struct wio_run_op op = {.name = name_of(reader->trace, event->path),
                            .size = event->size,
                            .offset = offset_of(reader, event),
                            .result = result_of(event),
                            .op = event->op,
                            .is_temporary = is_temporary(event),
                            .is_look = is_look(event)};
    struct wio_run_op *last = list->count > 0 ? &list->ops[list->count - 1] : NULL;
    if (is_new) {
        list->points[list->count] = (struct wio_edge_point){event->seq, event->stream};
        list->ops[list->count++] = op;
        reader->is_looking = is_failed_look(event);
    } else if (reader->is_looking && last != NULL && last->op == op.op && last->name == op.name) {
        last->result = op.result; /* made again */
        reader->is_looking = is_failed_look(event);
    }
    return WIO_OK;
}

static size_t find_opens(uint16_t ops[WIO_OP_COUNT])
{
    size_t count = 0;
    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        if (wio_op_class(op) == WIO_CLASS_OPEN) {
            ops[count++] = (uint16_t)op;
        }
    }
    return count;
}

static enum wio_status note_open(struct wio_map *opened, const struct wio_event *event)
{
    const uint64_t *before = wio_map_get(opened, event->path);
    bool appends = (wio_open_flags(event) & O_APPEND) != 0;
    if (event->error != 0 || (before != NULL && *before != 0)) {
        return WIO_OK;
    }
    return wio_map_put(opened, event->path, appends);
}

/* Of the whole run, since a child may write to what its parent opens. */
static enum wio_status read_opens(struct ops_reader *reader, struct wio_error *err)
{
    uint16_t ops[WIO_OP_COUNT];
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .ops = ops,
                                      .op_count = find_opens(ops),
                                      .columns =
                                          WIO_COLUMN_PATH | WIO_COLUMN_ERROR | WIO_COLUMN_ARGS};
    struct wio_cursor *cursor;
    const struct wio_event *event;
    enum wio_status status;
    WIO_TRY(wio_cursor_create(reader->trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        status = note_open(&reader->opened, event);
        if (status != WIO_OK) {
            break;
        }
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status read_events(struct ops_reader *reader, struct wio_error *err)
{
    struct wio_cursor *cursor;
    const struct wio_event *event;
    const struct wio_filter filter = {
        .struct_size = sizeof(filter),
        .order = WIO_ORDER_STREAM,
        .columns = WIO_COLUMN_FLAGS | WIO_COLUMN_PATH | WIO_COLUMN_OFFSET | WIO_COLUMN_SIZE |
                   WIO_COLUMN_RESULT | WIO_COLUMN_ERROR | WIO_COLUMN_ARGS};
    WIO_TRY(wio_cursor_create(reader->trace, &filter, &cursor, err));
    enum wio_status status;
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        reader->is_looking = reader->is_looking && event->stream == reader->stream;
        reader->stream = event->stream;
        status = read_event(reader, event);
        if (status != WIO_OK) {
            break;
        }
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

static void show_lists(struct wio_run_ops *ops)
{
    for (uint32_t n = 0; n < ops->count; n++) {
        ops->nodes[n] = (struct wio_run_node){ops->lists[n].ops, ops->lists[n].count};
    }
}

enum wio_status wio_run_ops_read(const struct wio_trace *trace, const uint32_t *node_of,
                                 uint32_t nodes, struct wio_run_ops *ops_out, struct wio_error *err)
{
    *ops_out = (struct wio_run_ops){.count = nodes};
    ops_out->lists = calloc((size_t)nodes + 1, sizeof(*ops_out->lists));
    ops_out->nodes = calloc((size_t)nodes + 1, sizeof(*ops_out->nodes));
    struct ops_reader reader = {
        .trace = trace, .node_of = node_of, .out = ops_out, .stream = UINT32_MAX};
    enum wio_status status =
        ops_out->lists == NULL || ops_out->nodes == NULL ? WIO_ERR_NOMEM : WIO_OK;
    if (status == WIO_OK) {
        status = read_opens(&reader, err);
    }
    if (status == WIO_OK) {
        status = read_events(&reader, err);
    }
    wio_map_fini(&reader.opened);
    if (status == WIO_ERR_NOMEM) {
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    WIO_TRY(status);
    show_lists(ops_out);
    return WIO_OK;
}

void wio_run_ops_fini(struct wio_run_ops *ops)
{
    for (uint32_t n = 0; ops->lists != NULL && n < ops->count; n++) {
        free(ops->lists[n].ops);
        free(ops->lists[n].points);
    }
    free(ops->lists);
    free(ops->nodes);
    *ops = (struct wio_run_ops){0};
}
