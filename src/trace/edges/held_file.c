/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/edges/held_file.h"

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
#include "trace/edges/held_segments.h"
#include "trace/read/trace_internal.h"

static void close_file(struct wio_edge_file **file)
{
    wio_edge_file_close(*file);
}

static void close_cursor(struct wio_edge_cursor **cursor)
{
    wio_edge_cursor_destroy(*cursor);
}

void wio_held_fini(struct wio_held *held)
{
    free(held->edges);
    *held = (struct wio_held){0};
}

static enum wio_status no_memory(const struct wio_trace *trace, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET,
                         "no memory for edges that were found by holding");
}

/* ---- reading ------------------------------------------------------------------------------ */

/* *file_out: NULL where there is no file of that name. */
static enum wio_status open_file(const struct wio_trace *trace, const char *name,
                                 struct wio_edge_file **file_out, struct wio_error *err)
{
    bool is_current = false;
    char *path = NULL;
    if (asprintf(&path, "%s/%s", trace->path, name) < 0) {
        return no_memory(trace, err);
    }
    enum wio_status status = WIO_OK;
    int fd = openat(trace->dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd >= 0) {
        status = wio_edge_file_open(trace, fd, path, file_out, &is_current, err);
    } else if (errno != ENOENT) {
        status = wio_error_sys(err, path, "cannot open the file of held edges");
    }
    free(path);
    return status;
}

static uint64_t held_in(const struct wio_edge_file *file)
{
    struct wio_edge_info info;
    wio_edge_file_get_info(file, &info);
    return info.by_evidence[WIO_EVIDENCE_HELD].all;
}

/* trace.held, or a trace.edges of before (R-HELD-5). *file_out: NULL where neither has any.
 * *is_old_out: it is none that wio_held_file_write has made. */
static enum wio_status find_file(const struct wio_trace *trace, struct wio_edge_file **file_out,
                                 bool *is_old_out, struct wio_error *err)
{
    WIO_CLEANUP(close_file) struct wio_edge_file *file = NULL;
    *file_out = NULL;
    WIO_TRY(open_file(trace, WIO_HELD_NAME, &file, err));
    *is_old_out = file == NULL || file->marks == NULL;
    if (file == NULL) {
        WIO_TRY(open_file(trace, WIO_EDGES_NAME, &file, err));
    }
    if (file != NULL && (held_in(file) > 0 || file->is_only)) {
        *file_out = file;
        file = NULL;
    }
    return WIO_OK;
}

static bool has_event(const struct wio_trace *trace, struct wio_edge_point point)
{
    if (point.stream >= trace->stream_count) {
        return false;
    }
    const struct wio_stream_info *info = &trace->streams[point.stream];
    return point.seq >= info->first_seq && point.seq - info->first_seq < info->events;
}

static bool place(const struct wio_trace *trace, const struct wio_held_segments *segments,
                  struct wio_edge_point *point)
{
    return wio_held_segments_find(segments, point->stream, &point->stream) &&
           has_event(trace, *point);
}

/* R-DAMAGE-3, for held edges too: as many as are in proportion to the trace. */
static uint64_t edges_max(const struct wio_trace *trace, const struct wio_edge_file *file)
{
    uint64_t bytes = file->file.size;
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        bytes += trace->segments[i].file.size;
    }
    return (WIO_BLOCK_MAX_BYTES + 256 * bytes) / sizeof(struct wio_held_edge);
}

static enum wio_status too_many(const struct wio_edge_file *file, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, file->name, WIO_ERROR_NO_OFFSET,
                         "expected held edges of at most 64 MiB and 256 times the trace");
}

static enum wio_status add(const struct wio_trace *trace, const struct wio_held_segments *segments,
                           const struct wio_edge_row *row, struct wio_held *held,
                           uint32_t *capacity)
{
    struct wio_held_edge edge = {row->from, row->to};
    if (!place(trace, segments, &edge.from) || !place(trace, segments, &edge.to)) {
        held->lost++;
        return WIO_OK;
    }
    void *array = held->edges;
    WIO_TRY(wio_make_room(&array, sizeof(edge), capacity, (uint32_t)held->count + 1));
    held->edges = array;
    held->edges[held->count++] = edge;
    return WIO_OK;
}

