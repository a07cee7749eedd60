/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a file of edges: header, trailer, index, tables. FORMAT.md#edges. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/crc.h"
#include "base/io.h"
#include "base/sized.h"
#include "trace/edges/edge_internal.h"
#include "trace/read/trace_internal.h"

void wio_edge_file_close(struct wio_edge_file *file)
{
    if (file == NULL) {
        return;
    }
    wio_fd_cleanup(&file->file.fd);
    for (unsigned i = 0; i < WIO_EDGE_ROW_KINDS; i++) {
        free(file->rows[i].items);
    }
    for (uint32_t i = 0; i < file->kept_count; i++) {
        free(file->kept[i]);
    }
    free(file->clocks);
    free(file->kept);
    free(file->objects);
    free(file->segments);
    free(file->notes);
    free(file->held);
    free(file->marks);
    free(file->name);
    free(file);
}

static void close_cleanup(struct wio_edge_file **file)
{
    wio_edge_file_close(*file);
}

enum wio_status wio_edge_head_get(struct wio_buf *buf, struct wio_edge_head *head_out)
{
    WIO_TRY(wio_buf_varint(buf, &head_out->first));
    WIO_TRY(wio_buf_varint(buf, &head_out->first_seq));
    WIO_TRY(wio_buf_varint(buf, &head_out->last));
    WIO_TRY(wio_buf_varint(buf, &head_out->count));
    if (head_out->first > UINT32_MAX || head_out->last > UINT32_MAX ||
        head_out->first > head_out->last || head_out->count == 0 ||
        head_out->count > WIO_EDGES_ROWS_MAX) {
        return WIO_ERR_FORMAT;
    }
    return WIO_OK;
}

/* The file owns a payload that texts point into. */
static enum wio_status keep(struct wio_edge_file *file, struct wio_blob *payload)
{
    void *array = file->kept;
    WIO_TRY(wio_grow(&array, sizeof(*file->kept), &file->kept_capacity, file->kept_count + 1));
    file->kept = array;
    file->kept[file->kept_count++] = payload->data;
    *payload = (struct wio_blob){0};
    return WIO_OK;
}

static enum wio_status add_rows(struct wio_edge_file *file, unsigned kind, uint64_t offset,
                                struct wio_buf *buf)
{
    struct wio_edge_blocks *blocks = &file->rows[kind - WIO_BLOCK_EDGES_IN];
    struct wio_edge_head head;
    WIO_TRY(wio_edge_head_get(buf, &head));
    WIO_TRY(wio_edge_charge(file, sizeof(*blocks->items)));
    const struct wio_edge_block *before =
        blocks->count == 0 ? NULL : &blocks->items[blocks->count - 1];
    if (before != NULL && (head.first < before->last || offset <= before->offset ||
                           (head.first == before->first && head.first_seq < before->first_seq))) {
        return WIO_ERR_FORMAT; /* R-EDGE-3: a search would miss rows, or one block come twice */
    }
    void *array = blocks->items;
    WIO_TRY(wio_grow(&array, sizeof(*blocks->items), &blocks->capacity, blocks->count + 1));
    blocks->items = array;
    blocks->items[blocks->count++] = (struct wio_edge_block){
        .offset = offset,
        .first_seq = head.first_seq,
        .first = (uint32_t)head.first,
        .last = (uint32_t)head.last,
        .count = (uint32_t)head.count,
    };
    return WIO_OK;
}

static enum wio_status refuse(const struct wio_edge_file *file, enum wio_status status,
                              uint64_t offset, const char *what, size_t at, struct wio_error *err)
{
    if (status == WIO_ERR_UNSUPPORTED) {
        return wio_error_set(err, status, file->name, offset,
                             "expected index and tables of at most 64 MiB and 256 times the file");
    }
    return wio_error_set(err, status, file->name, offset + WIO_BLOCK_HEAD_BYTES,
                         "expected %s, found something else at its byte %zu", what, at);
}

