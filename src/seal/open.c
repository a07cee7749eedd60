/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and checking a trace: its rings are sealed first, then its segments are read. */
#include "seal/open.h"

#include "base/cleanup.h"
#include "seal/seal_on_open.h"
#include "trace/read/opening.h"

static const struct wio_opening quiet = {.pending = wio_pending_seal};

static void close_cleanup(struct wio_trace **trace)
{
    wio_trace_close(*trace);
}

enum wio_status wio_trace_open(const char *path, struct wio_trace **trace_out,
                               struct wio_error *err)
{
    WIO_CLEANUP(close_cleanup) struct wio_trace *trace = NULL;
    WIO_TRY(wio_trace_load(path, &quiet, &trace, err));
    WIO_TRY(wio_trace_edges_fault(trace, err));
    *trace_out = trace;
    trace = NULL;
    return WIO_OK;
}

enum wio_status wio_trace_open_events(const char *path, struct wio_trace **trace_out,
                                      struct wio_error *err)
{
    return wio_trace_load_events(path, &quiet, trace_out, err);
}

enum wio_status wio_trace_open_progress(const char *path, wio_progress_fn *progress,
                                        void *progress_arg, struct wio_trace **trace_out,
                                        struct wio_error *err)
{
    const struct wio_opening opening = {
        .pending = wio_pending_seal, .progress = progress, .progress_arg = progress_arg};
    return wio_trace_load(path, &opening, trace_out, err);
}

enum wio_status wio_trace_check(const char *path, wio_fault_fn *fault, void *arg,
                                struct wio_error *err)
{
    return wio_trace_verify(path, &quiet, fault, arg, err);
}

enum wio_status wio_trace_check_progress(const char *path, wio_fault_fn *fault, void *arg,
                                         wio_progress_fn *progress, void *progress_arg,
                                         struct wio_error *err)
{
    const struct wio_opening opening = {
        .pending = wio_pending_seal, .progress = progress, .progress_arg = progress_arg};
    return wio_trace_verify(path, &opening, fault, arg, err);
}