static enum wio_status read_rows(const struct wio_trace *trace, const struct wio_edge_file *file,
                                 const struct wio_held_segments *segments, struct wio_held *held,
                                 struct wio_error *err)
{
    WIO_CLEANUP(close_cursor) struct wio_edge_cursor *cursor = NULL;
    const struct wio_edge_filter filter = {.struct_size = sizeof(filter),
                                           .kind = WIO_EDGES_IN,
                                           .has_implied = true,
                                           .evidences = 1u << WIO_EVIDENCE_HELD};
    const struct wio_edge_row *row = NULL;
    uint32_t capacity = 0;
    uint64_t max = edges_max(trace, file);
    enum wio_status status;
    WIO_TRY(wio_edge_cursor_create(file, &filter, &cursor, err));
    while ((status = wio_edge_cursor_next(cursor, &row, err)) == WIO_OK) {
        if (held->count >= max) {
            return too_many(file, err);
        }
        if (add(trace, segments, row, held, &capacity) != WIO_OK) {
            return no_memory(trace, err);
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

enum wio_status wio_held_file_read(const struct wio_trace *trace, struct wio_held *held_out,
                                   struct wio_error *err)
{
    WIO_CLEANUP(close_file) struct wio_edge_file *file = NULL;
    WIO_CLEANUP(wio_held_segments_fini) struct wio_held_segments segments = {0};
    *held_out = (struct wio_held){0};
    bool is_old = false;
    WIO_TRY(find_file(trace, &file, &is_old, err));
    if (file == NULL) {
        return WIO_OK;
    }
    WIO_TRY(wio_held_segments_match(trace, file->segments, file->marks, &segments, err));
    file->bounds.streams = segments.streams; /* those that were there */
    held_out->is_only = file->is_only;       /* R-HELD-4 */
    held_out->is_old = is_old;
    enum wio_status status = read_rows(trace, file, &segments, held_out, err);
    if (status != WIO_OK) {
        wio_held_fini(held_out);
    }
    return status;
}

/* ---- writing: R-HELD-1 -------------------------------------------------------------------- */

static int by_end(const void *a, const void *b)
{
    const struct wio_edge_point *left = &((const struct wio_held_edge *)a)->to;
    const struct wio_edge_point *right = &((const struct wio_held_edge *)b)->to;
    if (left->stream != right->stream) {
        return left->stream < right->stream ? -1 : 1;
    }
    return (left->seq > right->seq) - (left->seq < right->seq);
}

static enum wio_status write_rows(struct wio_edge_writer *writer, const struct wio_held_edge *edges,
                                  size_t count, struct wio_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct wio_edge_row row = {.from = edges[i].from,
                                         .to = edges[i].to,
                                         .edge_class = WIO_EDGE_HARD,
                                         .evidence = WIO_EVIDENCE_HELD};
        WIO_TRY(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_IN, &row, err));
    }
    return WIO_OK;
}

/* Nothing was found: as if nothing had been held. */
static enum wio_status remove_file(const struct wio_trace *trace, struct wio_error *err)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", trace->path, WIO_HELD_NAME) < 0) {
        return no_memory(trace, err);
    }
    enum wio_status status = unlinkat(trace->dir, WIO_HELD_NAME, 0) == 0 || errno == ENOENT
                                 ? WIO_OK
                                 : wio_error_sys(err, path, "cannot remove the old held edges");
    free(path);
    return status;
}

enum wio_status wio_held_file_write(const struct wio_trace *trace,
                                    const struct wio_held_edge *edges, size_t count, bool is_only,
                                    struct wio_error *err)
{
    if (count == 0 && !is_only) {
        return remove_file(trace, err);
    }
    struct wio_edge_writer *writer = NULL;
    struct wio_held_edge *sorted = calloc(count + 1, sizeof(*sorted));
    if (sorted == NULL) {
        return no_memory(trace, err);
    }
    if (count > 0) {
        memcpy(sorted, edges, count * sizeof(*edges));
    }
    qsort(sorted, count, sizeof(*sorted), by_end);
    enum wio_status status = wio_held_writer_create(trace, is_only, &writer, err);
    if (status == WIO_OK) {
        status = write_rows(writer, sorted, count, err);
        if (status == WIO_OK) {
            status = wio_edge_writer_finish(writer, NULL, err);
        } else {
            wio_edge_writer_abandon(writer);
        }
    }
    free(sorted);
    return status;
}

/* Of a file whose edges do not all fit: as it is, with the name of the new one. */
static enum wio_status give_name(const struct wio_trace *trace, struct wio_error *err)
{
    char *names[2] = {NULL, NULL};
    if (asprintf(&names[0], "%s/%s", trace->path, WIO_EDGES_NAME) < 0 ||
        asprintf(&names[1], "%s/%s", trace->path, WIO_HELD_NAME) < 0) {
        free(names[0]);
        return no_memory(trace, err);
    }
    enum wio_status status = renameat(trace->dir, WIO_EDGES_NAME, trace->dir, WIO_HELD_NAME) == 0
                                 ? WIO_OK
                                 : wio_error_sys(err, names[1], "cannot keep the held edges");
    free(names[0]);
    free(names[1]);
    return status;
}

enum wio_status wio_held_file_keep(const struct wio_trace *trace, const struct wio_held *held,
                                   struct wio_error *err)
{
    WIO_CLEANUP(close_file) struct wio_edge_file *file = NULL;
    if (!held->is_old) {
        return WIO_OK;
    }
    if (held->lost == 0) {
        return wio_held_file_write(trace, held->edges, held->count, held->is_only, err);
    }
    WIO_TRY(open_file(trace, WIO_HELD_NAME, &file, err));
    return file == NULL ? give_name(trace, err) : WIO_OK;
}
