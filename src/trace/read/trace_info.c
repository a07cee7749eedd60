/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a trace without reading its events: totals and getters. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include <whyio/segment.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "ops/image_end.h"
#include "trace/read/recorders.h"
#include "trace/read/trace_internal.h"

static enum wio_status add_rows(struct wio_trace *trace, const struct wio_block_ref *block)
{
    const struct wio_events_context *context = &trace->segments[block->segment].context;
    struct wio_buf details = block->details;
    uint64_t rows = 0;
    uint64_t counted = 0;
    WIO_TRY(wio_details_rows(&details, &rows));
    while (rows-- > 0) {
        struct wio_histogram_row row;
        WIO_TRY(wio_details_row(&details, &row));
        if (row.call >= context->call_count) {
            return WIO_ERR_FORMAT;
        }
        struct wio_op_total *total = &trace->totals[context->calls[row.call].op];
        total->count += row.count;
        total->bytes += row.bytes;
        total->time_ns += row.time_ns;
        total->errors += row.errors;
        counted += row.count;
    }
    return counted == block->count ? WIO_OK : WIO_ERR_FORMAT;
}

static enum wio_status sum_blocks(struct wio_trace *trace, struct wio_error *err)
{
    for (uint32_t i = 0; i < trace->block_count; i++) {
        const struct wio_block_ref *block = &trace->blocks[i];
        const struct wio_reader_segment *segment = &trace->segments[block->segment];
        if (add_rows(trace, block) != WIO_OK) {
            return wio_error_set(err, WIO_ERR_FORMAT, segment->name, segment->index_offset,
                                 "expected a histogram of %u events of known calls for the block "
                                 "at byte %llu",
                                 block->count, (unsigned long long)block->offset);
        }
        uint64_t end = block->last_ns + segment->context.shift_ns;
        trace->info.events += block->count;
        trace->info.duration_ns = end > trace->info.duration_ns ? end : trace->info.duration_ns;
    }
    return WIO_OK;
}

/* Readers size buffers by the stream table: its blocks must have exactly as many events. */
static enum wio_status check_streams(const struct wio_trace *trace,
                                     const struct wio_reader_segment *segment,
                                     struct wio_error *err)
{
    for (uint32_t i = 0; i < segment->stream_count; i++) {
        uint32_t stream = segment->context.stream_base + i;
        const struct wio_block_range *range = &trace->ranges[stream];
        uint64_t counted = 0;
        for (uint32_t k = 0; k < range->count; k++) {
            counted += trace->blocks[range->first + k].count;
        }
        if (counted != trace->streams[stream].events) {
            return wio_error_set(err, WIO_ERR_FORMAT, segment->name, segment->index_offset,
                                 "expected blocks of %llu events of stream %u, found %llu",
                                 (unsigned long long)trace->streams[stream].events, stream,
                                 (unsigned long long)counted);
        }
    }
    return WIO_OK;
}

static uint64_t host_hash(const char *host)
{
    return XXH3_64bits(host, strlen(host));
}

/* Distinct (host, pid), ranks and (host, pid, tid): sets by hash, each in a map of its own. */
static enum wio_status count_processes(struct wio_trace *trace)
{
    WIO_CLEANUP(wio_map_fini) struct wio_map pids = {0};
    WIO_CLEANUP(wio_map_fini) struct wio_map ranks = {0};
    WIO_CLEANUP(wio_map_fini) struct wio_map threads = {0};
    for (uint32_t i = 0; i < trace->process_count; i++) {
        struct wio_process_info *info = &trace->processes[i];
        WIO_TRY(wio_map_put(&pids, host_hash(info->host) ^ (uint32_t)info->pid, 1));
        if (info->rank >= 0) {
            WIO_TRY(wio_map_put(&ranks, (uint64_t)info->rank, 1));
        }
        /* Parents stand before their children, so that a walk up the tree ends. */
        if (info->parent >= i) {
            info->parent = UINT32_MAX;
        }
        trace->info.dropped += info->dropped;
        trace->info.evicted += info->evicted;
        trace->info.duration_ns =
            info->end_ns > trace->info.duration_ns ? info->end_ns : trace->info.duration_ns;
    }
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        const struct wio_stream_info *stream = &trace->streams[i];
        const struct wio_process_info *info = &trace->processes[stream->process];
        uint64_t key = host_hash(info->host) ^ (uint64_t)(uint32_t)info->pid << 32;
        WIO_TRY(wio_map_put(&threads, key ^ (uint32_t)stream->tid, 1));
        trace->info.bytes_read += stream->bytes_read;
        trace->info.bytes_written += stream->bytes_written;
    }
    trace->info.processes = (uint32_t)pids.hash.count;
    trace->info.ranks = (uint32_t)ranks.hash.count;
    trace->info.threads = (uint32_t)threads.hash.count;
    trace->info.images = trace->process_count;
    return WIO_OK;
}

