/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a file of edges: one block is held at a time. FORMAT.md#edges. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "trace/edges/edge_internal.h"
#include "trace/format/fresh.h"
#include "trace/read/trace_internal.h"

/* Objects are cut into blocks of about this size. */
#define OBJECTS_BLOCK_BYTES (4u << 20)

struct wio_edge_writer {
    struct wio_block_file file;
    struct wio_pack pack;
    char *label;           /* the file while it is written */
    int dir;               /* that of `label` and `final`: the trace's, borrowed */
    char *final;           /* its name at the end; NULL for a descriptor */
    char *segments;        /* R-EDGE-1 */
    struct wio_blob index; /* entries */
    uint64_t index_count;
    struct wio_blob meta;
    struct wio_blob clocks;
    uint64_t clock_count;
    struct wio_blob rows; /* of the block at hand */
    enum wio_block_kind kind;
    struct wio_edge_head head;
    struct wio_edge_numbers last;
    bool has_rows; /* of this kind, in this block or one before */
    struct wio_blob objects;
    uint64_t object_first; /* of the block at hand */
    uint64_t object_count; /* written or at hand */
    struct wio_edge_info info;
    uint64_t last_collective; /* counted, + 1 */
};

enum wio_status wio_edge_head_put(struct wio_blob *out, const struct wio_edge_head *head)
{
    WIO_TRY(wio_blob_varint(out, head->first));
    WIO_TRY(wio_blob_varint(out, head->first_seq));
    WIO_TRY(wio_blob_varint(out, head->last));
    return wio_blob_varint(out, head->count);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

void wio_edge_writer_abandon(struct wio_edge_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    if (writer->final != NULL && writer->file.fd >= 0) {
        (void)unlinkat(writer->dir, name_of(writer->label), 0);
    }
    wio_fd_cleanup(&writer->file.fd);
    wio_pack_fini(&writer->pack);
    wio_blob_fini(&writer->index);
    wio_blob_fini(&writer->meta);
    wio_blob_fini(&writer->clocks);
    wio_blob_fini(&writer->rows);
    wio_blob_fini(&writer->objects);
    free(writer->label);
    free(writer->final);
    free(writer->segments);
    free(writer);
}

static void abandon_cleanup(struct wio_edge_writer **writer)
{
    wio_edge_writer_abandon(*writer);
}

static enum wio_status fail(const struct wio_edge_writer *writer, enum wio_status status,
                            struct wio_error *err)
{
    return status == WIO_OK
               ? WIO_OK
               : wio_error_set(err, status, writer->label, writer->file.size, "cannot write edges");
}

/* With what a file of edges goes together. */
typedef enum wio_status begin_fn(struct wio_edge_writer *writer, const struct wio_trace *trace,
                                 struct wio_error *err);

static enum wio_status begin(const struct wio_trace *trace, int fd, char *label, char *final,
                             begin_fn *put_more, struct wio_edge_writer **writer_out,
                             struct wio_error *err)
{
    static const struct wio_frame_header header;
    WIO_CLEANUP(abandon_cleanup) struct wio_edge_writer *writer = calloc(1, sizeof(*writer));
    if (writer == NULL || label == NULL) {
        free(writer);
        writer = NULL;
        free(label);
        free(final);
        (void)close(fd);
        return wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET,
                             "no memory to write edges");
    }
    writer->label = label;
    writer->dir = trace->dir;
    writer->final = final;
    writer->file = (struct wio_block_file){.fd = fd, .name = label};
    writer->object_first = 1;
    WIO_TRY(wio_edge_segments_text(trace, &writer->segments, err));
    WIO_TRY(wio_frame_write_header(&writer->file, &wio_frame_edges, &header, err));
    WIO_TRY(wio_edge_writer_meta(writer, WIO_EDGES_META_SEGMENTS, writer->segments, err));
    WIO_TRY(put_more(writer, trace, err));
    *writer_out = writer;
    writer = NULL;
    return WIO_OK;
}

static enum wio_status put_text(struct wio_edge_writer *writer, enum wio_edges_meta key, char *text,
                                struct wio_error *err)
{
    enum wio_status status =
        text[0] != '\0' ? wio_edge_writer_meta(writer, key, text, err) : WIO_OK;
    free(text);
    return status;
}

/* R-EDGE-7. */
static enum wio_status put_marks(struct wio_edge_writer *writer, const struct wio_trace *trace,
                                 struct wio_error *err)
{
    char *text = NULL;
    WIO_TRY(wio_edge_marks_text(trace, &text, err));
    return put_text(writer, WIO_EDGES_META_MARKS, text, err);
}

