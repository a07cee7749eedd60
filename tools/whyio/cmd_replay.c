/* SPDX-License-Identifier: Apache-2.0 */
/* whyio replay: do the I/O of a trace again, below another directory. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"
#include "cmd.h"
#include "explain/compare/compare.h"
#include "handles.h"
#include "launcher.h"
#include "options.h"
#include "progress.h"
#include "render_replay.h"
#include "replay/launcher/link.h"
#include "replay/replay.h"
#include "replay_run.h"
#include "report/compare/compare.h"

enum {
    OPTION_ROOT = CMD_OPTION_FIRST,
    OPTION_MODE,
    OPTION_SCALE,
    OPTION_CACHE,
    OPTION_DRY,
    OPTION_NO_ORDER,
    OPTION_COMPARE
};

/* Below the target: the replay's own trace, for the time of the comparison. */
#define OWN_TRACE ".whyio-replay.trace"
#define TOP_ROWS 10u

struct replay_args {
    struct cmd_trace_args trace;
    struct wio_replay_params params;
    bool has_scale;
    bool compare;
};

static const struct argp_option options[] = {
    {"root", OPTION_ROOT, "TARGET", 0,
     "Replay below this directory: recorded path P becomes TARGET/P. Nothing else is touched", 0},
    {"mode", OPTION_MODE, "MODE", 0,
     "causal (recorded waits), think (recorded think times, no waits), timed (recorded start "
     "times) or afap (as fast as possible). Default: causal, think where the trace has no edges",
     0},
    {"scale-compute", OPTION_SCALE, "X", 0, "Multiply think times by X (modes causal and think)",
     0},
    {"cache", OPTION_CACHE, "auto|drop|keep", 0,
     "Whether the prepared files are asked to leave the page cache or kept in it. Default: auto, "
     "kept where the run read the most of them as fast as from memory",
     0},
    {"no-order", OPTION_NO_ORDER, NULL, 0,
     "Modes think and afap: threads do not wait for each other where files need it (a name is made "
     "before it is opened, a length is read before it changes)",
     0},
    {"dry-run", OPTION_DRY, NULL, 0, "Say what would be done, touch nothing", 0},
    {"compare", OPTION_COMPARE, NULL, 0, "Lay the replay beside the trace, as whyio compare does",
     0},
    {0},
};

static enum wio_replay_mode parse_mode(const char *text, struct argp_state *state)
{
    for (int mode = WIO_REPLAY_CAUSAL; mode <= WIO_REPLAY_AFAP; mode++) {
        if (strcmp(text, wio_replay_mode_name((enum wio_replay_mode)mode)) == 0) {
            return (enum wio_replay_mode)mode;
        }
    }
    argp_error(state, "--mode: expected causal, think, timed or afap, not '%s'", text);
    return WIO_REPLAY_DEFAULT;
}

static void parse_scale(struct replay_args *args, const char *text, struct argp_state *state)
{
    double scale;
    if (wio_parse_double(text, &scale) != WIO_OK || !(scale >= 0 && scale <= 1e6)) {
        argp_error(state, "--scale-compute: '%s' is no factor", text);
        return;
    }
    /* the library's 0 means 1: a factor that makes every think time nothing */
    args->params.scale_compute = scale > 0 ? scale : 1e-30;
    args->has_scale = true;
}

static void parse_cache(struct replay_args *args, const char *text, struct argp_state *state)
{
    for (int cache = WIO_REPLAY_CACHE_AUTO; cache <= WIO_REPLAY_CACHE_KEEP; cache++) {
        if (strcmp(text, wio_replay_cache_name((enum wio_replay_cache)cache)) == 0) {
            args->params.cache = (enum wio_replay_cache)cache;
            return;
        }
    }
    argp_error(state, "--cache: expected auto, drop or keep, not '%s'", text);
}

