/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are mapped are read instead, each as a whole when it is mapped, in requests of S
 * bytes; what threads slept between their operations from then on, which is taken for page faults,
 * does not pass.
 */
#include "base/cleanup.h"
#include "predict/changes/change_work.h"
#include "predict/mapped.h"

/* Is it of a process with a thread of the scope? */
static bool is_of_scope(const struct wio_change_work *work, const struct wio_event *event)
{
    const struct wio_change_scope *scope = work->change->scope;
    const struct wio_trace *trace = work->program->trace;
    bool is_any = scope == NULL || scope->stream_count == 0;
    for (size_t i = 0; !is_any && i < scope->stream_count; i++) {
        is_any = wio_trace_stream(trace, scope->streams[i])->process ==
                 wio_trace_stream(trace, event->stream)->process;
    }
    return is_any;
}

static enum wio_status mapped(void *arg, const struct wio_event *event)
{
    struct wio_change_work *work = arg;
    uint64_t requests = (event->size + work->change->amount - 1) / work->change->amount;
    if (!is_of_scope(work, event)) {
        return WIO_OK;
    }
    return wio_edits_add(
        work->edits, event->stream,
        &(struct wio_edit){.kind = WIO_EDIT_ADD,
                           .seq = event->seq,
                           .offset = event->offset > 0 ? (uint64_t)event->offset : 0,
                           .size = event->size / requests + (event->size % requests != 0),
                           .path = event->path,
                           .file = wio_change_files(work, event)->file,
                           .count = requests < UINT32_MAX ? (uint32_t)requests : UINT32_MAX,
                           .method = WIO_MODEL_READ});
}

static enum wio_status slept(void *arg, const struct wio_event *event, uint64_t ns)
{
    struct wio_change_work *work = arg;
    return is_of_scope(work, event)
               ? wio_edits_add(
                     work->edits, event->stream,
                     &(struct wio_edit){
                         .kind = WIO_EDIT_SKIP, .seq = event->seq, .last = event->seq, .size = ns})
               : WIO_OK;
}

enum wio_status wio_change_read_maps(struct wio_change_work *work)
{
    static const struct wio_mapped_ops ops = {mapped, slept};
    return wio_mapped_read(work->program, &ops, work, work->err);
}
