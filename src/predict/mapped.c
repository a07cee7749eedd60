/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/mapped.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "ops/calls.h"

struct mapped_reading {
    const struct wio_program *program;
    const struct wio_mapped_ops *ops;
    void *arg;
    uint64_t *ends_ns; /* of each stream: of its operations so far */
    uint8_t *has_maps; /* of each process */
};

static void reading_fini(struct mapped_reading *reading)
{
    free(reading->ends_ns);
    free(reading->has_maps);
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static bool maps_file(const struct mapped_reading *reading, const struct wio_event *event)
{
    return event->op == WIO_OP_mmap && event->result != -1 && event->path != 0 && event->size > 0 &&
           wio_used_files_is_storage(&reading->program->files, event->path);
}

static uint64_t slept_ns(const struct mapped_reading *reading, const struct wio_event *event)
{
    uint64_t end_ns = reading->ends_ns[event->stream];
    uint64_t gap_ns = end_ns != 0 && event->t_ns > end_ns ? event->t_ns - end_ns : 0;
    bool is_known = event->gap_slept && event->gap_cpu_ns != 0 && event->gap_cpu_ns < gap_ns;
    return is_known ? gap_ns - event->gap_cpu_ns : 0;
}

static enum wio_status see(struct mapped_reading *reading, const struct wio_event *event)
{
    uint32_t process = wio_trace_stream(reading->program->trace, event->stream)->process;
    uint64_t *end_ns = &reading->ends_ns[event->stream];
    uint64_t ns = reading->has_maps[process] ? slept_ns(reading, event) : 0;
    if (ns > 0) {
        WIO_TRY(reading->ops->slept(reading->arg, event, ns));
    }
    *end_ns = event->t_ns + event->dur_ns > *end_ns ? event->t_ns + event->dur_ns : *end_ns;
    if (!maps_file(reading, event)) {
        return WIO_OK;
    }
    reading->has_maps[process] = 1;
    return reading->ops->mapped(reading->arg, event);
}

enum wio_status wio_mapped_read(const struct wio_program *program, const struct wio_mapped_ops *ops,
                                void *arg, struct wio_error *err)
{
    const struct wio_trace *trace = program->trace;
    const struct wio_filter filter = {.struct_size = sizeof(filter), .order = WIO_ORDER_TIME};
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    WIO_CLEANUP(reading_fini)
    struct mapped_reading reading = {
        .program = program,
        .ops = ops,
        .arg = arg,
        .ends_ns = calloc((size_t)wio_trace_stream_count(trace) + 1, sizeof(uint64_t)),
        .has_maps = calloc((size_t)wio_trace_process_count(trace) + 1, 1)};
    const struct wio_event *event;
    enum wio_status status;
    if (reading.ends_ns == NULL || reading.has_maps == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        WIO_TRY(see(&reading, event));
    }
    return status == WIO_END ? WIO_OK : status;
}
