/* SPDX-License-Identifier: Apache-2.0 */
/* One segment: is every block whole, does the index say what is there, do the tables make sense?
 * FORMAT.md R-SEG-4: goes on behind a fault as far as the rest can be trusted. */
#include <stdlib.h>
#include <string.h>

#include <whyio/segment.h>

#include "base/cleanup.h"
#include "trace/check/check_internal.h"
#include "trace/check/check_txn.h"

static int compare_entries(const void *a, const void *b)
{
    const struct wio_check_entry *left = a;
    const struct wio_check_entry *right = b;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

static enum wio_status sort_index(struct wio_check *check)
{
    const struct wio_trace *trace = check->trace;
    const struct wio_reader_segment *segment = &trace->segments[0];
    size_t count = (size_t)trace->block_count + segment->table_count;
    check->entries = calloc(count + 1, sizeof(*check->entries));
    if (check->entries == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < trace->block_count; i++) {
        check->entries[check->entry_count++] =
            (struct wio_check_entry){trace->blocks[i].offset, WIO_BLOCK_EVENTS, i};
    }
    for (uint32_t i = 0; i < segment->table_count; i++) {
        check->entries[check->entry_count++] =
            (struct wio_check_entry){segment->tables[i].offset, segment->tables[i].kind, 0};
    }
    qsort(check->entries, check->entry_count, sizeof(*check->entries), compare_entries);
    return WIO_OK;
}

static enum wio_status note_block(struct wio_check *check, uint64_t offset, uint16_t kind)
{
    void *array = check->blocks;
    WIO_TRY(
        wio_grow(&array, sizeof(*check->blocks), &check->block_capacity, check->block_count + 1));
    check->blocks = array;
    check->blocks[check->block_count++] = (struct wio_check_block){offset, kind};
    return WIO_OK;
}

/* Heads of all blocks from the front, over damaged ones with the help of the index. */
static void walk(struct wio_check *check)
{
    const struct wio_block_file *file = &check->trace->segments[0].file;
    uint64_t end = file->size - WIO_SEGMENT_TRAILER_BYTES;
    uint64_t offset = WIO_SEGMENT_HEADER_BYTES;
    while (offset < end) {
        struct wio_error fault = WIO_ERROR_INIT;
        struct wio_block_head head;
        if (wio_block_read_head(file, offset, &head, &fault) != WIO_OK) {
            wio_check_report(check, &fault);
            const struct wio_check_entry *next = wio_check_entry_from(check, offset + 1);
            offset = next == NULL ? UINT64_MAX : next->offset;
            continue;
        }
        if (note_block(check, offset, head.kind) != WIO_OK) {
            wio_check_fault(check, offset, "no memory for the list of blocks");
            return;
        }
        offset += WIO_BLOCK_HEAD_BYTES + (uint64_t)head.stored_bytes;
    }
    if (offset != end && offset != UINT64_MAX) {
        wio_check_fault(check, end,
                        "expected the trailer behind the last block, which ends at %llu",
                        (unsigned long long)offset);
    }
}

/* CRC, packing and contents of one table. */
static bool check_table(struct wio_check *check, const struct wio_check_block *block)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    struct wio_error fault = WIO_ERROR_INIT;
    struct wio_block_head head;
    size_t parsed = 0;
    if (wio_block_read(&check->trace->segments[0].file, &check->pack, block->offset, &head,
                       &payload, &fault) != WIO_OK) {
        wio_check_report(check, &fault);
        return false;
    }
    if (block->kind < WIO_BLOCK_META || block->kind > WIO_BLOCK_FILES) {
        return true; /* R-SEG-1: an unknown kind is only checked for its bytes */
    }
    enum wio_status status = wio_reader_table(check->trace, 0, block->kind, &payload, &parsed);
    if (status == WIO_ERR_UNSUPPORTED) {
        (void)wio_reader_too_much(&check->trace->segments[0], block->offset, &fault);
        wio_check_report(check, &fault);
        return false;
    }
    if (status != WIO_OK) {
        wio_check_fault(check, block->offset + WIO_BLOCK_HEAD_BYTES,
                        "expected a table of kind %u, found something else at its byte %zu",
                        block->kind, parsed);
        return false;
    }
    return true;
}

