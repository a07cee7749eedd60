/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths were FIFOs before the trace says anything of their names. */
#include "base/cleanup.h"
#include "edges/edges_internal.h"
#include "ops/calls.h"

static bool find(struct wio_join_tables *tables, const struct wio_trace *trace)
{
    bool is_any = false;
    for (uint32_t i = 0; i < wio_trace_file_count(trace); i++) {
        const struct wio_file_info *file = wio_trace_file(trace, i);
        if (file->type == WIO_FILE_FIFO) {
            uint32_t path = wio_join_links_real(&tables->links, file->path, false);
            tables->fifos[path / 64] |= 1ull << (path % 64);
            is_any = true;
        }
    }
    return is_any;
}

static bool gives_name(uint16_t op)
{
    enum wio_class class = wio_op_class(op);
    return class == WIO_CLASS_MKNOD || class == WIO_CLASS_RENAME || class == WIO_CLASS_LINK;
}

/* Where a FIFO is made there was nothing of that name. */
static enum wio_status forget_made(struct wio_join_tables *tables, const struct wio_trace *trace,
                                   struct wio_error *err)
{
    uint16_t ops[WIO_OP_COUNT];
    struct wio_filter filter = {
        .struct_size = sizeof(filter), .order = WIO_ORDER_STREAM, .ops = ops};
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        if (gives_name((uint16_t)op)) {
            ops[filter.op_count++] = (uint16_t)op;
        }
    }
    WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
    enum wio_status status;
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        bool is_made = wio_op_class(event->op) == WIO_CLASS_MKNOD;
        uint32_t path = is_made ? event->path : event->path2;
        if (event->error == 0 && path < wio_trace_string_count(trace)) {
            path = wio_join_links_real(&tables->links, path, false);
            tables->fifos[path / 64] &= ~(1ull << (path % 64));
        }
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

enum wio_status wio_join_find_fifos(struct wio_join_tables *tables, const struct wio_trace *trace,
                                    struct wio_error *err)
{
    return find(tables, trace) ? forget_made(tables, trace, err) : WIO_OK;
}
