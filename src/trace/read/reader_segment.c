/* SPDX-License-Identifier: Apache-2.0 */
/* Opening one segment: header, trailer, index. FORMAT.md#segment, #index. */
#include "trace/read/trace_internal.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/format/envelope.h"

enum wio_status wio_reader_header(struct wio_reader_segment *segment, struct wio_error *err)
{
    struct wio_frame_header header;
    if (segment->open_errno != 0) {
        errno = segment->open_errno;
        return wio_error_sys(err, segment->name, "cannot open the segment");
    }
    WIO_TRY(wio_frame_read_header(&segment->file, &wio_frame_segment, &header, err));
    segment->base_unix_ns = header.base_unix_ns;
    segment->base_mono_ns = header.base_mono_ns;
    memcpy(segment->boot_id, header.boot_id, sizeof(segment->boot_id));
    return WIO_OK;
}

enum wio_status wio_reader_trailer(struct wio_reader_segment *segment, struct wio_error *err)
{
    return wio_frame_read_trailer(&segment->file, &wio_frame_segment, &segment->index_offset, err);
}

enum wio_status wio_details_rows(struct wio_buf *details, uint64_t *rows_out)
{
    return wio_buf_varint(details, rows_out);
}

enum wio_status wio_details_row(struct wio_buf *details, struct wio_histogram_row *row_out)
{
    uint64_t call = 0;
    WIO_TRY(wio_buf_varint(details, &call));
    WIO_TRY(wio_buf_varint(details, &row_out->count));
    WIO_TRY(wio_buf_varint(details, &row_out->bytes));
    WIO_TRY(wio_buf_varint(details, &row_out->time_ns));
    WIO_TRY(wio_buf_varint(details, &row_out->errors));
    row_out->call = call < UINT32_MAX ? (uint32_t)call : UINT32_MAX;
    return WIO_OK;
}

/* Step over histogram and paths; `details` keeps where they are. */
static enum wio_status parse_details(struct wio_buf *buf, struct wio_buf *details)
{
    const uint8_t *start = buf->data + buf->pos;
    size_t from = buf->pos;
    uint64_t rows = 0;
    uint64_t paths = 0;
    WIO_TRY(wio_details_rows(buf, &rows));
    while (rows-- > 0) {
        struct wio_histogram_row row;
        WIO_TRY(wio_details_row(buf, &row));
    }
    WIO_TRY(wio_buf_varint(buf, &paths));
    for (uint64_t i = 1; i < paths; i++) {
        uint64_t ignored = 0;
        WIO_TRY(wio_buf_varint(buf, &ignored));
    }
    *details = wio_buf_of(start, buf->pos - from);
    return WIO_OK;
}

static enum wio_status add_events(struct wio_trace *trace, uint32_t number, uint64_t offset,
                                  struct wio_buf *buf)
{
    struct wio_events_head head;
    struct wio_buf details;
    WIO_TRY(wio_events_parse_head(buf, &head));
    WIO_TRY(parse_details(buf, &details));
    WIO_TRY(wio_reader_charge(&trace->segments[number], sizeof(*trace->blocks)));
    void *array = trace->blocks;
    WIO_TRY(
        wio_grow(&array, sizeof(*trace->blocks), &trace->block_capacity, trace->block_count + 1));
    trace->blocks = array;
    trace->blocks[trace->block_count++] = (struct wio_block_ref){
        .offset = offset,
        .first_seq = head.first_seq,
        .first_ns = head.first_ns,
        .last_ns = head.last_ns,
        .dropped = head.dropped,
        .segment = number,
        .stream = head.stream, /* of the segment, until the streams are known */
        .count = head.count,
        .details = details,
    };
    return WIO_OK;
}

static enum wio_status add_table(struct wio_reader_segment *segment, uint64_t offset, uint64_t kind)
{
    WIO_TRY(wio_reader_charge(segment, sizeof(*segment->tables)));
    void *array = segment->tables;
    WIO_TRY(wio_grow(&array, sizeof(*segment->tables), &segment->table_capacity,
                     segment->table_count + 1));
    segment->tables = array;
    segment->tables[segment->table_count++] =
        (struct wio_table_ref){offset, kind <= UINT16_MAX ? (uint16_t)kind : 0};
    return WIO_OK;
}