/* R-HELD-3. */
static enum wio_status put_marks_and_held(struct wio_edge_writer *writer,
                                          const struct wio_trace *trace, struct wio_error *err)
{
    char *text = NULL;
    WIO_TRY(put_marks(writer, trace, err));
    WIO_TRY(wio_edge_held_text(trace, NULL, &text, err));
    return put_text(writer, WIO_EDGES_META_HELD, text, err);
}

enum wio_status wio_edge_writer_create_fd(const struct wio_trace *trace, int fd,
                                          struct wio_edge_writer **writer_out,
                                          struct wio_error *err)
{
    char *label = NULL;
    if (asprintf(&label, "%s/%s (in memory)", trace->path, WIO_EDGES_NAME) < 0) {
        label = NULL;
    }
    return begin(trace, fd, label, NULL, put_marks_and_held, writer_out, err);
}

/* Several commands may derive edges at once: each writes a file of its own, the last one stays. */
static enum wio_status create(const struct wio_trace *trace, const char *name, begin_fn *put_more,
                              struct wio_edge_writer **writer_out, struct wio_error *err)
{
    char *label = NULL;
    char *final = NULL;
    if (asprintf(&label, "%s/%s.%d-%" PRIx64 ".tmp", trace->path, name, (int)getpid(),
                 wio_clock_unix_ns()) < 0 ||
        asprintf(&final, "%s/%s", trace->path, name) < 0) {
        free(label);
        return wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET,
                             "no memory to write edges");
    }
    int fd = wio_fresh_create_at(trace->dir, name_of(label));
    if (fd < 0) {
        enum wio_status status = wio_error_sys(err, label, "cannot make the file of edges");
        free(label);
        free(final);
        return status;
    }
    return begin(trace, fd, label, final, put_more, writer_out, err);
}

enum wio_status wio_edge_writer_create(const struct wio_trace *trace,
                                       struct wio_edge_writer **writer_out, struct wio_error *err)
{
    return create(trace, WIO_EDGES_NAME, put_marks_and_held, writer_out, err);
}

enum wio_status wio_held_writer_create(const struct wio_trace *trace, bool is_only,
                                       struct wio_edge_writer **writer_out, struct wio_error *err)
{
    WIO_TRY(create(trace, WIO_HELD_NAME, put_marks, writer_out, err));
    enum wio_status status =
        is_only ? wio_edge_writer_meta(*writer_out, WIO_EDGES_META_ONLY, "1", err) : WIO_OK;
    if (status != WIO_OK) {
        wio_edge_writer_abandon(*writer_out);
        *writer_out = NULL;
    }
    return status;
}

/* An entry of the index for the block that was just written at `offset`. */
static enum wio_status index_block(struct wio_edge_writer *writer, enum wio_block_kind kind,
                                   uint64_t offset)
{
    writer->index_count++;
    WIO_TRY(wio_blob_varint(&writer->index, offset));
    WIO_TRY(wio_blob_varint(&writer->index, writer->file.size - offset - WIO_BLOCK_HEAD_BYTES));
    return wio_blob_varint(&writer->index, kind);
}

static enum wio_status write_block(struct wio_edge_writer *writer, enum wio_block_kind kind,
                                   const struct wio_blob *payload, struct wio_error *err)
{
    uint64_t offset = writer->file.size;
    WIO_TRY(wio_block_write(&writer->file, &writer->pack, kind, payload, 1, err));
    return fail(writer, index_block(writer, kind, offset), err);
}

static enum wio_status flush_rows(struct wio_edge_writer *writer, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    if (writer->head.count == 0) {
        return WIO_OK;
    }
    enum wio_status status = wio_edge_head_put(&payload, &writer->head);
    status =
        status == WIO_OK ? wio_blob_put(&payload, writer->rows.data, writer->rows.size) : status;
    WIO_TRY(fail(writer, status, err));
    WIO_TRY(write_block(writer, writer->kind, &payload, err));
    WIO_TRY(fail(writer, wio_edge_head_put(&writer->index, &writer->head), err));
    writer->head.count = 0;
    wio_blob_clear(&writer->rows);
    return WIO_OK;
}

