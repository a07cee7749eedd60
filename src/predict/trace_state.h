/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state (state/state.h) of the processes, descriptors and names of a trace: what `state`, which
 * is pure, is told of a trace before its first event.
 */
#ifndef WIO_PREDICT_TRACE_STATE_H
#define WIO_PREDICT_TRACE_STATE_H

#include <whyio/status.h>
#include <whyio/trace.h>

#include "state/state.h"

/* Zero-initialise; release with wio_trace_state_fini. */
struct wio_trace_state {
    const struct wio_trace *trace;
    struct wio_state *state; /* to be fed with all events in order of begin */
    struct wio_state_process *processes;
    struct wio_state_stream *streams;
};

/* `trace` must outlive it. All hosts see the same files. Symbolic links are taken to have led from
 * the first where they led when the trace was sealed. Fails with WIO_ERR_NOMEM, and has to be
 * released then, too. */
WIO_MUST_CHECK enum wio_status wio_trace_state_init(struct wio_trace_state *state,
                                                    const struct wio_trace *trace);
void wio_trace_state_fini(struct wio_trace_state *state);

#endif
