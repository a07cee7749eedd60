/* SPDX-License-Identifier: Apache-2.0 */
#include "handles.h"

#include "edges/edges.h"
#include "progress.h"
#include "trace/read/recorders.h"

enum wio_status cmd_trace_open(const char *dir, const struct cmd_options *options,
                               struct wio_trace **trace_out, struct wio_error *err)
{
    struct cmd_progress progress;
    cmd_progress_init(&progress, "sealing", options);
    enum wio_status status =
        wio_trace_open_progress(dir, cmd_progress_update, &progress, trace_out, err);
    cmd_progress_end(&progress);
    return status;
}

void cmd_trace_tell_edges(const struct wio_trace *trace, const struct wio_error *reason)
{
    struct wio_error fault = WIO_ERROR_INIT;
    char text[sizeof(fault.message) + sizeof(fault.file) + 64];
    if (wio_trace_edges_fault(trace, &fault) == WIO_OK && reason != NULL) {
        fault = *reason;
    }
    if (fault.status != WIO_OK) {
        wio_error_format(&fault, text, sizeof(text));
        cmd_say("edges are not shown: %s", text);
    }
}

static bool has_observed(const struct wio_trace *trace)
{
    struct wio_recorder_info recorder;
    for (uint32_t i = 0; i < wio_trace_recorder_count(trace); i++) {
        if (wio_trace_recorder(trace, i, &recorder) == WIO_OK &&
            wio_recorder_has_option(&recorder, "causal")) {
            return true;
        }
    }
    return false;
}

enum wio_status cmd_trace_join(struct wio_trace *trace, const struct cmd_options *options,
                               struct wio_error *err)
{
    struct cmd_progress progress;
    const struct wio_join_params params = {
        .struct_size = sizeof(params),
        .progress = cmd_progress_update,
        .progress_arg = &progress,
    };

    cmd_progress_init(&progress, "finding edges", options);
    enum wio_status status = wio_join(trace, &params, err);
    cmd_progress_end(&progress);
    return status;
}

void cmd_trace_join_observed(struct wio_trace *trace, const struct cmd_options *options,
                             struct wio_error *reason_out)
{
    struct wio_trace_info info;
    wio_trace_get_info(trace, &info);
    *reason_out = (struct wio_error)WIO_ERROR_INIT;
    if (!info.live && info.dropped == 0 && has_observed(trace)) {
        reason_out->status = cmd_trace_join(trace, options, reason_out);
    }
}