static enum wio_status read_table(struct wio_edge_file *file, struct wio_pack *pack,
                                  uint64_t offset, uint64_t kind, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    struct wio_block_head head;
    WIO_TRY(wio_block_read(&file->file, pack, offset, &head, &payload, err));
    if (head.kind != kind) {
        return wio_error_set(err, WIO_ERR_FORMAT, file->name, offset + 4,
                             "expected a block of kind %" PRIu64 ", found kind %u", kind,
                             head.kind);
    }
    struct wio_buf buf = wio_buf_of(payload.data, payload.size);
    enum wio_status status = wio_edge_charge(file, payload.size);
    status = status == WIO_OK ? wio_edge_table(file, kind, &buf) : status;
    status = status == WIO_OK ? keep(file, &payload) : status; /* texts point into it */
    return status == WIO_OK ? WIO_OK : refuse(file, status, offset, "a table", buf.pos, err);
}

static enum wio_status parse_index(struct wio_edge_file *file, struct wio_pack *pack,
                                   struct wio_buf *buf, struct wio_error *err)
{
    uint64_t count = 0;
    enum wio_status status = wio_buf_varint(buf, &count);
    while (status == WIO_OK && count-- > 0) {
        uint64_t offset = 0;
        uint64_t stored = 0;
        uint64_t kind = 0;
        status = wio_buf_varint(buf, &offset);
        status = status == WIO_OK ? wio_buf_varint(buf, &stored) : status;
        status = status == WIO_OK ? wio_buf_varint(buf, &kind) : status;
        if (status != WIO_OK) {
            break;
        }
        if (kind >= WIO_BLOCK_EDGES_IN && kind <= WIO_BLOCK_WAITS) {
            status = add_rows(file, (unsigned)kind, offset, buf);
        } else {
            WIO_TRY(read_table(file, pack, offset, kind, err));
        }
    }
    if (status == WIO_OK && wio_buf_left(buf) > 0) {
        status = WIO_ERR_FORMAT;
    }
    return status == WIO_OK ? WIO_OK
                            : refuse(file, status, file->index_offset, "an index", buf->pos, err);
}

static enum wio_status read_index(struct wio_edge_file *file, struct wio_pack *pack,
                                  struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    struct wio_block_head head;
    WIO_TRY(wio_block_read(&file->file, pack, file->index_offset, &head, &payload, err));
    if (head.kind != WIO_BLOCK_EDGES_INDEX) {
        return wio_error_set(err, WIO_ERR_FORMAT, file->name, file->index_offset + 4,
                             "expected an EDGES_INDEX block (kind %d), found kind %u",
                             WIO_BLOCK_EDGES_INDEX, head.kind);
    }
    if (wio_edge_charge(file, payload.size) != WIO_OK) {
        return refuse(file, WIO_ERR_UNSUPPORTED, file->index_offset, "", 0, err);
    }
    struct wio_buf buf = wio_buf_of(payload.data, payload.size);
    return parse_index(file, pack, &buf, err);
}

static enum wio_status read_all(struct wio_edge_file *file, struct wio_error *err)
{
    struct wio_frame_header header;
    WIO_TRY(wio_frame_read_header(&file->file, &wio_frame_edges, &header, err));
    WIO_TRY(wio_frame_read_trailer(&file->file, &wio_frame_edges, &file->index_offset, err));
    struct wio_pack pack = {0};
    enum wio_status status = read_index(file, &pack, err);
    wio_pack_fini(&pack);
    return status;
}

static struct wio_edge_file *file_new(int fd, const char *name)
{
    struct wio_edge_file *file = calloc(1, sizeof(*file));
    if (file == NULL) {
        return NULL;
    }
    file->file.fd = -1;
    file->name = strdup(name);
    file->objects = calloc(16, sizeof(*file->objects));
    if (file->name == NULL || file->objects == NULL) {
        wio_edge_file_close(file);
        return NULL;
    }
    file->objects[0] = "";
    file->object_count = 1;
    file->object_capacity = 16;
    file->file.fd = fd;
    file->file.name = file->name;
    return file;
}

typedef enum wio_status now_fn(const struct wio_trace *trace, const char *text, char **text_out,
                               struct wio_error *err);

static enum wio_status segments_now(const struct wio_trace *trace, const char *text,
                                    char **text_out, struct wio_error *err)
{
    (void)text;
    return wio_edge_segments_text(trace, text_out, err);
}

