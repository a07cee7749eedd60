/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a segment, written behind the events. FORMAT.md#tables. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "trace/write/segment_internal.h"

/* R-TABLE-4: a table that grows with the program is cut into blocks of about this size. */
#define TABLE_BLOCK_BYTES (8u << 20)

static enum wio_status write_table(struct wio_segment *segment, enum wio_block_kind kind,
                                   const struct wio_blob *payload, struct wio_error *err)
{
    uint64_t offset = segment->file.size;
    WIO_TRY(wio_block_write(&segment->file, &segment->pack, kind, payload, 1, err));
    return wio_segment_index_table(segment, kind, offset, err);
}

/*
 * STRINGS and SOURCES: entries of a string table, numbered from 1, cut into blocks. A text of
 * STRINGS is ended by a NUL, so that a reader can hand it out where it lies.
 */
static enum wio_status put_rows(const struct wio_strtab *table, enum wio_block_kind kind,
                                uint32_t *next, struct wio_blob *rows)
{
    while (*next <= table->count && rows->size < TABLE_BLOCK_BYTES) {
        size_t bytes = 0;
        const char *text = wio_strtab_get(table, *next, &bytes);
        if (kind == WIO_BLOCK_STRINGS) {
            WIO_TRY(wio_blob_text(rows, text, bytes));
            WIO_TRY(wio_blob_u8(rows, 0));
        } else {
            WIO_TRY(wio_blob_put(rows, text, bytes));
        }
        (*next)++;
    }
    return WIO_OK;
}

static enum wio_status write_numbered(struct wio_segment *segment, const struct wio_strtab *table,
                                      enum wio_block_kind kind, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob rows = {0};
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    for (uint32_t next = 1; next <= table->count;) {
        uint32_t first = next;
        wio_blob_clear(&rows);
        wio_blob_clear(&payload);
        enum wio_status status = put_rows(table, kind, &next, &rows);
        status = status == WIO_OK ? wio_blob_varint(&payload, first) : status;
        status = status == WIO_OK ? wio_blob_varint(&payload, next - first) : status;
        status = status == WIO_OK ? wio_blob_put(&payload, rows.data, rows.size) : status;
        if (status != WIO_OK) {
            return wio_segment_fail(segment, status, err);
        }
        WIO_TRY(write_table(segment, kind, &payload, err));
    }
    return WIO_OK;
}

static enum wio_status put_calls(const struct wio_segment *segment, struct wio_blob *out)
{
    WIO_TRY(wio_blob_varint(out, segment->call_count));
    for (uint32_t i = 0; i < segment->call_count; i++) {
        const char *texts[] = {
            wio_call_name(segment->calls[i].call),
            wio_op_name(segment->calls[i].op),
            wio_class_name(wio_op_class(segment->calls[i].op)),
        };
        for (size_t k = 0; k < WIO_ARRAY_SIZE(texts); k++) {
            WIO_TRY(wio_blob_text(out, texts[k], strlen(texts[k])));
        }
    }
    return WIO_OK;
}

static enum wio_status put_field(struct wio_blob *out, unsigned tag, const void *bytes, size_t size)
{
    WIO_TRY(wio_blob_varint(out, tag));
    return wio_blob_text(out, bytes, size);
}

static enum wio_status put_number(struct wio_blob *out, unsigned tag, int64_t value)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob number = {0};
    if (value == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_blob_svarint(&number, value));
    return put_field(out, tag, number.data, number.size);
}

static enum wio_status put_opened(const struct wio_segment_process *process, struct wio_blob *out)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob rows = {0};
    for (uint32_t i = 0; i < process->info.opened_count; i++) {
        const struct wio_open_fd *opened = &process->opened[i];
        WIO_TRY(wio_blob_varint(&rows, (uint32_t)opened->fd));
        WIO_TRY(wio_blob_varint(&rows, opened->path));
        WIO_TRY(wio_blob_varint(&rows, (uint32_t)opened->flags));
    }
    return rows.size > 0 ? put_field(out, WIO_PROCESS_OPENED, rows.data, rows.size) : WIO_OK;
}

static enum wio_status put_process(const struct wio_segment_process *process, struct wio_blob *out)
{
    const struct wio_process_info *info = &process->info;
    const struct {
        unsigned tag;
        int64_t value;
    } numbers[] = {
        {WIO_PROCESS_PID, info->pid},
        {WIO_PROCESS_PPID, info->ppid},
        {WIO_PROCESS_RANK, (int64_t)info->rank + 1},
        {WIO_PROCESS_RANKS, info->ranks},
        {WIO_PROCESS_START, (int64_t)info->start_ns},
        {WIO_PROCESS_END_NS, (int64_t)info->end_ns},
        {WIO_PROCESS_PARENT, info->parent == UINT32_MAX ? 0 : (int64_t)info->parent + 1},
        {WIO_PROCESS_END, info->end},
        {WIO_PROCESS_END_STATUS, info->end_status},
        {WIO_PROCESS_DROPPED, (int64_t)info->dropped},
        {WIO_PROCESS_EXPECTED, info->is_expected},
        {WIO_PROCESS_EVICTED, (int64_t)info->evicted},
    };
    const struct {
        unsigned tag;
        const char *text;
    } texts[] = {
        {WIO_PROCESS_HOST, info->host}, {WIO_PROCESS_JOB, info->job}, {WIO_PROCESS_EXE, info->exe},
        {WIO_PROCESS_ARGV, info->argv}, {WIO_PROCESS_CWD, info->cwd},
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(numbers); i++) {
        WIO_TRY(put_number(out, numbers[i].tag, numbers[i].value));
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(texts); i++) {
        size_t bytes = strlen(texts[i].text);
        if (bytes > 0) {
            WIO_TRY(put_field(out, texts[i].tag, texts[i].text, bytes));
        }
    }
    for (uint32_t i = 0; i < info->unseen_count; i++) {
        WIO_TRY(put_number(out, WIO_PROCESS_UNSEEN + i, (int64_t)process->unseen[i]));
    }
    return put_opened(process, out);
}