static enum wio_status put_row(struct wio_edge_writer *writer, enum wio_block_kind kind,
                               const struct wio_edge_numbers *row, struct wio_error *err)
{
    if (kind != writer->kind || writer->head.count == WIO_EDGES_ROWS_MAX) {
        WIO_TRY(flush_rows(writer, err));
    }
    writer->has_rows = writer->has_rows && kind == writer->kind;
    writer->kind = kind;
    if (writer->has_rows && !wio_edge_numbers_ordered(&writer->last, row)) {
        return wio_error_set(err, WIO_ERR_USAGE, writer->label, writer->file.size,
                             "edges are to be written in order");
    }
    bool is_first = writer->head.count == 0;
    if (is_first) {
        uint64_t first_seq = kind == WIO_BLOCK_COLLECTIVES ? 0 : row->at[1];
        writer->head = (struct wio_edge_head){.first = row->at[0], .first_seq = first_seq};
        writer->last = (struct wio_edge_numbers){{row->at[0]}};
    }
    WIO_TRY(
        fail(writer, wio_edge_numbers_put(&writer->rows, kind, is_first, &writer->last, row), err));
    writer->head.last = row->at[0];
    writer->head.count++;
    writer->last = *row;
    writer->has_rows = true;
    return WIO_OK;
}

static void count(struct wio_edge_totals *totals, bool is_implied)
{
    totals->all++;
    totals->implied += is_implied ? 1 : 0;
}

enum wio_status wio_edge_writer_edge(struct wio_edge_writer *writer, enum wio_block_kind kind,
                                     const struct wio_edge_row *row, struct wio_error *err)
{
    const struct wio_edge_numbers numbers = wio_edge_numbers_of_edge(kind, row);
    if (kind == WIO_BLOCK_EDGES_IN) {
        writer->info.edges++;
        count(&writer->info.by_class[row->edge_class], row->is_implied);
        count(&writer->info.by_evidence[row->evidence], row->is_implied);
    }
    return put_row(writer, kind, &numbers, err);
}

enum wio_status wio_edge_writer_member(struct wio_edge_writer *writer, enum wio_block_kind kind,
                                       const struct wio_member_row *row, struct wio_error *err)
{
    const struct wio_edge_numbers numbers = wio_edge_numbers_of_member(kind, row);
    if (kind == WIO_BLOCK_COLLECTIVES) {
        writer->info.members++;
        if (writer->last_collective != row->collective + 1ull) {
            writer->last_collective = row->collective + 1ull;
            writer->info.collectives++;
            count(&writer->info.by_class[WIO_EDGE_COLLECTIVE], false);
            count(&writer->info.by_evidence[row->evidence], false);
        }
    }
    return put_row(writer, kind, &numbers, err);
}

enum wio_status wio_edge_writer_wait(struct wio_edge_writer *writer, const struct wio_wait_row *row,
                                     struct wio_error *err)
{
    const struct wio_edge_numbers numbers = wio_edge_numbers_of_wait(row);
    writer->info.waits++;
    return put_row(writer, WIO_BLOCK_WAITS, &numbers, err);
}

enum wio_status wio_edge_writer_meta(struct wio_edge_writer *writer, enum wio_edges_meta key,
                                     const char *value, struct wio_error *err)
{
    enum wio_status status = wio_blob_varint(&writer->meta, key);
    status = status == WIO_OK ? wio_blob_text(&writer->meta, value, strlen(value)) : status;
    return fail(writer, status, err);
}

static enum wio_status flush_objects(struct wio_edge_writer *writer, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    uint64_t more = writer->object_count + 1 - writer->object_first;
    if (more == 0) {
        return WIO_OK;
    }
    enum wio_status status = wio_blob_varint(&payload, writer->object_first);
    status = status == WIO_OK ? wio_blob_varint(&payload, more) : status;
    status = status == WIO_OK ? wio_blob_put(&payload, writer->objects.data, writer->objects.size)
                              : status;
    WIO_TRY(fail(writer, status, err));
    WIO_TRY(write_block(writer, WIO_BLOCK_OBJECTS, &payload, err));
    writer->object_first = writer->object_count + 1;
    wio_blob_clear(&writer->objects);
    return WIO_OK;
}

enum wio_status wio_edge_writer_object(struct wio_edge_writer *writer, const char *text,
                                       struct wio_error *err)
{
    enum wio_status status = wio_blob_text(&writer->objects, text, strlen(text));
    status = status == WIO_OK ? wio_blob_u8(&writer->objects, 0) : status;
    WIO_TRY(fail(writer, status, err));
    writer->object_count++;
    return writer->objects.size < OBJECTS_BLOCK_BYTES ? WIO_OK : flush_objects(writer, err);
}