static enum wio_status marks_now(const struct wio_trace *trace, const char *text, char **text_out,
                                 struct wio_error *err)
{
    (void)text;
    return wio_edge_marks_text(trace, text_out, err);
}

/* Of a file of before there is no text. */
static bool is_as_now(const char *text, now_fn *now, const struct wio_trace *trace,
                      enum wio_status *status, struct wio_error *err)
{
    char *current = NULL;
    *status = *status == WIO_OK ? now(trace, text, &current, err) : *status;
    bool is_same = *status == WIO_OK && strcmp(text, current) == 0;
    free(current);
    return is_same;
}

static enum wio_status finish(const struct wio_trace *trace, struct wio_edge_file *file,
                              bool *is_current_out, struct wio_error *err)
{
    enum wio_status status = WIO_OK;
    const char *held = file->held != NULL ? file->held : "";
    *is_current_out =
        file->segments != NULL && is_as_now(file->segments, segments_now, trace, &status, err) &&
        is_as_now(held, wio_edge_held_text, trace, &status, err) && /* R-HELD-3 */
        (file->marks == NULL || is_as_now(file->marks, marks_now, trace, &status, err));
    WIO_TRY(status);
    file->info.objects = file->object_count - 1;
    file->bounds = (struct wio_edge_bounds){
        .streams = trace->stream_count,
        .objects = file->info.objects,
        .collectives = file->info.collectives,
    };
    return WIO_OK;
}

enum wio_status wio_edge_file_open(const struct wio_trace *trace, int fd, const char *name,
                                   struct wio_edge_file **file_out, bool *is_current_out,
                                   struct wio_error *err)
{
    WIO_CLEANUP(close_cleanup) struct wio_edge_file *file = file_new(fd, name);
    struct stat st;
    if (file == NULL) {
        (void)close(fd);
        return wio_error_set(err, WIO_ERR_NOMEM, name, WIO_ERROR_NO_OFFSET,
                             "no memory to read edges");
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return wio_error_set(err, WIO_ERR_FORMAT, name, WIO_ERROR_NO_OFFSET,
                             "expected a file of edges, found something that is no file");
    }
    file->file.size = (uint64_t)st.st_size;
    WIO_TRY(read_all(file, err));
    WIO_TRY(finish(trace, file, is_current_out, err));
    *file_out = file;
    file = NULL;
    return WIO_OK;
}

enum wio_status wio_trace_find_edges(struct wio_trace *trace, struct wio_error *err)
{
    char *name = NULL;
    if (asprintf(&name, "%s/%s", trace->path, WIO_EDGES_NAME) < 0) {
        return wio_error_set(err, WIO_ERR_NOMEM, trace->path, WIO_ERROR_NO_OFFSET, "no memory");
    }
    enum wio_status status = WIO_OK;
    int fd = wio_io_open_regular(trace->dir, WIO_EDGES_NAME, 0);
    if (fd >= 0) {
        struct wio_edge_file *file = NULL;
        bool is_current = false;
        status = wio_edge_file_open(trace, fd, name, &file, &is_current, err);
        if (status == WIO_OK && is_current) {
            status = wio_trace_take_edges(trace, file, err);
        } else {
            wio_edge_file_close(file);
        }
    } else if (errno != ENOENT) {
        status = wio_error_sys(err, name, "cannot open the file of edges");
    }
    free(name);
    return status;
}

const char *wio_edge_file_name(const struct wio_edge_file *file)
{
    return file->name;
}

const char *wio_edge_file_notes(const struct wio_edge_file *file)
{
    return file->notes == NULL ? "" : file->notes;
}

size_t wio_edge_file_clock_count(const struct wio_edge_file *file)
{
    return file->clock_count;
}

const struct wio_clock_row *wio_edge_file_clock(const struct wio_edge_file *file, size_t i)
{
    return &file->clocks[i];
}

void wio_edge_file_get_info_sized(const struct wio_edge_file *file, struct wio_edge_info *info_out,
                                  size_t size)
{
    wio_copy_sized(info_out, size, &file->info, sizeof(file->info));
}

const char *wio_edge_file_object(const struct wio_edge_file *file, uint32_t object)
{
    return object < file->object_count ? file->objects[object] : "";
}
