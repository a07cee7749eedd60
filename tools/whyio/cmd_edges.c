/* SPDX-License-Identifier: Apache-2.0 */
/* whyio edges: the happens-before edges of a trace. */
#include <stdio.h>

#include "base/cleanup.h"
#include "cmd.h"
#include "edges/edges.h"
#include "handles.h"
#include "options.h"
#include "progress.h"
#include "report/edges.h"

enum { OPTION_REDUCED = CMD_OPTION_FIRST, OPTION_RAW };

struct edges_args {
    struct cmd_trace_args trace;
    bool is_raw;
};

static const struct argp_option options[] = {
    {"reduced", OPTION_REDUCED, NULL, 0, "Without edges that others imply (the default)", 0},
    {"raw", OPTION_RAW, NULL, 0, "All edges that were observed", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct edges_args *args = state->input;

    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->trace;
        return 0;
    case OPTION_REDUCED:
        args->is_raw = false;
        return 0;
    case OPTION_RAW:
        args->is_raw = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cmd_trace_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "DIR",
    "Print which operation waits for which in a trace: JSON lines with a summary last, or with "
    "--format=text "
    "counts and a line for each edge. A trace that has none yet is read for them, and they are "
    "stored in it.",
    children,
    NULL,
    NULL};

static enum wio_status print_edges(const struct edges_args *args, struct wio_error *err)
{
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *trace = NULL;
    struct cmd_progress progress;
    const struct wio_edges_report report = {
        .struct_size = sizeof(report),
        .name = args->trace.dir,
        .is_text = args->trace.common.format == CMD_FORMAT_TEXT,
        .is_raw = args->is_raw,
        .progress = cmd_progress_update,
        .progress_arg = &progress,
    };
    enum wio_status status;

    WIO_TRY(cmd_trace_open(args->trace.dir, &args->trace.common, &trace, err));
    WIO_TRY(cmd_trace_join(trace, &args->trace.common, err));
    cmd_progress_init(&progress, "printing", &args->trace.common);
    status = wio_report_edges(trace, &report, stdout, err);
    cmd_progress_end(&progress);
    return status;
}

int cmd_edges(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct edges_args args = {0};

    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    return print_edges(&args, &err) == WIO_OK ? 0 : cmd_fail(&err);
}
