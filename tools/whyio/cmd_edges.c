/* SPDX-License-Identifier: Apache-2.0 */
/* whyio edges: the happens-before edges of a trace. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd.h"
#include "edges/edges.h"
#include "handles.h"
#include "options.h"
#include "progress.h"
#include "report/edges.h"

enum { OPTION_REDUCED = CMD_OPTION_FIRST, OPTION_RAW, OPTION_TOP };

#define DEFAULT_WAITS 20u

struct edges_args {
    struct cmd_trace_args trace;
    uint64_t top;
    bool is_raw;
};

static const struct argp_option options[] = {
    {"reduced", OPTION_REDUCED, NULL, 0, "Without edges that others imply (the default)", 0},
    {"raw", OPTION_RAW, NULL, 0, "All edges that were observed; as text, too, one line each", 0},
    {"top", OPTION_TOP, "N", 0, "As text, show the N longest waits (default 20)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct edges_args *args = state->input;

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
    case OPTION_TOP:
        if (wio_parse_u64(arg, &args->top) != WIO_OK || args->top > UINT32_MAX / 2) {
            argp_error(state, "--top: '%s' is no number", arg);
        }
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
    "Print which operations wait for which in a trace: JSON lines with a summary last, or with "
    "--format=text counts and the longest waits: operation, path, line and how long. A trace that "
    "has no edges yet is read for them, and they are stored in it.",
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
        .top = (uint32_t)args->top,
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
    struct edges_args args = {.top = DEFAULT_WAITS};

    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    return print_edges(&args, &err) == WIO_OK ? 0 : cmd_fail(&err);
}