enum wio_status wio_edge_writer_clock(struct wio_edge_writer *writer,
                                      const struct wio_clock_row *row, struct wio_error *err)
{
    enum wio_status status = wio_blob_text(&writer->clocks, row->host, strlen(row->host));
    status = status == WIO_OK ? wio_blob_u8(&writer->clocks, 0) : status;
    status = status == WIO_OK ? wio_blob_svarint(&writer->clocks, row->offset_ns) : status;
    status = status == WIO_OK ? wio_blob_svarint(&writer->clocks, row->rate) : status;
    status = status == WIO_OK ? wio_blob_varint(&writer->clocks, row->uncertainty_ns) : status;
    writer->clock_count++;
    return fail(writer, status, err);
}

/* R-EDGE-1, key 7: the counts, which then need no pass over all rows. */
static enum wio_status put_totals(struct wio_edge_writer *writer, struct wio_error *err)
{
    char text[64 * (WIO_EDGE_CLASS_COUNT + WIO_EVIDENCE_COUNT + 2)];
    const struct wio_edge_info *info = &writer->info;
    int at = 0;
    for (unsigned i = 0; i < WIO_EDGE_CLASS_COUNT; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%" PRIu64 " %" PRIu64 " ",
                       info->by_class[i].all, info->by_class[i].implied);
    }
    for (unsigned i = 0; i < WIO_EVIDENCE_COUNT; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%" PRIu64 " %" PRIu64 " ",
                       info->by_evidence[i].all, info->by_evidence[i].implied);
    }
    (void)snprintf(text + at, sizeof(text) - (size_t)at, "%" PRIu64 " %" PRIu64, info->members,
                   info->waits);
    return wio_edge_writer_meta(writer, WIO_EDGES_META_TOTALS, text, err);
}

static enum wio_status write_tables(struct wio_edge_writer *writer, struct wio_error *err)
{
    WIO_TRY(flush_rows(writer, err));
    WIO_TRY(flush_objects(writer, err));
    if (writer->clock_count > 0) {
        WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
        enum wio_status status = wio_blob_varint(&payload, writer->clock_count);
        status = status == WIO_OK ? wio_blob_put(&payload, writer->clocks.data, writer->clocks.size)
                                  : status;
        WIO_TRY(fail(writer, status, err));
        WIO_TRY(write_block(writer, WIO_BLOCK_CLOCKS, &payload, err));
    }
    WIO_TRY(put_totals(writer, err));
    return write_block(writer, WIO_BLOCK_EDGES_META, &writer->meta, err);
}

static enum wio_status write_index(struct wio_edge_writer *writer, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    uint64_t offset = writer->file.size;
    enum wio_status status = wio_blob_varint(&payload, writer->index_count);
    status =
        status == WIO_OK ? wio_blob_put(&payload, writer->index.data, writer->index.size) : status;
    WIO_TRY(fail(writer, status, err));
    WIO_TRY(wio_block_write(&writer->file, &writer->pack, WIO_BLOCK_EDGES_INDEX, &payload, 1, err));
    return wio_frame_write_trailer(&writer->file, offset, err);
}

static enum wio_status publish(struct wio_edge_writer *writer, struct wio_error *err)
{
    if (fsync(writer->file.fd) != 0) {
        return wio_error_sys(err, writer->label, "cannot flush the file of edges");
    }
    int dir = writer->dir;
    if (renameat(dir, name_of(writer->label), dir, name_of(writer->final)) != 0) {
        return wio_error_sys(err, writer->final, "cannot name the finished file of edges");
    }
    free(writer->final);
    writer->final = NULL;
    return WIO_OK;
}

static enum wio_status finish(struct wio_edge_writer *writer, int *fd_out, struct wio_error *err)
{
    WIO_TRY(write_tables(writer, err));
    WIO_TRY(write_index(writer, err));
    if (writer->final != NULL) {
        return publish(writer, err);
    }
    if (fd_out != NULL) {
        *fd_out = fcntl(writer->file.fd, F_DUPFD_CLOEXEC, 0);
        if (*fd_out < 0) {
            return wio_error_sys(err, writer->label, "cannot keep the edges");
        }
    }
    return WIO_OK;
}

enum wio_status wio_edge_writer_finish(struct wio_edge_writer *writer, int *fd_out,
                                       struct wio_error *err)
{
    if (fd_out != NULL) {
        *fd_out = -1;
    }
    enum wio_status status = finish(writer, fd_out, err);
    wio_edge_writer_abandon(writer);
    return status;
}
