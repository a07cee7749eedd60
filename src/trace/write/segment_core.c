/* SPDX-License-Identifier: Apache-2.0 */
/* A segment that is being written, in memory: made, freed, and the error that all parts give. */
#include "trace/write/segment_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"

enum wio_status wio_segment_fail(const struct wio_segment *segment, enum wio_status status,
                                 struct wio_error *err)
{
    return wio_error_set(err, status, segment->label, segment->file.size, "cannot write a segment");
}

enum wio_status wio_segment_refuse(const struct wio_segment *segment, const char *what,
                                   uint32_t number, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_USAGE, segment->label, WIO_ERROR_NO_OFFSET,
                         "%s %u is none of this segment", what, number);
}

static void free_tables(struct wio_segment *segment)
{
    wio_blob_fini(&segment->meta);
    wio_strtab_fini(&segment->strings);
    free(segment->uses);
    wio_strtab_fini(&segment->sources);
    wio_map_fini(&segment->call_index);
    free(segment->calls);
    free(segment->totals);
    for (uint32_t i = 0; i < segment->process_count; i++) {
        free(segment->processes[i].texts);
        free(segment->processes[i].opened);
    }
    free(segment->processes);
    wio_map_fini(&segment->last_stream);
    free(segment->files);
    wio_map_fini(&segment->file_index);
    wio_blob_fini(&segment->index);
    free(segment->index_parts);
}

void wio_segment_free(struct wio_segment *segment)
{
    for (uint32_t i = 0; i < segment->stream_count; i++) {
        free(segment->streams[i].buffer);
    }
    free(segment->streams);
    free_tables(segment);
    wio_fd_cleanup(&segment->file.fd);
    wio_fd_cleanup(&segment->dir);
    wio_pack_fini(&segment->pack);
    free(segment->scratch);
    free(segment->label);
    free(segment->final);
    free(segment);
}

struct wio_segment *wio_segment_new(const char *label)
{
    struct wio_segment *segment = calloc(1, sizeof(*segment));
    if (segment == NULL) {
        return NULL;
    }
    segment->file.fd = -1;
    segment->dir = -1;
    segment->label = strdup(label);
    segment->scratch = calloc(WIO_EVENTS_PER_BLOCK, sizeof(*segment->scratch));
    if (segment->label == NULL || segment->scratch == NULL) {
        wio_segment_free(segment);
        return NULL;
    }
    segment->file.name = segment->label;
    return segment;
}
