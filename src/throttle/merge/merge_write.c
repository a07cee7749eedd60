/* SPDX-License-Identifier: Apache-2.0 */
/* The merged trace's segment: processes, streams and files of the first run, events of each
 * thread's own run. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/segment.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "throttle/merge/merge_internal.h"

#define EVENTS_PER_STEP 65536u

struct merge_writer {
    struct wio_merge *merge;
    struct wio_segment *segment;
    uint32_t **strings; /* per run: its ids -> those of the segment, 0 = not yet */
    uint64_t *done;     /* per node: I/Os that count and are written */
    bool *is_marked;    /* per node: the mark of a throttled one is written */
    uint64_t events;
    struct wio_error *err;
};

static enum wio_status string_of(struct merge_writer *writer, uint32_t r, uint32_t id,
                                 uint32_t *out)
{
    const struct wio_merge_run *run = &writer->merge->runs[r];
    uint32_t *known = &writer->strings[r][id];
    if (id != WIO_NO_STRING && *known == 0) {
        size_t bytes;
        const char *text = wio_trace_string(run->trace, id, &bytes);
        WIO_TRY(wio_segment_string(writer->segment, text, bytes, known, writer->err));
    }
    *out = id != WIO_NO_STRING ? *known : WIO_NO_STRING;
    return WIO_OK;
}

static enum wio_status source_of(struct merge_writer *writer, uint32_t r, uint32_t id,
                                 uint32_t *out)
{
    enum { FRAMES_MAX = 256 };
    struct wio_frame frames[FRAMES_MAX];
    *out = 0;
    uint32_t count = wio_trace_source(writer->merge->runs[r].trace, id, frames, FRAMES_MAX);
    count = count < FRAMES_MAX ? count : FRAMES_MAX;
    return count > 0 ? wio_segment_source(writer->segment, frames, count, out, writer->err)
                     : WIO_OK;
}

/* ---- ids of the first run ------------------------------------------------------------------ */

/* The process of that pid on the host of another one. */
static uint32_t main_stream(const struct wio_merge_run *run, const struct wio_process_info *beside,
                            int32_t pid)
{
    for (uint32_t s = 0; s < wio_trace_stream_count(run->trace); s++) {
        const struct wio_stream_info *stream = wio_trace_stream(run->trace, s);
        const struct wio_process_info *process = wio_trace_process(run->trace, stream->process);
        if (stream->tid == pid && process->pid == pid && strcmp(process->host, beside->host) == 0) {
            return s;
        }
    }
    return UINT32_MAX;
}

/* A pid of run `r` as the first run has it; one that is not recorded stays. */
static int64_t pid_of(const struct merge_writer *writer, uint32_t r,
                      const struct wio_process_info *beside, int64_t pid)
{
    const struct wio_merge_run *run = &writer->merge->runs[r];
    const struct wio_merge_run *first = &writer->merge->runs[0];
    bool is_pid = r > 0 && pid > 0 && pid <= INT32_MAX;
    uint32_t s = is_pid ? main_stream(run, beside, (int32_t)pid) : UINT32_MAX;
    if (s == UINT32_MAX) {
        return pid;
    }
    uint32_t stream = first->identity.nodes[run->node_of[s]].stream;
    return wio_trace_process(first->trace, wio_trace_stream(first->trace, stream)->process)->pid;
}

/* The same for the token of a thread, which is told by its process too. */
static int64_t token_of(const struct merge_writer *writer, uint32_t r,
                        const struct wio_process_info *of, int64_t token)
{
    const struct wio_merge_run *run = &writer->merge->runs[r];
    const struct wio_merge_run *first = &writer->merge->runs[0];
    for (uint32_t s = 0; r > 0 && token != 0 && s < wio_trace_stream_count(run->trace); s++) {
        const struct wio_stream_info *stream = wio_trace_stream(run->trace, s);
        const struct wio_process_info *process = wio_trace_process(run->trace, stream->process);
        if ((int64_t)stream->thread == token && process->pid == of->pid &&
            strcmp(process->host, of->host) == 0) {
            uint32_t other = first->identity.nodes[run->node_of[s]].stream;
            return (int64_t)wio_trace_stream(first->trace, other)->thread;
        }
    }
    return token;
}

static void translate_ids(const struct merge_writer *writer, uint32_t r, struct wio_event *event)
{
    const struct wio_merge_run *run = &writer->merge->runs[r];
    const struct wio_stream_info *stream = wio_trace_stream(run->trace, event->stream);
    const struct wio_process_info *process = wio_trace_process(run->trace, stream->process);
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_PROCESS:
        event->result = pid_of(writer, r, process, event->result);
        event->arg[1] = pid_of(writer, r, process, event->arg[1]);
        break;
    case WIO_CLASS_WAIT:
        event->result = pid_of(writer, r, process, event->result);
        event->arg[0] = pid_of(writer, r, process, event->arg[0]);
        break;
    case WIO_CLASS_KILL:
        event->arg[0] = pid_of(writer, r, process, event->arg[0]);
        break;
    case WIO_CLASS_THREAD:
        event->arg[0] = token_of(writer, r, process, event->arg[0]);
        break;
    default:
        break;
    }
}

