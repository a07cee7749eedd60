/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/descriptors.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "state/state.h"

struct wio_descriptors {
    const struct wio_trace *trace;
    struct wio_state *state;
    struct wio_state_process *processes;
    struct wio_state_stream *streams;
};

static const char *text_of(void *context, uint32_t string)
{
    const struct wio_descriptors *descriptors = context;
    return wio_trace_string(descriptors->trace, string, NULL);
}

/* Equal names of hosts have equal numbers. */
static enum wio_status copy_processes(struct wio_descriptors *descriptors, uint32_t count)
{
    WIO_CLEANUP(wio_strtab_fini) struct wio_strtab hosts = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct wio_process_info *info = wio_trace_process(descriptors->trace, i);
        struct wio_state_process *process = &descriptors->processes[i];
        *process = (struct wio_state_process){
            .pid = info->pid, .parent = info->parent, .start_ns = info->start_ns};
        WIO_TRY(wio_strtab_add(&hosts, info->host, strlen(info->host), &process->host));
    }
    return WIO_OK;
}

static enum wio_status init(struct wio_descriptors *descriptors, const struct wio_trace *trace)
{
    uint32_t processes = wio_trace_process_count(trace);
    uint32_t streams = wio_trace_stream_count(trace);
    descriptors->trace = trace;
    descriptors->processes = calloc((size_t)processes + 1, sizeof(*descriptors->processes));
    descriptors->streams = calloc((size_t)streams + 1, sizeof(*descriptors->streams));
    if (descriptors->processes == NULL || descriptors->streams == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(copy_processes(descriptors, processes));
    for (uint32_t i = 0; i < streams; i++) {
        const struct wio_stream_info *info = wio_trace_stream(trace, i);
        descriptors->streams[i] = (struct wio_state_stream){info->process, info->events};
    }
    const struct wio_state_params params = {.alloc = WIO_ALLOC_HEAP,
                                            .processes = descriptors->processes,
                                            .process_count = processes,
                                            .streams = descriptors->streams,
                                            .stream_count = streams,
                                            .string_count = wio_trace_string_count(trace),
                                            .text = text_of,
                                            .context = descriptors};
    return wio_state_create(&params, &descriptors->state);
}

enum wio_status wio_descriptors_create(const struct wio_trace *trace,
                                       struct wio_descriptors **descriptors_out)
{
    struct wio_descriptors *descriptors = calloc(1, sizeof(*descriptors));
    *descriptors_out = NULL;
    if (descriptors == NULL || init(descriptors, trace) != WIO_OK) {
        wio_descriptors_destroy(descriptors);
        return WIO_ERR_NOMEM;
    }
    *descriptors_out = descriptors;
    return WIO_OK;
}

void wio_descriptors_destroy(struct wio_descriptors *descriptors)
{
    if (descriptors == NULL) {
        return;
    }
    wio_state_destroy(descriptors->state);
    free(descriptors->processes);
    free(descriptors->streams);
    free(descriptors);
}

enum wio_status wio_descriptors_event(struct wio_descriptors *descriptors,
                                      const struct wio_event *event)
{
    return wio_state_event(descriptors->state, event);
}

int wio_descriptors_flags(const struct wio_descriptors *descriptors, const struct wio_event *event)
{
    struct wio_state_file file;
    wio_state_fd(descriptors->state, descriptors->streams[event->stream].process, event->fd, &file);
    return file.file != WIO_NO_INDEX ? file.flags : 0;
}
