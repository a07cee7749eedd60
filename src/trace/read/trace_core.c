/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace keeps in memory, and how much of it one segment may take. */
#include "trace/read/trace_internal.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "trace/edges/edge_file.h"

enum wio_status wio_trace_keep(struct wio_trace *trace, void *memory)
{
    void *array = trace->kept;
    enum wio_status status =
        wio_grow(&array, sizeof(*trace->kept), &trace->kept_capacity, trace->kept_count + 1);
    if (status != WIO_OK) {
        free(memory);
        return status;
    }
    trace->kept = array;
    trace->kept[trace->kept_count++] = memory;
    return WIO_OK;
}

enum wio_status wio_trace_first_entries(struct wio_trace *trace)
{
    trace->strings = calloc(16, sizeof(*trace->strings));
    trace->sources = calloc(16, sizeof(*trace->sources));
    if (trace->strings == NULL || trace->sources == NULL) {
        return WIO_ERR_NOMEM;
    }
    trace->string_capacity = 16;
    trace->source_capacity = 16;
    trace->strings[0] = (struct wio_text){"", 0};
    trace->string_count = 1;
    trace->source_count = 1;
    return WIO_OK;
}

enum wio_status wio_reader_charge(struct wio_reader_segment *segment, uint64_t bytes)
{
    uint64_t most = WIO_BLOCK_MAX_BYTES + 256 * segment->file.size;
    segment->table_bytes += bytes;
    return segment->table_bytes <= most ? WIO_OK : WIO_ERR_UNSUPPORTED;
}

enum wio_status wio_reader_too_much(const struct wio_reader_segment *segment, uint64_t offset,
                                    struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, segment->name, offset,
                         "expected index and tables of at most 64 MiB and 256 times the file");
}

void wio_reader_close(struct wio_reader_segment *segment)
{
    wio_fd_cleanup(&segment->file.fd);
    free(segment->name);
    free(segment->tables);
    wio_blob_fini(&segment->meta);
    free(segment->calls);
    free(segment->strings);
}

void wio_trace_close(struct wio_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    for (uint32_t i = 0; i < trace->segment_count; i++) {
        wio_reader_close(&trace->segments[i]);
    }
    wio_edge_file_close(trace->edges);
    free(trace->clocks);
    for (uint32_t i = 0; i < trace->kept_count; i++) {
        free(trace->kept[i]);
    }
    free(trace->kept);
    free(trace->segments);
    free(trace->strings);
    wio_map_fini(&trace->string_index);
    wio_map_fini(&trace->file_index);
    free(trace->sources);
    free(trace->processes);
    free(trace->streams);
    free(trace->files);
    free(trace->blocks);
    free(trace->ranges);
    free(trace->command);
    free(trace->version);
    free(trace->remarks);
    free(trace->path);
    wio_fd_cleanup(&trace->dir);
    free(trace);
}

uint32_t wio_reader_string(const struct wio_reader_segment *segment, uint64_t id)
{
    if (id >= segment->string_count) {
        return 0;
    }
    return segment->strings == NULL ? (uint32_t)id : segment->strings[id];
}