static enum wio_status put_process_row(const struct wio_segment *segment, uint32_t row,
                                       struct wio_blob *out)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob record = {0};
    WIO_TRY(put_process(&segment->processes[row], &record));
    return wio_blob_text(out, (const char *)record.data, record.size);
}

static enum wio_status put_stream_row(const struct wio_segment *segment, uint32_t row,
                                      struct wio_blob *out)
{
    const struct wio_segment_stream *stream = &segment->streams[row];
    WIO_TRY(wio_blob_varint(out, stream->process));
    WIO_TRY(wio_blob_svarint(out, stream->tid));
    WIO_TRY(wio_blob_varint(out, stream->thread));
    WIO_TRY(wio_blob_varint(out, stream->events));
    WIO_TRY(wio_blob_varint(out, stream->first_seq));
    WIO_TRY(wio_blob_varint(out, stream->first_ns));
    WIO_TRY(wio_blob_varint(out, stream->last_ns));
    WIO_TRY(wio_blob_varint(out, stream->bytes_read));
    WIO_TRY(wio_blob_varint(out, stream->bytes_written));
    return wio_blob_varint(out, stream->dropped); /* behind the last event */
}

static enum wio_status put_file_row(const struct wio_segment *segment, uint32_t row,
                                    struct wio_blob *out)
{
    const struct wio_file_info *file = &segment->files[row];
    WIO_TRY(wio_blob_varint(out, file->path));
    WIO_TRY(wio_blob_varint(out, file->type));
    WIO_TRY(wio_blob_varint(out, file->mode));
    WIO_TRY(wio_blob_varint(out, file->size));
    WIO_TRY(wio_blob_varint(out, file->target));
    WIO_TRY(wio_blob_varint(out, file->fs));
    return wio_blob_varint(out, file->uses);
}

/* Every path that an event names has a row, also where the file was not examined. */
static enum wio_status add_used_files(struct wio_segment *segment, struct wio_error *err)
{
    uint8_t public_bits = WIO_USE_FILE | WIO_USE_NAMED;
    for (uint32_t id = 1; id < segment->uses_capacity; id++) {
        const uint64_t *row = wio_map_get(&segment->file_index, id);
        if (segment->uses[id] == 0) {
            continue;
        }
        if (row != NULL) {
            segment->files[*row].uses |= segment->uses[id] & public_bits;
            continue;
        }
        struct wio_file_info file = {.path = id, .uses = segment->uses[id] & public_bits};
        WIO_TRY(wio_segment_file(segment, &file, err));
    }
    return WIO_OK;
}

typedef enum wio_status put_row_fn(const struct wio_segment *segment, uint32_t row,
                                   struct wio_blob *out);

/* Rows behind their number, cut into blocks; one block where there is no row. */
static enum wio_status write_rows(struct wio_segment *segment, enum wio_block_kind kind,
                                  uint32_t count, put_row_fn *put, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob rows = {0};
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    uint32_t next = 0;
    do {
        uint32_t first = next;
        enum wio_status status = WIO_OK;
        wio_blob_clear(&rows);
        wio_blob_clear(&payload);
        while (status == WIO_OK && next < count && rows.size < TABLE_BLOCK_BYTES) {
            status = put(segment, next++, &rows);
        }
        status = status == WIO_OK ? wio_blob_varint(&payload, next - first) : status;
        status = status == WIO_OK ? wio_blob_put(&payload, rows.data, rows.size) : status;
        if (status != WIO_OK) {
            return wio_segment_fail(segment, status, err);
        }
        WIO_TRY(write_table(segment, kind, &payload, err));
    } while (next < count);
    return WIO_OK;
}

static enum wio_status write_calls(struct wio_segment *segment, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    enum wio_status status = put_calls(segment, &payload);
    if (status != WIO_OK) {
        return wio_segment_fail(segment, status, err);
    }
    return write_table(segment, WIO_BLOCK_CALLS, &payload, err);
}

enum wio_status wio_segment_write_tables(struct wio_segment *segment, struct wio_error *err)
{
    WIO_TRY(write_table(segment, WIO_BLOCK_META, &segment->meta, err));
    WIO_TRY(add_used_files(segment, err));
    WIO_TRY(write_numbered(segment, &segment->strings, WIO_BLOCK_STRINGS, err));
    WIO_TRY(write_calls(segment, err));
    WIO_TRY(write_numbered(segment, &segment->sources, WIO_BLOCK_SOURCES, err));
    WIO_TRY(write_rows(segment, WIO_BLOCK_PROCESSES, segment->process_count, put_process_row, err));
    WIO_TRY(write_rows(segment, WIO_BLOCK_STREAMS, segment->stream_count, put_stream_row, err));
    if (segment->file_count == 0) {
        return WIO_OK;
    }
    return write_rows(segment, WIO_BLOCK_FILES, segment->file_count, put_file_row, err);
}