/* ---- events -------------------------------------------------------------------------------- */

/* An event before a node's I/O moves with the I/O before that; the I/O itself with its own waits.
 */
static void move_in_time(struct merge_writer *writer, uint32_t r, uint32_t node,
                         struct wio_event *event)
{
    const struct wio_merge *merge = writer->merge;
    const struct wio_merge_holds *holds = &merge->runs[r].holds[node];
    uint64_t begin_ns = wio_merge_unheld(holds, event->t_ns);
    uint64_t end_ns = wio_merge_unheld(holds, event->t_ns + event->dur_ns);
    bool counts = wio_run_op_counts(event);
    uint64_t done = writer->done[node];
    uint64_t shift_ns = counts     ? merge->shift_ns[node][done]
                        : done > 0 ? merge->shift_ns[node][done - 1]
                                   : 0;
    event->t_ns =
        merge->runs[0].birth_ns[node] + (begin_ns - merge->runs[r].birth_ns[node]) + shift_ns;
    event->dur_ns = end_ns - begin_ns;
    writer->done[node] += counts ? 1 : 0;
}

static bool is_left_out(const struct merge_writer *writer, uint32_t node,
                        const struct wio_event *event)
{
    if (event->op == WIO_OP_hold) {
        return writer->is_marked[node];
    }
    bool without_sync = writer->merge->params->without_sync && !writer->merge->first_only;
    return without_sync && wio_op_class(event->op) >= WIO_CLASS_MPI_COMM;
}

static enum wio_status write_event(struct merge_writer *writer, uint32_t r, uint32_t stream,
                                   const struct wio_event *event)
{
    struct wio_event out = *event;
    uint32_t node = writer->merge->runs[0].node_of[stream];
    if (is_left_out(writer, node, event)) {
        return WIO_OK;
    }
    writer->is_marked[node] = writer->is_marked[node] || event->op == WIO_OP_hold;
    WIO_TRY(string_of(writer, r, event->path, &out.path));
    WIO_TRY(string_of(writer, r, event->path2, &out.path2));
    WIO_TRY(source_of(writer, r, event->source, &out.source));
    translate_ids(writer, r, &out);
    move_in_time(writer, r, node, &out);
    out.stream = stream;
    writer->events++;
    if (writer->events % EVENTS_PER_STEP == 0 && writer->merge->params->progress != NULL) {
        writer->merge->params->progress(writer->merge->params->progress_arg, writer->events, 0,
                                        "events");
    }
    return wio_segment_append(writer->segment, &out, writer->err);
}

/* How many-th stream of its node: one per process image. */
static uint32_t image_of(const struct wio_merge_run *run, uint32_t stream)
{
    uint32_t image = 0;
    for (uint32_t s = 0; s < stream; s++) {
        image += run->node_of[s] == run->node_of[stream] ? 1 : 0;
    }
    return image;
}

static enum wio_status find_stream(const struct merge_writer *writer, uint32_t r, uint32_t stream,
                                   uint32_t *stream_out)
{
    const struct wio_merge_run *first = &writer->merge->runs[0];
    const struct wio_merge_run *run = &writer->merge->runs[r];
    for (uint32_t s = 0; s < wio_trace_stream_count(run->trace); s++) {
        if (run->node_of[s] == first->node_of[stream] &&
            image_of(run, s) == image_of(first, stream)) {
            *stream_out = s;
            return WIO_OK;
        }
    }
    return wio_error_set(writer->err, WIO_ERR_FORMAT, run->dir, WIO_ERROR_NO_OFFSET,
                         "no run of the same program: thread %d of the first run executes more "
                         "programs",
                         (int)wio_trace_stream(first->trace, stream)->tid);
}

