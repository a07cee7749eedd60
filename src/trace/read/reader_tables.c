/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a segment, joined into those of the trace. FORMAT.md#tables. */
#include "trace/read/trace_internal.h"

#include <stdlib.h>
#include <string.h>

#include <whyio/segment.h>

#include "base/cleanup.h"

/* A name of the dictionary, as a C string. */
static enum wio_status parse_name(struct wio_buf *buf, char *name, size_t size)
{
    const char *text = NULL;
    size_t bytes = 0;
    WIO_TRY(wio_buf_text(buf, &text, &bytes));
    if (bytes >= size) {
        return WIO_ERR_FORMAT;
    }
    memcpy(name, text, bytes);
    name[bytes] = '\0';
    return WIO_OK;
}

/* R-TABLE-3: names decide; a name that this build does not know becomes "unknown". */
static enum wio_status parse_calls(struct wio_reader_segment *segment, struct wio_buf *buf)
{
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &count));
    if (segment->calls != NULL || count > UINT16_MAX + 1u || count > wio_buf_left(buf)) {
        return WIO_ERR_FORMAT;
    }
    segment->calls = calloc((size_t)count + 1, sizeof(*segment->calls));
    if (segment->calls == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint64_t i = 0; i < count; i++) {
        char symbol[128];
        char op[128];
        char cls[128];
        WIO_TRY(parse_name(buf, symbol, sizeof(symbol)));
        WIO_TRY(parse_name(buf, op, sizeof(op)));
        WIO_TRY(parse_name(buf, cls, sizeof(cls)));
        segment->calls[i] =
            (struct wio_events_call){(uint16_t)wio_op_find(op), (uint16_t)wio_call_find(symbol)};
    }
    segment->context.calls = segment->calls;
    segment->context.call_count = (uint32_t)count;
    return WIO_OK;
}

static enum wio_status parse_source(struct wio_buf *buf, struct wio_source_ref *source)
{
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &count));
    if (count > wio_buf_left(buf)) {
        return WIO_ERR_FORMAT;
    }
    source->count = (uint32_t)count;
    source->frames = wio_buf_of(buf->data + buf->pos, wio_buf_left(buf));
    size_t from = buf->pos;
    for (uint64_t i = 0; i < 3 * count; i++) {
        uint64_t ignored = 0;
        WIO_TRY(wio_buf_varint(buf, &ignored));
    }
    source->frames.size = buf->pos - from;
    return WIO_OK;
}

static enum wio_status parse_sources(struct wio_trace *trace, uint32_t number, struct wio_buf *buf)
{
    struct wio_reader_segment *segment = &trace->segments[number];
    uint64_t first = 0;
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &first));
    WIO_TRY(wio_buf_varint(buf, &count));
    if (first != segment->source_count + 1 || count > wio_buf_left(buf)) {
        return WIO_ERR_FORMAT;
    }
    while (count-- > 0) {
        struct wio_source_ref source = {.segment = number};
        WIO_TRY(parse_source(buf, &source));
        WIO_TRY(wio_reader_charge(segment, sizeof(source)));
        void *array = trace->sources;
        WIO_TRY(wio_grow(&array, sizeof(*trace->sources), &trace->source_capacity,
                         trace->source_count + 1));
        trace->sources = array;
        trace->sources[trace->source_count++] = source;
        segment->source_count++;
    }
    return WIO_OK;
}

static enum wio_status parse_stream(struct wio_trace *trace, struct wio_reader_segment *segment,
                                    struct wio_buf *buf)
{
    struct wio_stream_info info = {0};
    uint64_t process = 0;
    int64_t tid = 0;
    uint64_t dropped = 0;
    WIO_TRY(wio_buf_varint(buf, &process));
    WIO_TRY(wio_buf_svarint(buf, &tid));
    uint64_t *numbers[] = {&info.thread,  &info.events,     &info.first_seq,     &info.first_ns,
                           &info.last_ns, &info.bytes_read, &info.bytes_written, &dropped};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(numbers); i++) {
        WIO_TRY(wio_buf_varint(buf, numbers[i]));
    }
    if (process >= segment->process_count) {
        return WIO_ERR_FORMAT;
    }
    WIO_TRY(wio_reader_charge(segment, sizeof(info)));
    info.process = (uint32_t)process + segment->process_base;
    info.tid = (int32_t)tid;
    void *array = trace->streams;
    WIO_TRY(wio_grow(&array, sizeof(*trace->streams), &trace->stream_capacity,
                     trace->stream_count + 1));
    trace->streams = array;
    trace->streams[trace->stream_count++] = info;
    segment->stream_count++;
    return WIO_OK;
}

