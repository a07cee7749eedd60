/* SPDX-License-Identifier: Apache-2.0 */
/* whyio info: what a trace holds, from its index. */
#include <stdio.h>

#include "base/cleanup.h"
#include "cmd.h"
#include "explain/summary.h"
#include "handles.h"
#include "options.h"
#include "report/info.h"

static const struct argp_child children[] = {{&cmd_trace_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    NULL,     NULL, "DIR", "Say what a trace holds: counts, bytes and time per operation.",
    children, NULL, NULL};

static void summary_cleanup(struct wio_summary **summary)
{
    wio_summary_destroy(*summary);
}

int cmd_info(int argc, char **argv)
{
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *trace = NULL;
    WIO_CLEANUP(summary_cleanup) struct wio_summary *summary = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct cmd_trace_args args = {0};

    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    if (cmd_trace_open(args.dir, &args.common, &trace, &err) != WIO_OK ||
        wio_summary_create(trace, &summary, &err) != WIO_OK) {
        return cmd_fail(&err);
    }
    cmd_trace_tell_edges(trace);
    if (args.common.format == CMD_FORMAT_JSON) {
        wio_report_info_json(summary, stdout);
    } else {
        wio_report_info_text(summary, args.dir, stdout);
    }
    return 0;
}