static void check(const struct replay_args *args, struct argp_state *state)
{
    enum wio_replay_mode mode = args->params.mode;
    if (args->params.root == NULL || args->params.root[0] == '\0') {
        argp_error(state, "--root=TARGET is expected");
    }
    if (args->has_scale && (mode == WIO_REPLAY_TIMED || mode == WIO_REPLAY_AFAP)) {
        argp_error(state, "--scale-compute has no meaning in mode %s", wio_replay_mode_name(mode));
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct replay_args *args = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->trace;
        return 0;
    case OPTION_ROOT:
        args->params.root = arg;
        return 0;
    case OPTION_MODE:
        args->params.mode = parse_mode(arg, state);
        return 0;
    case OPTION_SCALE:
        parse_scale(args, arg, state);
        return 0;
    case OPTION_CACHE:
        parse_cache(args, arg, state);
        return 0;
    case OPTION_NO_ORDER:
        args->params.no_order = true;
        return 0;
    case OPTION_DRY:
        args->params.dry_run = true;
        return 0;
    case OPTION_COMPARE:
        args->compare = true;
        return 0;
    case ARGP_KEY_END:
        check(args, state);
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
    "Do the I/O of a trace again below another directory, without the program and its data: the "
    "same operations by as many processes and threads. Results are compared with the trace; exit "
    "status 1 if any differs.",
    children,
    NULL,
    NULL};

static void result_cleanup(struct wio_replay_result **result)
{
    wio_replay_result_destroy(*result);
}

static enum wio_status lay_beside(const struct replay_args *args, const struct wio_trace *trace,
                                  const char *own_dir, struct wio_error *err)
{
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *own = NULL;
    WIO_CLEANUP(cmd_comparison_cleanup) struct wio_comparison *comparison = NULL;
    const struct wio_compare_params params = {.struct_size = sizeof(params)};
    const struct wio_compare_names names = {args->trace.dir, "replay", NULL, NULL, TOP_ROWS};

    WIO_TRY(cmd_trace_open(own_dir, &args->trace.common, &own, err));
    WIO_TRY(wio_compare(trace, own, &params, &comparison, err));
    if (args->trace.common.format == CMD_FORMAT_JSON) {
        wio_report_compare_json(comparison, &names, stdout);
    } else {
        (void)fputc('\n', stdout);
        wio_report_compare_text(comparison, &names, stdout);
    }
    return WIO_OK;
}

static enum wio_status compare(const struct replay_args *args, const struct wio_trace *trace,
                               const struct wio_replay_result *result, struct wio_error *err)
{
    char dir[PATH_MAX];
    (void)snprintf(dir, sizeof(dir), "%s/" OWN_TRACE, args->params.root);
    WIO_TRY(wio_io_remove_tree(dir, err)); /* of a comparison that was cut short */
    if (mkdir(dir, 0777) != 0) {
        return wio_error_sys(err, dir, "cannot make a directory for the trace of the replay");
    }
    enum wio_status status = wio_replay_write_trace(trace, result, dir, err);
    if (status == WIO_OK) {
        status = lay_beside(args, trace, dir, err);
    }
    enum wio_status removed = wio_io_remove_tree(dir, status == WIO_OK ? err : NULL);
    return status == WIO_OK ? removed : status;
}

/* Files of the replay beside its segments would be taken for a part of the trace. */
static enum wio_status check_target(const struct replay_args *args, struct wio_error *err)
{
    struct stat trace;
    struct stat target;
    if (stat(args->trace.dir, &trace) != 0 || stat(args->params.root, &target) != 0 ||
        trace.st_dev != target.st_dev || trace.st_ino != target.st_ino) {
        return WIO_OK;
    }
    return wio_error_set(err, WIO_ERR_USAGE, args->params.root, WIO_ERROR_NO_OFFSET,
                         "the target is the trace itself: choose another directory");
}

static enum wio_status replay(struct replay_args *args, const struct wio_trace *trace,
                              struct wio_replay_result **result_out, struct wio_error *err)
{
    struct cmd_progress progress;
    cmd_progress_init(&progress, "replaying", &args->trace.common);
    args->params.struct_size = sizeof(args->params);
    args->params.keep_events = args->compare && !args->params.dry_run;
    args->params.progress = cmd_progress_update;
    args->params.progress_arg = &progress;
    enum wio_status status = wio_replay(trace, &args->params, result_out, err);
    cmd_progress_end(&progress);
    return status;
}

/* End as the signal would have ended a program that does nothing about it. */
static void die_of(int number)
{
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* Infer the edges if the mode needs them and the trace has none stored. By default a trace from
 * which they cannot be inferred is replayed without waits. */
static enum wio_status find_edges(const struct replay_args *args, struct wio_trace *trace,
                                  struct wio_error *err)
{
    struct wio_error reason = WIO_ERROR_INIT;
    enum wio_replay_mode mode = args->params.mode;
    if (mode != WIO_REPLAY_CAUSAL && mode != WIO_REPLAY_DEFAULT) {
        return WIO_OK;
    }
    enum wio_status status = cmd_trace_join(trace, &args->trace.common, &reason);
    if (status == WIO_OK) {
        return WIO_OK;
    }
    /* A damaged file has a place; what is told without one contradicts itself. */
    bool is_damaged = reason.offset != WIO_ERROR_NO_OFFSET;
    if (status == WIO_ERR_FORMAT && !is_damaged && mode == WIO_REPLAY_DEFAULT) {
        if (!args->trace.common.quiet) {
            cmd_say("mode think, waits are not kept: %s", reason.message);
        }
        return WIO_OK;
    }
    *err = reason;
    return status;
}

static enum wio_status open_trace(const struct replay_args *args, struct wio_trace **trace_out,
                                  struct wio_error *err)
{
    WIO_TRY(check_target(args, err));
    WIO_TRY(cmd_trace_open(args->trace.dir, &args->trace.common, trace_out, err));
    return find_edges(args, *trace_out, err);
}

/* Rank 0 first: it may have to seal the trace or to find its edges. */
static enum wio_status open_together(const struct replay_args *args, struct wio_trace **trace_out,
                                     struct wio_error *err)
{
    struct wio_replay_link *link = args->params.link;
    if (link == NULL) {
        return open_trace(args, trace_out, err);
    }
    enum wio_status status = link->rank == 0 ? open_trace(args, trace_out, err) : WIO_OK;
    WIO_TRY(wio_replay_agree(link, status, err));
    if (link->rank != 0) {
        status = open_trace(args, trace_out, err);
    }
    return wio_replay_agree(link, status, err);
}

/* Rank 0 speaks for all, unless they cannot be brought together any more. */
static int fail(const struct wio_replay_link *link, const struct wio_error *err)
{
    bool is_silent = link != NULL && link->rank != 0 && !link->is_lost;
    return is_silent ? wio_status_exit(err->status) : cmd_fail(err);
}

int replay_run(int argc, char **argv, struct wio_replay_link *link)
{
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *trace = NULL;
    WIO_CLEANUP(result_cleanup) struct wio_replay_result *result = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct replay_args args = {0};

    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    args.params.link = link;
    args.trace.common.quiet |= link != NULL && link->rank != 0;
    if (open_together(&args, &trace, &err) != WIO_OK) {
        return fail(link, &err);
    }
    if (replay(&args, trace, &result, &err) != WIO_OK) {
        int status = fail(link, &err);
        if (result != NULL && link == NULL) {
            die_of(result->signal);
        }
        return status;
    }
    if (link != NULL && link->rank != 0) {
        return 0;
    }
    if (args.trace.common.format == CMD_FORMAT_JSON) {
        render_replay_json(trace, result, stdout);
    } else {
        render_replay_text(trace, result, stdout);
    }
    if (result->events != NULL && compare(&args, trace, result, &err) != WIO_OK) {
        return cmd_fail(&err);
    }
    return result->total.mismatches > result->race_count ? 1 : 0;
}

/* Under a launcher: one rank of many. Options are checked before; only rank 0 speaks of them. */
static int become_rank(const struct launcher *launcher, int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct replay_args args = {0};
    unsigned flags = launcher->rank == 0 ? 0 : ARGP_NO_ERRS;
    int wrong = cmd_parse(&argp, argc, argv, flags, &args);
    if (wrong != 0) {
        return wrong;
    }
    enum wio_status status = launcher_exec(launcher, argv, &err);
    return launcher->rank == 0 ? cmd_fail(&err) : wio_status_exit(status);
}

int cmd_replay(int argc, char **argv)
{
    struct launcher launcher;
    if (launcher_find(&launcher)) {
        return become_rank(&launcher, argc, argv);
    }
    return replay_run(argc, argv, NULL);
}