static bool is_file(const struct wio_file_info *file)
{
    return (file->uses & WIO_USE_FILE) != 0 &&
           (file->type == WIO_FILE_REGULAR || file->type == WIO_FILE_SYMLINK ||
            file->type == WIO_FILE_NONE || file->type == WIO_FILE_UNKNOWN);
}

/* Its end is known and was of the run's own making, and nothing that it did went unseen. */
static bool is_whole(const struct wio_process_info *info)
{
    for (uint32_t i = 0; i < info->unseen_count; i++) {
        if (info->unseen[i] > 0) {
            return false;
        }
    }
    return info->end == WIO_END_EXIT || info->end == WIO_END_EXEC ||
           (info->end == WIO_END_SIGNAL && info->is_expected);
}

static char *join_arguments(const char *text, size_t bytes)
{
    char *copy = calloc(1, bytes + 1);
    if (copy == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < bytes; i++) {
        copy[i] = text[i] != '\0' ? text[i] : ' ';
    }
    while (bytes > 0 && copy[bytes - 1] == ' ') {
        copy[--bytes] = '\0';
    }
    return copy;
}

/* The value of the segment that begins first: of several recorders that one launched the others.
 * Names do not tell it, since pids come again. */
static enum wio_status read_meta(struct wio_trace *trace, unsigned key, char **text_out)
{
    const char *first = "";
    size_t first_bytes = 0;
    uint64_t first_ns = UINT64_MAX;
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        const struct wio_reader_segment *segment = &trace->segments[i];
        const char *text = "";
        size_t bytes = 0;
        WIO_TRY(wio_reader_meta(segment, key, &text, &bytes));
        if (bytes > 0 && (first_bytes == 0 || segment->base_unix_ns < first_ns)) {
            first = text;
            first_bytes = bytes;
            first_ns = segment->base_unix_ns;
        }
    }
    *text_out = first_bytes > 0 ? join_arguments(first, first_bytes) : strdup("");
    return *text_out == NULL ? WIO_ERR_NOMEM : WIO_OK;
}

/* Those of all segments. */
static enum wio_status read_remarks(struct wio_trace *trace)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob lines = {0};
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        const char *text = "";
        size_t bytes = 0;
        WIO_TRY(wio_reader_meta(&trace->segments[i], WIO_SEGMENT_META_REMARKS, &text, &bytes));
        WIO_TRY(wio_blob_put(&lines, text, strnlen(text, bytes)));
    }
    WIO_TRY(wio_blob_u8(&lines, 0));
    trace->remarks = strdup((const char *)lines.data);
    return trace->remarks == NULL ? WIO_ERR_NOMEM : WIO_OK;
}

static bool has_line(const char *text, size_t bytes, const char *line)
{
    const size_t length = strlen(line);
    while (bytes > 0) {
        const char *end = memchr(text, '\n', bytes);
        const size_t used = end != NULL ? (size_t)(end - text) : bytes;
        if (used == length && memcmp(text, line, length) == 0) {
            return true;
        }
        text += end != NULL ? used + 1 : used;
        bytes -= end != NULL ? used + 1 : used;
    }
    return false;
}

/* R-META-3: the largest bound; the last events where any recorder kept these. */
static enum wio_status read_bound(struct wio_trace *trace)
{
    struct wio_trace_info *info = &trace->info;
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        const char *text = "";
        size_t bytes = 0;
        uint64_t most = 0;
        WIO_TRY(wio_reader_meta(&trace->segments[i], WIO_SEGMENT_META_BOUND, &text, &bytes));
        info->keeps_last = info->keeps_last || has_line(text, bytes, "keep last");
        if (wio_meta_number(text, bytes, "max_size", &most)) {
            info->max_bytes = most > info->max_bytes ? most : info->max_bytes;
        }
    }
    return WIO_OK;
}

/* Each recorder says so in its segment. */
static enum wio_status have_ended(const struct wio_trace *trace, bool *ended_out)
{
    *ended_out = true;
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        const char *text = "";
        size_t bytes = 0;
        WIO_TRY(
            wio_reader_meta(&trace->segments[i], WIO_SEGMENT_META_RECORDER_DONE, &text, &bytes));
        *ended_out = *ended_out && bytes == 1 && text[0] == '1';
    }
    return WIO_OK;
}

static bool is_complete(const struct wio_trace *trace)
{
    bool is_all = trace->info.dropped == 0 && trace->info.ended;
    for (uint32_t i = 0; i < trace->process_count; i++) {
        is_all = is_all && is_whole(&trace->processes[i]);
    }
    return is_all;
}

