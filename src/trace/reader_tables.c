/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a segment, joined into those of the trace. FORMAT.md#tables. */
#include "trace/trace_internal.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "trace/segment.h"

static enum wio_status add_text(struct wio_trace *trace, const char *text, size_t bytes,
                                uint32_t *id_out)
{
    void *array = trace->strings;
    WIO_TRY(wio_grow(&array, sizeof(*trace->strings), &trace->string_capacity,
                     trace->string_count + 1));
    trace->strings = array;
    trace->strings[trace->string_count] = (struct wio_text){text, bytes};
    *id_out = trace->string_count++;
    return WIO_OK;
}

/* Several segments: the same text has one id in the trace. Equal hashes take the next key. */
static enum wio_status intern(struct wio_trace *trace, const char *text, size_t bytes,
                              uint32_t *id_out)
{
    for (uint64_t key = XXH3_64bits(text, bytes);; key++) {
        const uint64_t *id = wio_map_get(&trace->string_index, key);
        if (id == NULL) {
            WIO_TRY(add_text(trace, text, bytes, id_out));
            return wio_map_put(&trace->string_index, key, *id_out);
        }
        if (trace->strings[*id].bytes == bytes &&
            memcmp(trace->strings[*id].text, text, bytes) == 0) {
            *id_out = (uint32_t)*id;
            return WIO_OK;
        }
    }
}

static enum wio_status add_string(struct wio_trace *trace, struct wio_reader_segment *segment,
                                  const char *text, size_t bytes)
{
    uint32_t id = 0;
    WIO_TRY(wio_reader_charge(segment, sizeof(*trace->strings) + sizeof(*segment->strings)));
    if (trace->segment_count == 1) {
        segment->string_count++;
        return add_text(trace, text, bytes, &id);
    }
    if (bytes > 0) {
        WIO_TRY(intern(trace, text, bytes, &id));
    }
    void *array = segment->strings;
    /* string_count is a count and the capacity at once: it grows by doubling. */
    if ((segment->string_count & (segment->string_count - 1)) == 0 || array == NULL) {
        size_t capacity = segment->string_count == 0 ? 1 : (size_t)segment->string_count * 2;
        array = reallocarray(segment->strings, capacity, sizeof(*segment->strings));
        if (array == NULL) {
            return WIO_ERR_NOMEM;
        }
        segment->strings = array;
    }
    segment->strings[segment->string_count++] = id;
    return WIO_OK;
}

/* R-TABLE-1: ids begin at 1 and rise by 1 over the blocks; R-TABLE-2: NUL behind each text. */
static enum wio_status parse_strings(struct wio_trace *trace, struct wio_reader_segment *segment,
                                     struct wio_buf *buf)
{
    uint64_t first = 0;
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &first));
    WIO_TRY(wio_buf_varint(buf, &count));
    if (segment->string_count == 0) {
        WIO_TRY(trace->segment_count == 1 ? WIO_OK : add_string(trace, segment, "", 0));
        segment->string_count = 1;
    }
    if (first != segment->string_count || count > wio_buf_left(buf)) {
        return WIO_ERR_FORMAT;
    }
    while (count-- > 0) {
        const char *text = NULL;
        size_t bytes = 0;
        uint8_t nul = 0;
        WIO_TRY(wio_buf_text(buf, &text, &bytes));
        WIO_TRY(wio_buf_u8(buf, &nul));
        if (nul != 0 || memchr(text, '\0', bytes) != NULL) {
            return WIO_ERR_FORMAT;
        }
        WIO_TRY(add_string(trace, segment, text, bytes));
    }
    return WIO_OK;
}

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

/* A text field, copied so that it ends in NUL. */
static enum wio_status keep_text(struct wio_trace *trace, const struct wio_buf *field,
                                 const char **text_out)
{
    char *copy = strndup((const char *)field->data, field->size);
    if (copy == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_trace_keep(trace, copy));
    *text_out = copy;
    return WIO_OK;
}

/* What a byte of a process record can take at most, as a text or number of its own. */
#define KEPT_BYTES 32u

struct process_row {
    struct wio_process_info info;
    uint64_t unseen[WIO_UNSEEN_MAX];
};

static enum wio_status parse_number_field(struct process_row *row, uint64_t tag,
                                          struct wio_buf field)
{
    int64_t value = 0;
    WIO_TRY(wio_buf_svarint(&field, &value));
    struct wio_process_info *info = &row->info;
    switch (tag) {
    case WIO_PROCESS_PID:
        info->pid = (int32_t)value;
        return WIO_OK;
    case WIO_PROCESS_PPID:
        info->ppid = (int32_t)value;
        return WIO_OK;
    case WIO_PROCESS_RANK:
        info->rank = (int32_t)(value - 1);
        return WIO_OK;
    case WIO_PROCESS_RANKS:
        info->ranks = (uint32_t)value;
        return WIO_OK;
    case WIO_PROCESS_START:
        info->start_ns = (uint64_t)value;
        return WIO_OK;
    case WIO_PROCESS_END_NS:
        info->end_ns = (uint64_t)value;
        return WIO_OK;
    case WIO_PROCESS_PARENT:
        info->parent = value <= 0 || value > UINT32_MAX ? UINT32_MAX : (uint32_t)(value - 1);
        return WIO_OK;
    case WIO_PROCESS_END:
        info->end = (uint32_t)value;
        return WIO_OK;
    case WIO_PROCESS_END_STATUS:
        info->end_status = (int32_t)value;
        return WIO_OK;
    case WIO_PROCESS_DROPPED:
        info->dropped = (uint64_t)value;
        return WIO_OK;
    default:
        break;
    }
    uint64_t kind = tag - WIO_PROCESS_UNSEEN;
    if (tag >= WIO_PROCESS_UNSEEN && kind < WIO_UNSEEN_MAX) {
        row->unseen[kind] = (uint64_t)value;
        info->unseen_count =
            kind + 1 > info->unseen_count ? (uint32_t)kind + 1 : info->unseen_count;
    }
    return WIO_OK;
}