/* R-DIR-6. Join the row of the same path from another segment, sealed at another moment: a file
 * that was found wins over none, and the larger size wins, as files grow more often than shrink. */
static void join_file(struct wio_file_info *file, const struct wio_file_info *other)
{
    uint32_t uses = file->uses | other->uses;
    bool is_nothing = file->type == WIO_FILE_UNKNOWN || file->type == WIO_FILE_NONE;
    if ((is_nothing && other->type != WIO_FILE_UNKNOWN) ||
        (other->type == file->type && other->size > file->size)) {
        *file = *other;
    }
    file->uses = uses;
}

/* One row for each path, also where several recorders used it. */
static enum wio_status add_file(struct wio_trace *trace, const struct wio_file_info *file)
{
    bool may_be_there = trace->segment_count > 1 && file->path != WIO_NO_STRING;
    const uint64_t *known = may_be_there ? wio_map_get(&trace->file_index, file->path) : NULL;
    if (known != NULL) {
        join_file(&trace->files[*known], file);
        return WIO_OK;
    }
    void *array = trace->files;
    WIO_TRY(wio_grow(&array, sizeof(*trace->files), &trace->file_capacity, trace->file_count + 1));
    trace->files = array;
    trace->files[trace->file_count] = *file;
    if (may_be_there) {
        WIO_TRY(wio_map_put(&trace->file_index, file->path, trace->file_count));
    }
    trace->file_count++;
    return WIO_OK;
}

static enum wio_status parse_file(struct wio_trace *trace, struct wio_reader_segment *segment,
                                  struct wio_buf *buf)
{
    uint64_t path = 0;
    uint64_t type = 0;
    uint64_t mode = 0;
    uint64_t size = 0;
    uint64_t target = 0;
    uint64_t fs = 0;
    uint64_t uses = 0;
    uint64_t *numbers[] = {&path, &type, &mode, &size, &target, &fs, &uses};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(numbers); i++) {
        WIO_TRY(wio_buf_varint(buf, numbers[i]));
    }
    WIO_TRY(wio_reader_charge(segment, sizeof(*trace->files)));
    return add_file(
        trace, &(struct wio_file_info){
                   .path = wio_reader_string(segment, path),
                   .type = type <= WIO_FILE_BLOCKDEV ? (enum wio_file_type)type : WIO_FILE_UNKNOWN,
                   .mode = (uint32_t)mode,
                   .size = size,
                   .target = wio_reader_string(segment, target),
                   .fs = wio_reader_string(segment, fs),
                   .uses = (uint32_t)uses,
               });
}

typedef enum wio_status row_fn(struct wio_trace *trace, struct wio_reader_segment *segment,
                               struct wio_buf *buf);

static enum wio_status parse_rows(struct wio_trace *trace, struct wio_reader_segment *segment,
                                  struct wio_buf *buf, row_fn *row)
{
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &count));
    while (count-- > 0) {
        WIO_TRY(row(trace, segment, buf));
    }
    return WIO_OK;
}

static enum wio_status parse_meta(struct wio_reader_segment *segment, struct wio_buf *buf)
{
    const struct wio_buf all = *buf;
    if (wio_buf_left(&all) == 0) {
        return WIO_OK;
    }
    while (wio_buf_left(buf) > 0) {
        uint64_t key = 0;
        const char *text = NULL;
        size_t bytes = 0;
        WIO_TRY(wio_buf_varint(buf, &key));
        WIO_TRY(wio_buf_text(buf, &text, &bytes));
    }
    return wio_blob_put(&segment->meta, all.data + all.pos, wio_buf_left(&all));
}

enum wio_status wio_reader_meta(const struct wio_reader_segment *segment, unsigned key,
                                const char **text_out, size_t *bytes_out)
{
    struct wio_buf buf = wio_buf_of(segment->meta.data, segment->meta.size);
    *text_out = "";
    *bytes_out = 0;
    while (wio_buf_left(&buf) > 0) {
        uint64_t found = 0;
        const char *text = NULL;
        size_t bytes = 0;
        WIO_TRY(wio_buf_varint(&buf, &found));
        WIO_TRY(wio_buf_text(&buf, &text, &bytes));
        if (found == key) {
            *text_out = text;
            *bytes_out = bytes;
        }
    }
    return WIO_OK;
}