static enum wio_status write_stream(struct merge_writer *writer, uint32_t stream)
{
    uint32_t node = writer->merge->runs[0].node_of[stream];
    uint32_t r = writer->merge->source[node];
    uint32_t from;
    WIO_TRY(find_stream(writer, r, stream, &from));
    struct wio_cursor *cursor;
    const struct wio_event *event;
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .streams = &from,
                                      .stream_count = 1};
    WIO_TRY(wio_cursor_create(writer->merge->runs[r].trace, &filter, &cursor, writer->err));
    enum wio_status status;
    while ((status = wio_cursor_next(cursor, &event, writer->err)) == WIO_OK) {
        status = write_event(writer, r, stream, event);
        if (status != WIO_OK) {
            break;
        }
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

/* ---- tables -------------------------------------------------------------------------------- */

static enum wio_status write_file(struct merge_writer *writer, uint32_t i)
{
    struct wio_file_info file = *wio_trace_file(writer->merge->runs[0].trace, i);
    WIO_TRY(string_of(writer, 0, file.path, &file.path));
    WIO_TRY(string_of(writer, 0, file.target, &file.target));
    WIO_TRY(string_of(writer, 0, file.fs, &file.fs));
    return wio_segment_file(writer->segment, &file, writer->err);
}

static enum wio_status write_tables(struct merge_writer *writer)
{
    const struct wio_trace *trace = writer->merge->runs[0].trace;
    uint32_t index;
    for (uint32_t i = 0; i < wio_trace_process_count(trace); i++) {
        struct wio_process_info process = *wio_trace_process(trace, i);
        process.opened_count = 0; /* runs that are merged have all their events */
        WIO_TRY(wio_segment_process(writer->segment, &process, &index, writer->err));
    }
    for (uint32_t s = 0; s < wio_trace_stream_count(trace); s++) {
        const struct wio_stream_info *stream = wio_trace_stream(trace, s);
        WIO_TRY(wio_segment_stream(writer->segment, stream->process, stream->tid, stream->thread,
                                   &index, writer->err));
    }
    for (uint32_t i = 0; i < wio_trace_file_count(trace); i++) {
        WIO_TRY(write_file(writer, i));
    }
    return WIO_OK;
}

static enum wio_status put(struct merge_writer *writer, unsigned key, const char *text)
{
    return wio_segment_meta(writer->segment, key, text, strlen(text), writer->err);
}

/* Arguments are kept apart by NUL; where one is quoted, the text stays one argument. */
static enum wio_status put_command(struct merge_writer *writer, const char *command)
{
    size_t bytes = strlen(command);
    char *copy = strdup(command);
    if (copy == NULL) {
        return wio_merge_no_memory(writer->err);
    }
    bool is_plain = strpbrk(copy, "'\"\\") == NULL;
    for (size_t i = 0; is_plain && i < bytes; i++) {
        copy[i] = copy[i] == ' ' ? '\0' : copy[i];
    }
    enum wio_status status =
        wio_segment_meta(writer->segment, WIO_SEGMENT_META_COMMAND, copy, bytes, writer->err);
    free(copy);
    return status;
}

static enum wio_status write_meta(struct merge_writer *writer)
{
    struct wio_trace_info info;
    wio_trace_get_info(writer->merge->runs[0].trace, &info);
    WIO_TRY(put(writer, WIO_SEGMENT_META_VERSION, info.version));
    WIO_TRY(put_command(writer, info.command));
    WIO_TRY(put(writer, WIO_SEGMENT_META_OPTIONS, "merged"));
    WIO_TRY(put(writer, WIO_SEGMENT_META_EXIT_STATUS, "0"));
    return info.complete ? put(writer, WIO_SEGMENT_META_RECORDER_DONE, "1") : WIO_OK;
}

static enum wio_status write_all(struct merge_writer *writer)
{
    WIO_TRY(write_meta(writer));
    WIO_TRY(write_tables(writer));
    for (uint32_t s = 0; s < wio_trace_stream_count(writer->merge->runs[0].trace); s++) {
        WIO_TRY(write_stream(writer, s));
    }
    return WIO_OK;
}

/* ---- memory -------------------------------------------------------------------------------- */

static enum wio_status prepare(struct merge_writer *writer)
{
    const struct wio_merge *merge = writer->merge;
    writer->strings = calloc(merge->params->count, sizeof(*writer->strings));
    writer->done = calloc((size_t)merge->nodes + 1, sizeof(*writer->done));
    writer->is_marked = calloc((size_t)merge->nodes + 1, sizeof(*writer->is_marked));
    bool is_there = writer->strings != NULL && writer->done != NULL && writer->is_marked != NULL;
    for (uint32_t r = 0; is_there && r < merge->params->count; r++) {
        size_t count = wio_trace_string_count(merge->runs[r].trace);
        writer->strings[r] = calloc(count + 1, sizeof(**writer->strings));
        is_there = writer->strings[r] != NULL;
    }
    return is_there ? WIO_OK : wio_merge_no_memory(writer->err);
}

static void writer_fini(struct merge_writer *writer)
{
    for (uint32_t r = 0; writer->strings != NULL && r < writer->merge->params->count; r++) {
        free(writer->strings[r]);
    }
    free(writer->strings);
    free(writer->done);
    free(writer->is_marked);
    wio_segment_abandon(writer->segment);
}

enum wio_status wio_merge_write(struct wio_merge *merge, const char *dir, uint64_t *events_out,
                                struct wio_error *err)
{
    struct merge_writer writer WIO_CLEANUP(writer_fini) = {.merge = merge, .err = err};
    char name[PATH_MAX];
    struct wio_trace_info info;
    wio_trace_get_info(merge->runs[0].trace, &info);
    WIO_TRY(prepare(&writer));
    if (snprintf(name, sizeof(name), "%s/" WIO_MERGE_SEGMENT, dir) >= PATH_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, dir, WIO_ERROR_NO_OFFSET,
                             "expected a shorter name for the trace directory");
    }
    const struct wio_segment_params params = {
        .struct_size = sizeof(params), .base_unix_ns = info.start_unix_ns, .boot_id = ""};
    WIO_TRY(wio_segment_create(name, &params, &writer.segment, err));
    WIO_TRY(write_all(&writer));
    struct wio_segment *segment = writer.segment;
    writer.segment = NULL;
    *events_out = writer.events;
    return wio_segment_finish(segment, err);
}