static void check_tables(struct wio_check *check, bool has_index)
{
    check->has_tables = true;
    for (uint32_t i = 0; i < check->block_count; i++) {
        const struct wio_check_block *block = &check->blocks[i];
        if (block->kind == WIO_BLOCK_EVENTS || block->kind == WIO_BLOCK_INDEX) {
            continue;
        }
        check->has_tables = check_table(check, block) && check->has_tables;
        const struct wio_check_entry *entry = wio_check_entry_from(check, block->offset);
        if (has_index &&
            (entry == NULL || entry->offset != block->offset || entry->kind != block->kind)) {
            wio_check_fault(check, block->offset, "expected the index to name this block");
        }
    }
    struct wio_reader_segment *segment = &check->trace->segments[0];
    if (check->has_tables && segment->calls == NULL) {
        wio_check_fault(check, WIO_SEGMENT_HEADER_BYTES, "expected a block of kind CALLS");
        check->has_tables = false;
    }
    segment->context.string_count = segment->string_count;
    segment->context.source_count = segment->source_count;
}

static void check_processes(struct wio_check *check)
{
    const struct wio_trace *trace = check->trace;
    for (uint32_t i = 0; i < trace->process_count; i++) {
        uint32_t parent = trace->processes[i].parent;
        if (parent != UINT32_MAX && parent >= i) {
            wio_check_fault(check, wio_check_offset_of(check, WIO_BLOCK_PROCESSES),
                            "expected the parent of process %u before it, found %u", i, parent);
        }
    }
}

/* What sealing could not read is a fault of the trace for good. */
static void check_faults(struct wio_check *check)
{
    const char *text = "";
    size_t bytes = 0;
    if (wio_reader_meta(&check->trace->segments[0], WIO_SEGMENT_META_FAULTS, &text, &bytes) !=
        WIO_OK) {
        return; /* reported with the table */
    }
    for (size_t at = 0; at < bytes;) {
        const char *newline = memchr(text + at, '\n', bytes - at);
        size_t length = newline == NULL ? bytes - at : (size_t)(newline - text) - at;
        wio_check_fault(check, wio_check_offset_of(check, WIO_BLOCK_META), "%.*s",
                        (int)(length < 400 ? length : 400), text + at);
        at += length + 1;
    }
}

static void report_progress(const struct wio_check *check, uint64_t offset)
{
    if (check->progress != NULL) {
        check->progress(check->progress_arg, check->bytes_before + offset, check->bytes_total,
                        "bytes");
    }
}

/* Without tables, at least the checksums of the events. */
static void check_event_bytes(struct wio_check *check)
{
    for (uint32_t i = 0; i < check->block_count; i++) {
        if (check->blocks[i].kind == WIO_BLOCK_EVENTS) {
            (void)check_table(check, &check->blocks[i]);
        }
    }
}

static void check_transactions(struct wio_check *check)
{
    struct wio_error fault = WIO_ERROR_INIT;
    if (!wio_check_txn(check->trace, check->trace->segments[0].name,
                       wio_check_offset_of(check, WIO_BLOCK_TXN_ROWS), &fault)) {
        wio_check_report(check, &fault);
    }
}

static void check_blocks(struct wio_check *check, bool has_index)
{
    if (sort_index(check) != WIO_OK) {
        wio_check_fault(check, WIO_ERROR_NO_OFFSET, "no memory for the index");
        return;
    }
    walk(check);
    check_tables(check, has_index);
    if (!check->has_tables || wio_check_events_begin(check) != WIO_OK) {
        wio_check_fault(check, wio_check_offset_of(check, WIO_BLOCK_EVENTS),
                        "the events cannot be read without the tables");
        check_event_bytes(check);
        return;
    }
    check_processes(check);
    check_faults(check);
    for (uint32_t i = 0; i < check->block_count; i++) {
        if (check->blocks[i].kind == WIO_BLOCK_EVENTS) {
            wio_check_events(check, check->blocks[i].offset);
            report_progress(check, check->blocks[i].offset);
        }
    }
    wio_check_events_end(check);
    check_transactions(check);
}

void wio_check_segment(struct wio_check *check)
{
    struct wio_reader_segment *segment = &check->trace->segments[0];
    struct wio_error fault = WIO_ERROR_INIT;
    enum wio_status status = wio_reader_header(segment, &fault);
    if (status != WIO_OK) {
        wio_check_report(check, &fault);
    }
    if (status == WIO_ERR_UNSUPPORTED || segment->open_errno != 0 ||
        segment->file.size < WIO_SEGMENT_HEADER_BYTES) {
        return; /* another version, or nothing that could be walked */
    }
    status = wio_reader_trailer(segment, &fault);
    if (segment->file.size < WIO_SEGMENT_HEADER_BYTES + WIO_SEGMENT_TRAILER_BYTES) {
        wio_check_report(check, &fault); /* no room for a block */
        return;
    }
    if (status == WIO_OK) {
        status = wio_reader_index(check->trace, 0, &check->pack, &fault);
    }
    if (status != WIO_OK) {
        wio_check_report(check, &fault);
    }
    check_blocks(check, status == WIO_OK);
}
