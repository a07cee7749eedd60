/* SPDX-License-Identifier: Apache-2.0 */
/* whyio record: run a command and record its I/O. */
#include <stdio.h>
#include <string.h>

#include <whyio/trace.h>

#include "base/cleanup.h"
#include "base/env.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd.h"
#include "options.h"
#include "progress.h"
#include "record/record.h"
#include "trace/ring.h"

enum {
    OPTION_FORCE = CMD_OPTION_FIRST,
    OPTION_CAUSAL,
    OPTION_STACKS,
    OPTION_MPI_INTERNALS,
    OPTION_MMAP_PAGES,
    OPTION_ANONYMIZE
};

struct args {
    struct cmd_options common;
    struct wio_record_params params;
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "Trace directory (default: ./<program>-<pid>.whyio)", 0},
    {"force", OPTION_FORCE, NULL, 0, "Replace an old trace in DIR", 0},
    {"causal", OPTION_CAUSAL, "HOW", 0,
     "How to find out who waits for whom: off (observe and throttle are not available yet)", 0},
    {"stacks", OPTION_STACKS, NULL, 0, "Record the whole call stack of each operation", 0},
    {"mpi-internals", OPTION_MPI_INTERNALS, NULL, 0,
     "Record also what the MPI library does by itself", 0},
    {"mmap-pages", OPTION_MMAP_PAGES, NULL, 0,
     "Record also which pages of mapped files are written (Linux 6.7)", 0},
    {"anonymize", OPTION_ANONYMIZE, NULL, 0,
     "Replace names in paths by hashes, leave out arguments and environment", 0},
    {0},
};

static void parse_causal(const char *arg, struct argp_state *state)
{
    if (strcmp(arg, "observe") == 0 || strcmp(arg, "throttle") == 0) {
        argp_error(state, "--causal=%s is not available yet, use --causal=off", arg);
    } else if (strcmp(arg, "off") != 0) {
        argp_error(state, "'%s' is no way to find causes: expected observe, throttle or off", arg);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *args = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        return 0;
    case 'o':
        if (arg[0] == '\0') {
            argp_error(state, "-o: a name for the trace directory is expected");
        }
        args->params.dir = arg;
        return 0;
    case OPTION_FORCE:
        args->params.force = true;
        return 0;
    case OPTION_CAUSAL:
        parse_causal(arg, state);
        return 0;
    case OPTION_STACKS:
        args->params.stacks = true;
        return 0;
    case OPTION_MPI_INTERNALS:
        args->params.mpi_internals = true;
        return 0;
    case OPTION_MMAP_PAGES:
        args->params.mmap_pages = true;
        return 0;
    case OPTION_ANONYMIZE:
        args->params.anonymize = true;
        return 0;
    case ARGP_KEY_ARG: /* the first word that is no option, and all behind it, is the command */
        args->params.command = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a command to record is expected");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "-- COMMAND [ARGUMENT...]",
    "Run COMMAND and record the I/O of all its processes and threads."
    "\vThe exit status is that of COMMAND (128 + signal if one ended it). Nothing is written to "
    "the standard output. Works in front of anything: a program, a script, mpirun; or behind "
    "mpirun, where all ranks may name the same DIR.",
    children,
    NULL,
    NULL};

static void tell_lingering(void *arg, const struct wio_lingering *who)
{
    const struct cmd_options *common = arg;
    if (!common->quiet) {
        cmd_say("the command has ended, but %zu of its processes run on (%s, pid %d): waiting for "
                "them; interrupt (Ctrl-C) to end the recording now",
                who->count, who->name[0] != '\0' ? who->name : "?", who->pid);
    }
}

static void close_json(const struct wio_record_result *result)
{
    struct wio_json json;
    wio_json_init(&json, stderr);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.record/1");
    wio_json_string(&json, "dir", result->dir);
    wio_json_i64(&json, "exit_status", result->exit_status);
    wio_json_bool(&json, "sealed", result->seal_error.status == WIO_OK);
    wio_json_bool(&json, "cut", result->is_cut);
    wio_json_u64(&json, "images", result->totals.rings);
    wio_json_u64(&json, "events", result->totals.events);
    wio_json_u64(&json, "dropped", result->totals.dropped);
    wio_json_u64(&json, "bytes", result->totals.bytes);
    wio_json_object_begin(&json, "unseen");
    for (unsigned i = 0; i < WIO_UNSEEN_COUNT; i++) {
        wio_json_u64(&json, wio_unseen_key(i), result->totals.unseen[i]);
    }
    wio_json_object_end(&json);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

static void close_text(const struct wio_record_result *result)
{
    char events[WIO_TEXT_MAX];
    char dropped[WIO_TEXT_MAX];
    char size[WIO_TEXT_MAX];
    const struct wio_seal_totals *totals = &result->totals;
    cmd_say("%s: %s event%s of %llu program image%s, %s dropped, %s%s", result->dir,
            wio_format_count(events, totals->events), totals->events == 1 ? "" : "s",
            (unsigned long long)totals->rings, totals->rings == 1 ? "" : "s",
            wio_format_count(dropped, totals->dropped), wio_format_size(size, totals->bytes),
            result->is_cut ? ", cut short while processes were running" : "");
    for (unsigned i = 0; i < WIO_UNSEEN_COUNT; i++) {
        if (totals->unseen[i] > 0) {
            cmd_say("not seen (%llu): %s", (unsigned long long)totals->unseen[i],
                    wio_unseen_text(i));
        }
    }
    if (totals->rings == 0) {
        cmd_say("nothing was recorded: no process loaded the capture library (a launcher alone "
                "records nothing of itself)");
    }
}

/* A trace that could not be sealed is told also with -q. */
static void tell_unsealed(const struct wio_record_result *result)
{
    char text[2048];
    wio_error_format(&result->seal_error, text, sizeof(text));
    cmd_say("cannot seal the trace: %s", text);
    cmd_say("what was recorded is in '%s/raw'; 'whyio info' and the others read it from there",
            result->dir);
}

int cmd_record(int argc, char **argv)
{
    struct args args = {.params = {.struct_size = sizeof(args.params)}};
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &args);
    struct cmd_progress progress;
    cmd_progress_init(&progress, "sealing", &args.common);
    args.params.capture_lib = wio_env_get(WIO_ENV_CAPTURE_LIB);
    args.params.ring_dir = wio_env_get(WIO_ENV_RING_DIR);
    args.params.progress = cmd_progress_update;
    args.params.progress_arg = &progress;
    args.params.lingering = tell_lingering;
    args.params.lingering_arg = &args.common;
    struct wio_record_result result;
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = wio_record(&args.params, &result, &err);
    cmd_progress_end(&progress);
    if (status != WIO_OK) {
        return cmd_fail(&err);
    }
    if (result.seal_error.status != WIO_OK) {
        tell_unsealed(&result);
    }
    if (args.common.format == CMD_FORMAT_JSON) {
        close_json(&result);
    } else if (!args.common.quiet && result.seal_error.status == WIO_OK) {
        close_text(&result);
    }
    return result.exit_status;
}
