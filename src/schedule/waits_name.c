/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/waits_name.h"

#include <inttypes.h>
#include <stdio.h>

#include "ops/calls.h"

const char *wio_name_stream(const struct wio_trace *trace, uint32_t stream, char *text)
{
    const struct wio_stream_info *info = wio_trace_stream(trace, stream);
    const struct wio_process_info *process = wio_trace_process(trace, info->process);
    if (process->rank < 0) {
        (void)snprintf(text, WIO_NAME_MAX, "pid %d thread %d", process->pid, info->tid);
    } else {
        (void)snprintf(text, WIO_NAME_MAX, "rank %d (pid %d, thread %d)", process->rank,
                       process->pid, info->tid);
    }
    return text;
}

static const char *object_of(const struct wio_waits *waits, uint32_t object)
{
    const struct wio_edge_file *file = wio_trace_edges(waits->trace);
    const char *name = file == NULL ? "" : wio_edge_file_object(file, object);
    return name[0] == '\0' ? "a collective" : name;
}

const char *wio_name_wait(const struct wio_waits *waits, uint32_t stream, const struct wio_act *act,
                          char *text)
{
    char waiter[WIO_NAME_MAX];
    char awaited[WIO_NAME_MAX];
    (void)wio_name_stream(waits->trace, stream, waiter);
    if (act->kind == WIO_ACT_LEAVE) {
        const struct wio_meeting *meeting = &waits->meetings[act->index];
        (void)snprintf(text, WIO_NAME_MAX,
                       "%.80s at event %" PRIu64 " waits for all %" PRIu32 " that have to come to "
                       "%.60s (%s)",
                       waiter, act->seq, meeting->givers, object_of(waits, meeting->object),
                       wio_evidence_name(meeting->evidence));
        return text;
    }
    if (act->index >= waits->edge_count) {
        (void)snprintf(text, WIO_NAME_MAX,
                       "%.80s at event %" PRIu64 " waits for a semaphore that is never posted",
                       waiter, act->seq);
        return text;
    }
    const struct wio_plan_edge *edge = &waits->edges[act->index];
    (void)wio_name_stream(waits->trace, edge->from_stream, awaited);
    (void)snprintf(text, WIO_NAME_MAX,
                   "%.80s at event %" PRIu64 " (%.40s) waits for %.80s to get past event %" PRIu64
                   " (%s, %s)",
                   waiter, edge->to_seq, wio_op_name(edge->to_op), awaited, edge->from_seq,
                   wio_edge_class_name(edge->edge_class), wio_evidence_name(edge->evidence));
    return text;
}
