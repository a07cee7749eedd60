/* SPDX-License-Identifier: Apache-2.0 */
/* whyio check: reads everything and tells every fault. */
#include <stdio.h>

#include "base/cleanup.h"
#include "cmd.h"
#include "edges/check.h"
#include "handles.h"
#include "options.h"
#include "progress.h"
#include "report/check.h"
#include "seal/open.h"
#include "store/serve/check_root.h"

#include <whyio/trace.h>

enum { EXIT_NO = 1 };

static const struct argp_child children[] = {{&cmd_trace_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    NULL,
    NULL,
    "DIR",
    "Read a whole trace, or the directory of a store, and print one line per fault. Exit status 0: "
    "no fault; 1: faults; 3: it is neither or cannot be read.",
    children,
    NULL,
    NULL};

struct output {
    struct wio_check_report report;
    struct cmd_progress progress;
};

/* A fault takes the bar away first: both may be on one terminal. */
static void show_fault(void *arg, const struct wio_error *fault)
{
    struct output *output = arg;

    cmd_progress_end(&output->progress);
    wio_report_fault(&output->report, fault);
}

/* All has been read without a fault: the index tells. */
static void count_dropped(const char *dir, struct wio_check_report *report)
{
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *trace = NULL;
    struct wio_trace_info info;

    if (wio_trace_open_events(dir, &trace, NULL) == WIO_OK) {
        wio_trace_get_info(trace, &info);
        report->dropped = info.dropped;
        report->evicted = info.evicted;
    }
}

static enum wio_status check_trace(const char *dir, struct output *output, struct wio_error *err)
{
    enum wio_status status = wio_trace_check_progress(dir, show_fault, output, cmd_progress_update,
                                                      &output->progress, err);
    if (status == WIO_OK || status == WIO_END) {
        status = wio_join_check(dir, show_fault, output, err);
    }
    WIO_TRY(status == WIO_END ? WIO_OK : status);
    if (output->report.faults == 0) {
        count_dropped(dir, &output->report);
    }
    return WIO_OK;
}

static enum wio_status check_store(const char *dir, struct output *output, struct wio_error *err)
{
    struct wio_store_check found;
    return wio_serve_check(dir, show_fault, output, &found, err);
}

int cmd_check(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct cmd_trace_args args = {0};
    struct output output = {.report = {.out = stdout}};
    enum wio_status status;

    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    output.report.name = args.dir;
    output.report.is_json = args.common.format == CMD_FORMAT_JSON;
    cmd_progress_init(&output.progress, "checking", &args.common);
    status = wio_serve_is_root(args.dir) ? check_store(args.dir, &output, &err)
                                         : check_trace(args.dir, &output, &err);
    cmd_progress_end(&output.progress);
    if (status != WIO_OK) {
        return cmd_fail(&err);
    }
    wio_report_check_end(&output.report);
    return output.report.faults > 0 ? EXIT_NO : 0;
}
