/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/changes/change_work.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/ids.h"
#include "ops/calls.h"
#include "predict/convert.h"

static bool has(const uint32_t *list, size_t count, uint32_t value)
{
    return count == 0 || bsearch(&value, list, count, sizeof(value), wio_ids_compare) != NULL;
}

bool wio_change_has(const struct wio_change_scope *scope, const struct wio_event *event)
{
    if (scope == NULL) {
        return true;
    }
    size_t op = 0;
    while (op < scope->op_count && scope->ops[op] != event->op) {
        op++;
    }
    return (scope->op_count == 0 || op < scope->op_count) &&
           has(scope->paths, scope->path_count, event->path) &&
           has(scope->sources, scope->source_count, event->source) &&
           has(scope->streams, scope->stream_count, event->stream);
}

/* ---- reading ---- */

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

size_t wio_change_ops(const bool *has_class, uint16_t *ops)
{
    size_t count = 0;
    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        if (has_class[wio_op_class(op)]) {
            ops[count++] = (uint16_t)op;
        }
    }
    return count;
}

static enum wio_status see_as_left(const struct wio_change_work *work,
                                   const struct wio_event *event, wio_change_see_fn *see, void *arg)
{
    const struct wio_edits *before = work->before;
    if (before->streams[event->stream].count == 0) {
        return see(arg, event);
    }
    if (wio_edits_has_dropped(before, event->stream, event->seq)) {
        return WIO_OK;
    }
    const struct wio_edit *range = wio_edits_range(before, event->stream, event->seq);
    if (range == NULL) {
        return see(arg, event);
    }
    struct wio_event left = *event;
    left.offset = (int64_t)range->offset;
    left.size = range->size;
    left.result = (int64_t)range->size;
    return see(arg, &left);
}

enum wio_status wio_change_read(const struct wio_change_work *work, bool is_by_time,
                                const uint16_t *ops, size_t op_count, wio_change_see_fn *see,
                                void *arg)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = is_by_time ? WIO_ORDER_TIME : WIO_ORDER_STREAM,
                                      .ops = ops,
                                      .op_count = op_count};
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_event *event;
    enum wio_status status;
    WIO_TRY(wio_cursor_create(work->program->trace, &filter, &cursor, work->err));
    while ((status = wio_cursor_next(cursor, &event, work->err)) == WIO_OK) {
        WIO_TRY(see_as_left(work, event, see, arg));
    }
    return status == WIO_END ? WIO_OK : status;
}

uint64_t wio_change_moves(const struct wio_program *program, const struct wio_event *event,
                          bool *is_write_out)
{
    enum wio_class cls = wio_op_class(event->op);
    bool moves = (cls == WIO_CLASS_READ || cls == WIO_CLASS_WRITE) &&
                 (event->flags & WIO_EVENT_CAUSED) == 0 && event->result > 0;
    *is_write_out = cls == WIO_CLASS_WRITE;
    uint64_t bytes = moves ? (uint64_t)event->result : 0;
    bool is_beyond = bytes > WIO_MODEL_SIZE_MAX ||
                     (event->offset >= 0 && (uint64_t)event->offset > WIO_MODEL_OFFSET_MAX - bytes);
    return !is_beyond && wio_used_files_is_storage(&program->files, event->path) ? bytes : 0;
}

enum wio_model_method wio_change_method(const struct wio_change_work *work,
                                        const struct wio_event *event)
{
    static const struct wio_predict_whatif none = {0}; /* nothing is forced */
    const struct wio_converter converter = {&work->program->files, &none};
    struct wio_converted as;
    wio_convert(&converter, event, wio_change_files(work, event), wio_op_class(event->op), &as);
    return as.op.method;
}
