/* SPDX-License-Identifier: Apache-2.0 */
/* Which operation of which thread, and when, a simulation cannot go on with. */
#include <stdio.h>

#include "base/text.h"
#include "ops/calls.h"
#include "predict/sim/sim.h"

#define NS 1e9
#define RANK_TEXT_MAX 32

/* A bound of the simulation, and not the machine's memory. */
static void tell_budget(const struct sim *sim, enum wio_status *status, struct wio_error *err)
{
    char limit[WIO_TEXT_MAX];
    if (*status == WIO_ERR_NOMEM && sim->budget.is_spent) {
        *status = wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                                "the simulated machines take more than %s of memory (--max-memory)",
                                wio_format_size(limit, sim->budget.limit));
    }
}

static void tell_operation(const struct sim_thread *thread, struct wio_error *err)
{
    const struct wio_stream_info *stream =
        wio_trace_stream(thread->program->trace, thread->id.stream);
    const struct wio_process_info *process =
        wio_trace_process(thread->program->trace, thread->id.image);
    const struct wio_event *event = thread->events.now;
    const char *path = event->path == WIO_NO_STRING
                           ? "no file"
                           : wio_trace_string(thread->program->trace, event->path, NULL);
    char size[WIO_TEXT_MAX];
    char rank[RANK_TEXT_MAX] = "";
    if (process->rank >= 0) {
        (void)snprintf(rank, sizeof(rank), " of rank %d", thread->account.rank);
    }
    wio_error_add(err, "in %s of %s of '%.200s' at second %.6f of the trace, by thread %d%s",
                  wio_op_name(event->op),
                  event->size == WIO_NO_SIZE ? "no bytes" : wio_format_size(size, event->size),
                  path, (double)event->t_ns / NS, stream->tid, rank);
}

enum wio_status sim_blame(const struct sim *sim, const struct sim_thread *thread,
                          enum wio_status status, struct wio_error *err)
{
    bool is_models = status == WIO_ERR_USAGE || status == WIO_ERR_NOMEM ||
                     status == WIO_ERR_UNSUPPORTED || status == WIO_ERR_INTERNAL;
    if (!is_models) {
        return status; /* of the trace, or of the caller: it is told already */
    }
    tell_budget(sim, &status, err);
    if (thread != NULL && thread->events.now != NULL) {
        tell_operation(thread, err);
    }
    return status;
}