static enum wio_status parse_table(struct wio_trace *trace, uint32_t number, unsigned kind,
                                   struct wio_buf *buf)
{
    struct wio_reader_segment *segment = &trace->segments[number];
    switch (kind) {
    case WIO_BLOCK_META:
        return parse_meta(segment, buf);
    case WIO_BLOCK_STRINGS:
        return wio_reader_strings(trace, segment, buf);
    case WIO_BLOCK_CALLS:
        return parse_calls(segment, buf);
    case WIO_BLOCK_SOURCES:
        return parse_sources(trace, number, buf);
    case WIO_BLOCK_PROCESSES:
        return wio_reader_processes(trace, segment, buf);
    case WIO_BLOCK_STREAMS:
        return parse_rows(trace, segment, buf, parse_stream);
    case WIO_BLOCK_FILES:
        return parse_rows(trace, segment, buf, parse_file);
    default:
        return WIO_OK; /* R-SEG-1 */
    }
}

enum wio_status wio_reader_table(struct wio_trace *trace, uint32_t number, unsigned kind,
                                 struct wio_blob *payload, size_t *parsed_out)
{
    struct wio_buf buf = wio_buf_of(payload->data, payload->size);
    enum wio_status status = wio_reader_charge(&trace->segments[number], payload->size);
    status = status == WIO_OK ? parse_table(trace, number, kind, &buf) : status;
    *parsed_out = buf.pos;
    if (kind == WIO_BLOCK_STRINGS || kind == WIO_BLOCK_SOURCES) {
        /* Their rows point into it, also those before a fault. */
        enum wio_status kept = wio_trace_keep(trace, payload->data);
        *payload = (struct wio_blob){0};
        status = status == WIO_OK ? kept : status;
    }
    return status;
}

static const char *const table_names[] = {"",        "META",      "STRINGS", "CALLS",
                                          "SOURCES", "PROCESSES", "STREAMS", "FILES"};

static enum wio_status read_table(struct wio_trace *trace, uint32_t number,
                                  const struct wio_table_ref *table, struct wio_pack *pack,
                                  struct wio_error *err)
{
    struct wio_reader_segment *segment = &trace->segments[number];
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    struct wio_block_head head;
    size_t parsed = 0;
    WIO_TRY(wio_block_read_head(&segment->file, table->offset, &head, err));
    WIO_TRY(wio_block_read(&segment->file, pack, table->offset, &head, &payload, err));
    if (head.kind != table->kind) {
        return wio_error_set(err, WIO_ERR_FORMAT, segment->name, table->offset + 4,
                             "expected a block of kind %u as the index says, found %u", table->kind,
                             head.kind);
    }
    enum wio_status status = wio_reader_table(trace, number, table->kind, &payload, &parsed);
    if (status == WIO_ERR_UNSUPPORTED) {
        return wio_reader_too_much(segment, table->offset, err);
    }
    if (status != WIO_OK) {
        return wio_error_set(err, status, segment->name, table->offset + WIO_BLOCK_HEAD_BYTES,
                             "expected a table of %s, found something else at its byte %zu",
                             table_names[table->kind], parsed);
    }
    return WIO_OK;
}

enum wio_status wio_reader_tables(struct wio_trace *trace, uint32_t number, struct wio_pack *pack,
                                  struct wio_error *err)
{
    struct wio_reader_segment *segment = &trace->segments[number];
    segment->process_base = trace->process_count;
    segment->context.stream_base = trace->stream_count;
    segment->context.source_base = trace->source_count - 1;
    for (uint32_t i = 0; i < segment->table_count; i++) {
        unsigned kind = segment->tables[i].kind;
        if (kind >= WIO_BLOCK_META && kind <= WIO_BLOCK_FILES) {
            WIO_TRY(read_table(trace, number, &segment->tables[i], pack, err));
        }
    }
    if (segment->calls == NULL) {
        return wio_error_set(err, WIO_ERR_FORMAT, segment->name, segment->index_offset,
                             "expected a block of kind CALLS in the index, found none");
    }
    segment->context.strings = segment->strings;
    segment->context.string_count = segment->string_count;
    segment->context.source_count = segment->source_count;
    return WIO_OK;
}