static enum wio_status read_cpus(struct wio_trace *trace)
{
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        const struct wio_reader_segment *segment = &trace->segments[i];
        const char *text = "";
        size_t bytes = 0;
        uint32_t cpus = 0;
        WIO_TRY(wio_reader_meta(segment, WIO_SEGMENT_META_CPUS, &text, &bytes));
        for (size_t k = 0; k < bytes && k < 8 && text[k] >= '0' && text[k] <= '9'; k++) {
            cpus = cpus * 10 + (uint32_t)(text[k] - '0');
        }
        for (uint32_t k = 0; k < segment->process_count; k++) {
            trace->processes[segment->process_base + k].cpus = cpus;
        }
    }
    return WIO_OK;
}

static enum wio_status summarise(struct wio_trace *trace)
{
    WIO_TRY(count_processes(trace));
    for (uint32_t i = 0; i < trace->file_count; i++) {
        trace->info.files += is_file(&trace->files[i]);
    }
    WIO_TRY(read_meta(trace, WIO_SEGMENT_META_COMMAND, &trace->command));
    WIO_TRY(read_meta(trace, WIO_SEGMENT_META_VERSION, &trace->version));
    WIO_TRY(read_cpus(trace));
    trace->info.command = trace->command;
    trace->info.version = trace->version;
    WIO_TRY(read_remarks(trace));
    trace->info.remarks = trace->remarks;
    WIO_TRY(have_ended(trace, &trace->info.ended));
    WIO_TRY(read_bound(trace));
    trace->info.complete = is_complete(trace);
    return WIO_OK;
}

enum wio_status wio_trace_summarise(struct wio_trace *trace, struct wio_error *err)
{
    WIO_TRY(sum_blocks(trace, err));
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        WIO_TRY(check_streams(trace, &trace->segments[i], err));
    }
    enum wio_status status = summarise(trace);
    if (status != WIO_OK) {
        return wio_error_set(err, status, trace->path, WIO_ERROR_NO_OFFSET,
                             "cannot sum up the trace");
    }
    return WIO_OK;
}

void wio_trace_get_info_sized(const struct wio_trace *trace, struct wio_trace_info *info_out,
                              size_t size)
{
    wio_copy_sized(info_out, size, &trace->info, sizeof(trace->info));
}

uint32_t wio_trace_process_count(const struct wio_trace *trace)
{
    return trace->process_count;
}

const struct wio_process_info *wio_trace_process(const struct wio_trace *trace, uint32_t i)
{
    return i < trace->process_count ? &trace->processes[i] : NULL;
}

uint32_t wio_trace_stream_count(const struct wio_trace *trace)
{
    return trace->stream_count;
}

const struct wio_stream_info *wio_trace_stream(const struct wio_trace *trace, uint32_t i)
{
    return i < trace->stream_count ? &trace->streams[i] : NULL;
}

uint32_t wio_trace_file_count(const struct wio_trace *trace)
{
    return trace->file_count;
}

const struct wio_file_info *wio_trace_file(const struct wio_trace *trace, uint32_t i)
{
    return i < trace->file_count ? &trace->files[i] : NULL;
}

void wio_trace_op_total(const struct wio_trace *trace, unsigned op, struct wio_op_total *out)
{
    *out = op < WIO_OP_COUNT ? trace->totals[op] : (struct wio_op_total){0};
}

const char *wio_trace_string(const struct wio_trace *trace, uint32_t id, size_t *bytes_out)
{
    bool is_known = id < trace->string_count;
    if (bytes_out != NULL) {
        *bytes_out = is_known ? trace->strings[id].bytes : 0;
    }
    return is_known ? trace->strings[id].text : "";
}

uint32_t wio_trace_string_count(const struct wio_trace *trace)
{
    return trace->string_count;
}

static const char *segment_text(const struct wio_trace *trace, uint32_t segment, uint64_t id)
{
    const struct wio_reader_segment *from = &trace->segments[segment];
    if (id >= from->string_count) {
        return "";
    }
    return wio_trace_string(trace, from->strings == NULL ? (uint32_t)id : from->strings[id], NULL);
}

uint32_t wio_trace_source_count(const struct wio_trace *trace)
{
    return trace->source_count;
}

uint32_t wio_trace_source(const struct wio_trace *trace, uint32_t source, struct wio_frame *frames,
                          uint32_t max)
{
    if (source == 0 || source >= trace->source_count) {
        return 0;
    }
    const struct wio_source_ref *ref = &trace->sources[source];
    struct wio_buf buf = ref->frames;
    for (uint32_t i = 0; i < ref->count && i < max; i++) {
        uint64_t module = 0;
        uint64_t build_id = 0;
        uint64_t address = 0;
        /* Parsed once when the trace was opened: cannot fail now. */
        if (wio_buf_varint(&buf, &module) != WIO_OK || wio_buf_varint(&buf, &build_id) != WIO_OK ||
            wio_buf_varint(&buf, &address) != WIO_OK) {
            return i;
        }
        frames[i] = (struct wio_frame){
            .module = segment_text(trace, ref->segment, module),
            .build_id = segment_text(trace, ref->segment, build_id),
            .address = address,
        };
    }
    return ref->count;
}
