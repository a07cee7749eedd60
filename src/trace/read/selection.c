/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/read/cursor_internal.h"

void wio_selection_fini(struct wio_selection *selection)
{
    free(selection->streams);
    free(selection->ops);
    free(selection->paths);
    *selection = (struct wio_selection){0};
}

static bool has_rank(const struct wio_filter *filter, int32_t rank)
{
    for (size_t i = 0; i < filter->rank_count; i++) {
        if (filter->ranks[i] == rank) {
            return true;
        }
    }
    return filter->rank_count == 0;
}

static enum wio_status select_streams(struct wio_selection *selection,
                                      const struct wio_trace *trace,
                                      const struct wio_filter *filter)
{
    selection->streams = calloc((size_t)trace->stream_count + 1, sizeof(*selection->streams));
    if (selection->streams == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        int32_t rank = trace->processes[trace->streams[i].process].rank;
        selection->streams[i] = filter->stream_count == 0 && has_rank(filter, rank);
    }
    for (size_t i = 0; i < filter->stream_count; i++) {
        uint32_t stream = filter->streams[i];
        if (stream < trace->stream_count) {
            int32_t rank = trace->processes[trace->streams[stream].process].rank;
            selection->streams[stream] = has_rank(filter, rank);
        }
    }
    return WIO_OK;
}

static enum wio_status select_ops(struct wio_selection *selection, const struct wio_filter *filter)
{
    if (filter->op_count == 0) {
        return WIO_OK;
    }
    selection->ops = calloc(WIO_OP_COUNT, sizeof(*selection->ops));
    if (selection->ops == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (size_t i = 0; i < filter->op_count; i++) {
        if (filter->ops[i] < WIO_OP_COUNT) {
            selection->ops[filter->ops[i]] = true;
        }
    }
    return WIO_OK;
}

static enum wio_status select_paths(struct wio_selection *selection, const struct wio_trace *trace,
                                    const struct wio_filter *filter)
{
    if (filter->path_count == 0) {
        return WIO_OK;
    }
    selection->paths = calloc(trace->string_count / 64 + 1, sizeof(*selection->paths));
    if (selection->paths == NULL) {
        return WIO_ERR_NOMEM;
    }
    selection->path_count = trace->string_count;
    for (size_t i = 0; i < filter->path_count; i++) {
        uint32_t path = filter->paths[i];
        if (path < trace->string_count) {
            selection->paths[path / 64] |= 1ull << (path % 64);
        }
    }
    return WIO_OK;
}

enum wio_status wio_selection_init(struct wio_selection *selection, const struct wio_trace *trace,
                                   const struct wio_filter *filter)
{
    *selection = (struct wio_selection){0};
    WIO_TRY(select_streams(selection, trace, filter));
    WIO_TRY(select_ops(selection, filter));
    WIO_TRY(select_paths(selection, trace, filter));
    uint64_t columns = filter->columns;
    if (columns != 0 && selection->paths != NULL) {
        columns |= WIO_COLUMN_PATH | WIO_COLUMN_SECOND;
    }
    selection->wanted = wio_events_wanted(columns);
    return WIO_OK;
}

static bool has_path(const struct wio_selection *selection, uint32_t path)
{
    return path < selection->path_count && (selection->paths[path / 64] >> (path % 64) & 1) != 0;
}

/* Whatever cannot be parsed is left to the block itself to show. */
static bool rows_match(const struct wio_selection *selection,
                       const struct wio_events_context *context, struct wio_buf *details)
{
    uint64_t rows = 0;
    bool matches = selection->ops == NULL;
    if (wio_details_rows(details, &rows) != WIO_OK) {
        return true;
    }
    while (rows-- > 0) {
        struct wio_histogram_row row;
        if (wio_details_row(details, &row) != WIO_OK || row.call >= context->call_count) {
            return true;
        }
        matches = matches || selection->ops[context->calls[row.call].op];
    }
    return matches;
}

static bool paths_match(const struct wio_selection *selection,
                        const struct wio_events_context *context, struct wio_buf *details)
{
    uint64_t listed = 0;
    uint64_t id = 0;
    if (selection->paths == NULL || wio_buf_varint(details, &listed) != WIO_OK || listed == 0) {
        return true;
    }
    while (--listed > 0) {
        uint64_t step = 0;
        if (wio_buf_varint(details, &step) != WIO_OK) {
            return true;
        }
        id += step;
        bool is_mapped = context->strings != NULL;
        uint64_t path = is_mapped && id < context->string_count ? context->strings[id] : id;
        if (path <= UINT32_MAX && has_path(selection, (uint32_t)path)) {
            return true;
        }
    }
    return false;
}

bool wio_selection_has_block(const struct wio_selection *selection, const struct wio_trace *trace,
                             const struct wio_block_ref *block)
{
    const struct wio_events_context *context = &trace->segments[block->segment].context;
    struct wio_buf details = block->details;
    return rows_match(selection, context, &details) && paths_match(selection, context, &details);
}

static bool is_wanted(const struct wio_selection *selection, const struct wio_event *event)
{
    if (selection->ops != NULL && !selection->ops[event->op]) {
        return false;
    }
    return selection->paths == NULL || has_path(selection, event->path) ||
           has_path(selection, event->path2);
}

size_t wio_selection_keep(const struct wio_selection *selection, struct wio_event *events,
                          size_t count)
{
    size_t kept = 0;
    if (selection->ops == NULL && selection->paths == NULL) {
        return count;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_wanted(selection, &events[i])) {
            events[kept++] = events[i];
        }
    }
    return kept;
}