static const char **text_field(struct wio_process_info *info, uint64_t tag)
{
    switch (tag) {
    case WIO_PROCESS_HOST:
        return &info->host;
    case WIO_PROCESS_JOB:
        return &info->job;
    case WIO_PROCESS_EXE:
        return &info->exe;
    case WIO_PROCESS_ARGV:
        return &info->argv;
    case WIO_PROCESS_CWD:
        return &info->cwd;
    default:
        return NULL;
    }
}

static enum wio_status keep_unseen(struct wio_trace *trace, struct process_row *row)
{
    if (row->info.unseen_count == 0) {
        return WIO_OK;
    }
    uint64_t *copy = calloc(row->info.unseen_count, sizeof(*copy));
    if (copy == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < row->info.unseen_count; i++) {
        copy[i] = row->unseen[i];
    }
    row->info.unseen = copy;
    return wio_trace_keep(trace, copy);
}

static enum wio_status parse_process(struct wio_trace *trace, struct wio_buf record,
                                     struct process_row *row)
{
    *row = (struct process_row){
        .info = {.rank = -1,
                 .parent = UINT32_MAX,
                 .host = "",
                 .job = "",
                 .exe = "",
                 .argv = "",
                 .cwd = ""},
    };
    while (wio_buf_left(&record) > 0) {
        uint64_t tag = 0;
        uint64_t bytes = 0;
        struct wio_buf field;
        WIO_TRY(wio_buf_varint(&record, &tag));
        WIO_TRY(wio_buf_varint(&record, &bytes));
        if (bytes > wio_buf_left(&record)) {
            return WIO_ERR_TRUNCATED;
        }
        WIO_TRY(wio_buf_sub(&record, (size_t)bytes, &field));
        const char **text = text_field(&row->info, tag);
        WIO_TRY(text != NULL ? keep_text(trace, &field, text)
                             : parse_number_field(row, tag, field));
    }
    return keep_unseen(trace, row);
}

static enum wio_status parse_processes(struct wio_trace *trace, struct wio_reader_segment *segment,
                                       struct wio_buf *buf)
{
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &count));
    while (count-- > 0) {
        const char *bytes = NULL;
        size_t size = 0;
        struct process_row row;
        WIO_TRY(wio_buf_text(buf, &bytes, &size));
        WIO_TRY(parse_process(trace, wio_buf_of(bytes, size), &row));
        WIO_TRY(wio_reader_charge(segment, sizeof(row.info) + size * KEPT_BYTES));
        if (row.info.parent != UINT32_MAX) {
            /* Checked against the number of processes once all are there. */
            row.info.parent = row.info.parent >= UINT32_MAX - segment->process_base
                                  ? UINT32_MAX
                                  : row.info.parent + segment->process_base;
        }
        void *array = trace->processes;
        WIO_TRY(wio_grow(&array, sizeof(*trace->processes), &trace->process_capacity,
                         trace->process_count + 1));
        trace->processes = array;
        trace->processes[trace->process_count++] = row.info;
        segment->process_count++;
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

static uint32_t string_of(const struct wio_reader_segment *segment, uint64_t id)
{
    if (id >= segment->string_count) {
        return 0;
    }
    return segment->strings == NULL ? (uint32_t)id : segment->strings[id];
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
    void *array = trace->files;
    WIO_TRY(wio_grow(&array, sizeof(*trace->files), &trace->file_capacity, trace->file_count + 1));
    trace->files = array;
    trace->files[trace->file_count++] = (struct wio_file_info){
        .path = string_of(segment, path),
        .type = type <= WIO_FILE_BLOCKDEV ? (enum wio_file_type)type : WIO_FILE_UNKNOWN,
        .mode = (uint32_t)mode,
        .size = size,
        .target = string_of(segment, target),
        .fs = string_of(segment, fs),
        .uses = (uint32_t)uses,
    };
    return WIO_OK;
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
        return parse_strings(trace, segment, buf);
    case WIO_BLOCK_CALLS:
        return parse_calls(segment, buf);
    case WIO_BLOCK_SOURCES:
        return parse_sources(trace, number, buf);
    case WIO_BLOCK_PROCESSES:
        return parse_processes(trace, segment, buf);
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
    return WIO_OK;
}
