/* SPDX-License-Identifier: Apache-2.0 */
/* whyio dump: the operations of a trace, one per line. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd.h"
#include "explain/select.h"
#include "handles.h"
#include "options.h"
#include "progress.h"
#include "report/dump/dump.h"

enum {
    OPTION_RANK = CMD_OPTION_FIRST,
    OPTION_PATH,
    OPTION_OP,
    OPTION_PID,
    OPTION_FROM,
    OPTION_TO,
    OPTION_MIN_TIME,
    OPTION_ERRORS,
    OPTION_SORT,
    OPTION_FIELDS,
    OPTION_ANNOTATE
};

#define MAX_PATHS 256u

struct dump_args {
    struct cmd_trace_args trace;
    struct wio_wanted wanted;
    const char *paths[MAX_PATHS]; /* patterns: they are looked up when the trace is open */
    size_t path_count;
    struct wio_dump_fields fields; /* count 0: not chosen */
    uint64_t from_ns;
    uint64_t to_ns;
    uint64_t least_ns;
    bool has_errors_only;
    bool is_by_duration;
    bool is_annotated;
};

static const struct argp_option options[] = {
    {"rank", OPTION_RANK, "LIST", 0, "Only these ranks: 0,4-7; none = processes without a rank", 0},
    {"path", OPTION_PATH, "PATTERN", 0,
     "Only operations on this path, what lies below it, or paths that match *, ? and [", 0},
    {"op", OPTION_OP, "LIST", 0, "Only these operations: read,pwrite", 0},
    {"pid", OPTION_PID, "LIST", 0, "Only these processes: 4711,4712", 0},
    {"from", OPTION_FROM, "TIME", 0, "Only operations that begin then or later: 2.5, 300ms", 0},
    {"to", OPTION_TO, "TIME", 0, "Only operations that begin before", 0},
    {"min-time", OPTION_MIN_TIME, "TIME", 0, "Only operations that lasted as long, or longer", 0},
    {"errors", OPTION_ERRORS, NULL, 0, "Only operations that failed", 0},
    {"sort", OPTION_SORT, "ORDER", 0, "By time (the default) or duration, the longest first", 0},
    {"fields", OPTION_FIELDS, "LIST", 0,
     "As JSON or CSV, these fields alone, in this order: t_ns,op,path", 0},
    {"annotate", OPTION_ANNOTATE, NULL, 0,
     "Thread by thread, with COMPUTE(seconds), WAIT(node) and SIGNAL(node) between operations", 0},
    {0},
};

static error_t parse_path(struct dump_args *args, char *arg, struct argp_state *state)
{
    if (args->path_count == MAX_PATHS) {
        argp_error(state, "at most %u patterns of paths", MAX_PATHS);
        return 0;
    }
    args->paths[args->path_count++] = arg;
    return 0;
}

/* Of an option that could not be understood. */
static error_t check_list(enum wio_status status, const struct wio_error *err,
                          struct argp_state *state)
{
    if (status != WIO_OK) {
        argp_error(state, "%s", err->message);
    }
    return 0;
}

static void parse_moment(const char *name, const char *arg, uint64_t *ns_out,
                         struct argp_state *state)
{
    if (wio_parse_time(arg, ns_out) != WIO_OK) {
        argp_error(state, "--%s: '%s' is no time: expected for example 2.5 (seconds) or 300ms",
                   name, arg);
    }
}

static void parse_order(struct dump_args *args, const char *arg, struct argp_state *state)
{
    args->is_by_duration = strcmp(arg, "duration") == 0;
    if (!args->is_by_duration && strcmp(arg, "time") != 0) {
        argp_error(state, "--sort: '%s' is no order: expected time or duration", arg);
    }
}

/* What does not go together. */
static void check(const struct dump_args *args, struct argp_state *state)
{
    enum cmd_format format = args->trace.common.format;

    if (args->is_annotated && args->is_by_duration) {
        argp_error(state, "--annotate is in the order of threads: it has no --sort");
    }
    if (args->is_annotated && (format == CMD_FORMAT_CSV || args->fields.count > 0)) {
        argp_error(state, "--annotate has text and all of JSON: it has no --fields and no CSV");
    }
    if (format == CMD_FORMAT_TEXT && args->fields.count > 0) {
        argp_error(state, "--fields chooses what JSON and CSV have; text is always the same");
    }
    if (args->to_ns != 0 && args->to_ns <= args->from_ns) {
        argp_error(state, "--to is not behind --from");
    }
}

