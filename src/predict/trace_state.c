/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/trace_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"

static const char *text_of(void *context, uint32_t string)
{
    const struct wio_trace_state *state = context;
    return wio_trace_string(state->trace, string, NULL);
}

/* Equal names of hosts have equal numbers. */
static enum wio_status copy_processes(struct wio_trace_state *state, uint32_t count)
{
    WIO_CLEANUP(wio_strtab_fini) struct wio_strtab hosts = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct wio_process_info *info = wio_trace_process(state->trace, i);
        struct wio_state_process *process = &state->processes[i];
        *process = (struct wio_state_process){
            .pid = info->pid, .parent = info->parent, .start_ns = info->start_ns};
        WIO_TRY(wio_strtab_add(&hosts, info->host, strlen(info->host), &process->host));
    }
    return WIO_OK;
}

static enum wio_status add_links(struct wio_trace_state *state)
{
    for (uint32_t i = 0; i < wio_trace_file_count(state->trace); i++) {
        const struct wio_file_info *file = wio_trace_file(state->trace, i);
        if (file->type == WIO_FILE_SYMLINK && file->target != WIO_NO_STRING) {
            WIO_TRY(wio_state_initial_link(state->state, file->path, file->target));
        }
    }
    return WIO_OK;
}

enum wio_status wio_trace_state_init(struct wio_trace_state *state, const struct wio_trace *trace)
{
    const uint32_t processes = wio_trace_process_count(trace);
    const uint32_t streams = wio_trace_stream_count(trace);
    state->trace = trace;
    state->processes = calloc((size_t)processes + 1, sizeof(*state->processes));
    state->streams = calloc((size_t)streams + 1, sizeof(*state->streams));
    if (state->processes == NULL || state->streams == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(copy_processes(state, processes));
    for (uint32_t i = 0; i < streams; i++) {
        const struct wio_stream_info *info = wio_trace_stream(trace, i);
        state->streams[i] = (struct wio_state_stream){info->process, info->events};
    }
    const struct wio_state_params params = {.alloc = WIO_ALLOC_HEAP,
                                            .processes = state->processes,
                                            .process_count = processes,
                                            .streams = state->streams,
                                            .stream_count = streams,
                                            .string_count = wio_trace_string_count(trace),
                                            .text = text_of,
                                            .context = state};
    WIO_TRY(wio_state_create(&params, &state->state));
    return add_links(state);
}

void wio_trace_state_fini(struct wio_trace_state *state)
{
    wio_state_destroy(state->state);
    free(state->processes);
    free(state->streams);
    *state = (struct wio_trace_state){0};
}
