/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and processes of a trace as the inference wants them: which streams are one thread, which
 * images share a host. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "edges/edges_internal.h"

void wio_join_tables_fini(struct wio_join_tables *tables)
{
    free(tables->streams);
    free(tables->processes);
    free(tables->next_stream);
    free(tables->fifos);
    wio_join_links_fini(&tables->links);
    wio_join_mounts_fini(&tables->mounts);
    wio_join_below_fini(&tables->below);
    *tables = (struct wio_join_tables){0};
}

/* 0, 1, 2 .. in order of appearance; those without a name are one more. */
static enum wio_status number_hosts(struct wio_join_tables *tables, const struct wio_trace *trace)
{
    struct wio_strtab hosts = {0};
    enum wio_status status = WIO_OK;
    uint32_t count = wio_trace_process_count(trace);
    bool has_nameless = false;
    for (uint32_t i = 0; i < count && status == WIO_OK; i++) {
        const struct wio_process_info *info = wio_trace_process(trace, i);
        uint32_t id = 0;
        status = wio_strtab_add(&hosts, info->host, strlen(info->host), &id);
        has_nameless = has_nameless || id == 0;
        tables->processes[i] = (struct wio_infer_process){
            .host = id - 1, .pid = info->pid, .parent = info->parent, .start_ns = info->start_ns};
    }
    for (uint32_t i = 0; i < count && has_nameless; i++) {
        uint32_t *host = &tables->processes[i].host;
        *host = *host == UINT32_MAX ? hosts.count : *host;
    }
    tables->hosts = hosts.count + (has_nameless ? 1 : 0);
    wio_strtab_fini(&hosts);
    return status;
}

static uint64_t thread_key(uint32_t process, int32_t tid)
{
    return (uint64_t)process << 32 | (uint32_t)tid;
}

/* The image that exec replaced by `process`; UINT32_MAX: none. */
static uint32_t image_before(const struct wio_join_tables *tables, uint32_t processes,
                             uint32_t process)
{
    const struct wio_infer_process *it = &tables->processes[process];
    if (it->parent >= processes || it->parent == process) {
        return UINT32_MAX;
    }
    const struct wio_infer_process *before = &tables->processes[it->parent];
    return before->pid == it->pid && before->host == it->host ? it->parent : UINT32_MAX;
}

/* R-STREAM-1: a thread goes on counting in the image that exec made. */
static enum wio_status tie_streams(struct wio_join_tables *tables, const struct wio_trace *trace)
{
    WIO_CLEANUP(wio_map_fini) struct wio_map stream_of = {0};
    uint32_t count = wio_trace_stream_count(trace);
    for (uint32_t s = 0; s < count; s++) {
        const struct wio_stream_info *info = wio_trace_stream(trace, s);
        WIO_TRY(wio_map_put(&stream_of, thread_key(info->process, info->tid), s));
        tables->next_stream[s] = UINT32_MAX;
        tables->streams[s] = (struct wio_infer_stream){.thread = s,
                                                       .process = info->process,
                                                       .tid = info->tid,
                                                       .token = info->thread,
                                                       .first_ns = info->first_ns,
                                                       .first_seq = info->first_seq,
                                                       .events = info->events};
    }
    /* Images come behind those that made them, so their streams do too. */
    for (uint32_t s = 0; s < count; s++) {
        struct wio_infer_stream *stream = &tables->streams[s];
        uint32_t image = image_before(tables, wio_trace_process_count(trace), stream->process);
        const uint64_t *before =
            image == UINT32_MAX ? NULL : wio_map_get(&stream_of, thread_key(image, stream->tid));
        if (before == NULL || *before >= s) {
            continue;
        }
        const struct wio_infer_stream *other = &tables->streams[*before];
        if (other->first_seq + other->events == stream->first_seq) {
            stream->thread = other->thread;
            tables->next_stream[*before] = s;
        }
    }
    return WIO_OK;
}

void wio_join_name_point(const void *context, struct wio_point point, char *text, size_t room)
{
    const struct wio_trace *trace = context;
    const struct wio_stream_info *stream = wio_trace_stream(trace, point.thread);
    int rank = wio_trace_process(trace, stream->process)->rank;
    if (rank >= 0) {
        (void)snprintf(text, room, "rank %d thread %d operation %" PRIu64, rank, (int)stream->tid,
                       point.op);
    } else {
        (void)snprintf(text, room, "thread %d operation %" PRIu64, (int)stream->tid, point.op);
    }
}

enum wio_status wio_join_tables_init(struct wio_join_tables *tables, const struct wio_trace *trace)
{
    size_t streams = (size_t)wio_trace_stream_count(trace) + 1;
    size_t processes = (size_t)wio_trace_process_count(trace) + 1;
    *tables = (struct wio_join_tables){
        .streams = calloc(streams, sizeof(*tables->streams)),
        .next_stream = calloc(streams, sizeof(*tables->next_stream)),
        .processes = calloc(processes, sizeof(*tables->processes)),
        .fifos = calloc((size_t)wio_trace_string_count(trace) / 64 + 1, sizeof(*tables->fifos)),
    };
    if (tables->streams == NULL || tables->processes == NULL || tables->next_stream == NULL ||
        tables->fifos == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(number_hosts(tables, trace));
    return tie_streams(tables, trace);
}

enum wio_status wio_join_find_paths(struct wio_join_tables *tables, const struct wio_trace *trace,
                                    struct wio_error *err)
{
    WIO_TRY(wio_join_links_init(&tables->links, trace, err));
    enum wio_status status =
        wio_join_mounts_init(&tables->mounts, trace, tables->processes, tables->hosts);
    return status == WIO_OK
               ? WIO_OK
               : wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET, "no memory to find edges");
}