/* Of the options that choose by time, outcome and order. */
static error_t parse_choice(int key, char *arg, struct argp_state *state)
{
    struct dump_args *args = state->input;
    struct wio_error err = WIO_ERROR_INIT;

    switch (key) {
    case OPTION_PID:
        return check_list(wio_select_pids(&args->wanted, arg, &err), &err, state);
    case OPTION_FROM:
        parse_moment("from", arg, &args->from_ns, state);
        return 0;
    case OPTION_TO:
        parse_moment("to", arg, &args->to_ns, state);
        return 0;
    case OPTION_MIN_TIME:
        parse_moment("min-time", arg, &args->least_ns, state);
        return 0;
    case OPTION_ERRORS:
        args->has_errors_only = true;
        return 0;
    case OPTION_SORT:
        parse_order(args, arg, state);
        return 0;
    case OPTION_FIELDS:
        return check_list(wio_dump_fields_parse(arg, &args->fields, &err), &err, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct dump_args *args = state->input;
    struct wio_error err = WIO_ERROR_INIT;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->trace;
        return 0;
    case OPTION_RANK:
        return check_list(wio_select_ranks(&args->wanted, arg, &err), &err, state);
    case OPTION_PATH:
        return parse_path(args, arg, state);
    case OPTION_OP:
        return check_list(wio_select_ops(&args->wanted, arg, &err), &err, state);
    case OPTION_ANNOTATE:
        args->is_annotated = true;
        return 0;
    case ARGP_KEY_END:
        check(args, state);
        return 0;
    default:
        return parse_choice(key, arg, state);
    }
}

static const struct argp_child children[] = {{&cmd_trace_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "DIR",
    "Print the operations of a trace in order of time: JSON lines with a summary last, with "
    "--format=text a table, or --format=csv. With --annotate the default is text.",
    children,
    NULL,
    NULL};

static enum wio_status select_paths(struct dump_args *args, const struct wio_trace *trace,
                                    struct wio_error *err)
{
    for (size_t i = 0; i < args->path_count; i++) {
        WIO_TRY(wio_select_paths(&args->wanted, trace, args->paths[i], err));
    }
    return WIO_OK;
}

/* Without edges (events were dropped, say) there are no waits to print, but all else. */
static void find_edges(struct wio_trace *trace, const struct cmd_options *common)
{
    struct wio_error err = WIO_ERROR_INIT;
    char text[2048];

    if (cmd_trace_join(trace, common, &err) != WIO_OK) {
        wio_error_format(&err, text, sizeof(text));
        cmd_say("no waits and signals: %s", text);
    }
}

static enum wio_status dump(struct dump_args *args, struct wio_error *err)
{
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *trace = NULL;
    struct cmd_progress progress;
    struct wio_dump_params params = {
        .struct_size = sizeof(params),
        .is_text = args->trace.common.format == CMD_FORMAT_TEXT ||
                   (args->is_annotated && args->trace.common.format == CMD_FORMAT_DEFAULT),
        .is_annotated = args->is_annotated,
        .is_csv = args->trace.common.format == CMD_FORMAT_CSV,
        .is_by_duration = args->is_by_duration,
        .has_errors_only = args->has_errors_only,
        .from_ns = args->from_ns,
        .to_ns = args->to_ns,
        .least_ns = args->least_ns,
        .progress = cmd_progress_update,
        .progress_arg = &progress,
    };
    enum wio_status status;

    WIO_TRY(cmd_trace_open(args->trace.dir, &args->trace.common, &trace, err));
    WIO_TRY(select_paths(args, trace, err));
    WIO_TRY(wio_select_processes(&args->wanted, trace, err));
    if (params.is_csv && args->fields.count == 0) {
        wio_dump_fields_of_csv(&args->fields);
    }
    params.fields = args->fields.count > 0 ? &args->fields : NULL;
    if (args->is_annotated) {
        find_edges(trace, &args->trace.common);
    } else {
        cmd_trace_tell_edges(trace, NULL);
    }
    wio_wanted_apply(&args->wanted, &params.filter);
    cmd_progress_init(&progress, "dumping", &args->trace.common);
    status = wio_report_dump(trace, &params, stdout, err);
    cmd_progress_end(&progress);
    return status;
}

int cmd_dump(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct dump_args args = {.trace = {.common = {.has_csv = true}}};
    enum wio_status status;

    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    status = dump(&args, &err);
    wio_wanted_fini(&args.wanted);
    return status == WIO_OK ? 0 : cmd_fail(&err);
}