/* FORMAT.md#index */
static enum wio_status parse_index(struct wio_trace *trace, uint32_t number, struct wio_buf *buf)
{
    struct wio_reader_segment *segment = &trace->segments[number];
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &count));
    while (count-- > 0) {
        uint64_t offset = 0;
        uint64_t stored = 0;
        uint64_t kind = 0;
        WIO_TRY(wio_buf_varint(buf, &offset));
        WIO_TRY(wio_buf_varint(buf, &stored));
        WIO_TRY(wio_buf_varint(buf, &kind));
        if (kind == WIO_BLOCK_EVENTS) {
            WIO_TRY(add_events(trace, number, offset, buf));
        } else {
            WIO_TRY(add_table(segment, offset, kind));
        }
    }
    return wio_buf_left(buf) == 0 ? WIO_OK : WIO_ERR_FORMAT;
}

/* R-INDEX-1: from the trailer's offset on there are only INDEX blocks. */
enum wio_status wio_reader_index(struct wio_trace *trace, uint32_t number, struct wio_pack *pack,
                                 struct wio_error *err)
{
    struct wio_reader_segment *segment = &trace->segments[number];
    uint64_t end = segment->file.size - WIO_SEGMENT_TRAILER_BYTES;
    uint64_t offset = segment->index_offset;
    do {
        WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
        struct wio_block_head head;
        WIO_TRY(wio_block_read(&segment->file, pack, offset, &head, &payload, err));
        if (head.kind != WIO_BLOCK_INDEX) {
            return wio_error_set(err, WIO_ERR_FORMAT, segment->name, offset + 4,
                                 "expected an INDEX block (kind %d), found kind %u",
                                 WIO_BLOCK_INDEX, head.kind);
        }
        struct wio_buf buf = wio_buf_of(payload.data, payload.size);
        enum wio_status kept = wio_trace_keep(trace, payload.data); /* entries point into it */
        payload = (struct wio_blob){0};
        if (kept != WIO_OK) {
            return wio_error_set(err, kept, segment->name, offset, "no memory for the index");
        }
        enum wio_status status = wio_reader_charge(segment, buf.size);
        status = status == WIO_OK ? parse_index(trace, number, &buf) : status;
        if (status == WIO_ERR_UNSUPPORTED) {
            return wio_reader_too_much(segment, offset, err);
        }
        if (status != WIO_OK) {
            return wio_error_set(err, status, segment->name, offset + WIO_BLOCK_HEAD_BYTES,
                                 "expected an index, found something else at its byte %zu",
                                 buf.pos);
        }
        offset += WIO_BLOCK_HEAD_BYTES + (uint64_t)head.stored_bytes;
    } while (offset < end);
    return WIO_OK;
}

enum wio_status wio_reader_open(struct wio_trace *trace, uint32_t number, struct wio_pack *pack,
                                struct wio_error *err)
{
    struct wio_reader_segment *segment = &trace->segments[number];
    WIO_TRY(wio_reader_header(segment, err));
    WIO_TRY(wio_reader_trailer(segment, err));
    uint32_t first_block = trace->block_count;
    WIO_TRY(wio_reader_index(trace, number, pack, err));
    WIO_TRY(wio_reader_tables(trace, number, pack, err));
    for (uint32_t i = first_block; i < trace->block_count; i++) {
        struct wio_block_ref *block = &trace->blocks[i];
        if (block->stream >= segment->stream_count) {
            return wio_error_set(err, WIO_ERR_FORMAT, segment->name, segment->index_offset,
                                 "expected a block of one of %u streams, found stream %u",
                                 segment->stream_count, block->stream);
        }
        block->stream += segment->context.stream_base;
    }
    return WIO_OK;
}
