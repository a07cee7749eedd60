/* SPDX-License-Identifier: Apache-2.0 */
/* whyio jobstats: what each job did to files. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/env.h"
#include "base/text.h"
#include "cmd.h"
#include "explain/job_accounts.h"
#include "handles.h"
#include "jobstats_store.h"
#include "options.h"
#include "progress.h"
#include "report/jobstats.h"

enum { OPTION_FORMAT = CMD_OPTION_FIRST, OPTION_TOP, OPTION_ALL, OPTION_CLEAR, OPTION_PURGE };

#define MAX_DIRS 4096u

struct jobstats_args {
    struct cmd_options common;
    enum wio_report_jobstats_format format;
    uint64_t top;
    bool is_all;
    bool is_store;
    struct jobstats_store store;
    const char *dirs[MAX_DIRS];
    size_t count;
};

/* Its own --format: there are more than of other commands, and YAML comes first. */
static const struct argp_option options[] = {
    {"format", OPTION_FORMAT, "FORMAT", 0,
     "Print yaml (default, the layout of Lustre's job_stats), json, text or prometheus", 0},
    {"top", OPTION_TOP, "N", 0, "Only the N jobs that moved the most bytes, 0 = all (default)", 0},
    {"all-operations", OPTION_ALL, NULL, 0,
     "YAML: list operations without a sample, too, as Lustre does", 0},
    {"clear", OPTION_CLEAR, "JOB", OPTION_ARG_OPTIONAL,
     "Of a running store: drop the statistics of this job, or of all", 0},
    {"purge", OPTION_PURGE, "TIME", 0,
     "Of a running store: drop those of jobs that did nothing for so long", 0},
    {"quiet", 'q', NULL, 0, "No progress bar and no remarks on stderr", 0},
    {0},
};

static error_t parse_format(struct jobstats_args *args, const char *text, struct argp_state *state)
{
    static const struct {
        const char *name;
        enum wio_report_jobstats_format format;
    } formats[] = {{"yaml", WIO_JOBSTATS_YAML},
                   {"json", WIO_JOBSTATS_JSON},
                   {"text", WIO_JOBSTATS_TEXT},
                   {"prometheus", WIO_JOBSTATS_PROMETHEUS}};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(formats); i++) {
        if (strcmp(text, formats[i].name) == 0) {
            args->format = formats[i].format;
            return 0;
        }
    }
    argp_error(state, "'%s' is no format: expected yaml, json, text or prometheus", text);
    return 0;
}

static error_t parse_dir(struct jobstats_args *args, const char *text, struct argp_state *state)
{
    if (args->count == MAX_DIRS) {
        argp_error(state, "at most %u traces", MAX_DIRS);
        return 0;
    }
    args->dirs[args->count++] = text;
    return 0;
}

/* What is to be an address of a store, and is no directory. */
static bool is_address(const char *text)
{
    struct stat status;
    return (text[0] == '@' || strchr(text, ':') != NULL) && stat(text, &status) != 0;
}

/* Whether `args` name a store, as an argument, by --server, or, with neither, by WHYIO_SERVER. */
static bool find_store(struct jobstats_args *args)
{
    if (args->count == 1 && is_address(args->dirs[0]) && args->store.connect.server == NULL) {
        args->store.connect.server = args->dirs[0];
        args->count = 0;
        return true;
    }
    return args->store.connect.server != NULL ||
           (args->count == 0 && wio_env_get(WIO_ENV_STORE_SERVER) != NULL);
}

/* One store, or traces. */
static error_t check(struct jobstats_args *args, struct argp_state *state)
{
    args->is_store = find_store(args);
    if (args->is_store && args->count > 0) {
        argp_error(state, "one store or traces are expected, found both");
    } else if (!args->is_store && args->count == 0) {
        argp_error(state, "a trace directory or the address of a store is expected");
    } else if (!args->is_store && args->store.action != JOBSTATS_SHOW) {
        argp_error(state, "--clear and --purge are for a running store");
    }
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct jobstats_args *args = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->store.connect;
        return 0;
    case OPTION_CLEAR:
        args->store.action = arg != NULL ? JOBSTATS_CLEAR_JOB : JOBSTATS_CLEAR_ALL;
        args->store.job = arg;
        return 0;
    case OPTION_PURGE:
        args->store.action = JOBSTATS_PURGE;
        if (wio_parse_time(arg, &args->store.age_ns) != WIO_OK) {
            argp_error(state, "--purge: '%s' is no time: expected a number with ms, s or m", arg);
        }
        return 0;
    case OPTION_FORMAT:
        return parse_format(args, arg, state);
    case OPTION_TOP:
        if (wio_parse_u64(arg, &args->top) != WIO_OK) {
            argp_error(state, "--top: '%s' is no number", arg);
        }
        return 0;
    case OPTION_ALL:
        args->is_all = true;
        return 0;
    case 'q':
        args->common.quiet = true;
        args->store.connect.is_quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        return parse_dir(args, arg, state);
    case ARGP_KEY_END:
        return check(args, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cmd_connect_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options,
                                 parse,
                                 "[ADDR|DIR...]",
                                 "Print what each job did to files: samples, least, greatest, sum "
                                 "and histogram per operation. Of "
                                 "a running store since its servers began, or of recorded traces.",
                                 children,
                                 NULL,
                                 NULL};

static void accounts_cleanup(struct wio_job_accounts **accounts)
{
    wio_job_accounts_destroy(*accounts);
}

static enum wio_status add_trace(struct wio_job_accounts *accounts, const char *dir,
                                 const struct cmd_options *common, struct wio_error *err)
{
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *trace = NULL;
    struct cmd_progress progress;
    enum wio_status status;

    WIO_TRY(cmd_trace_open(dir, common, &trace, err));
    cmd_progress_init(&progress, "counting", common);
    status = wio_job_accounts_add(accounts, trace, cmd_progress_update, &progress, err);
    cmd_progress_end(&progress);
    return status;
}

static enum wio_status gather(struct jobstats_args *args, struct wio_job_accounts *accounts,
                              struct wio_error *err)
{
    if (args->is_store) {
        return jobstats_store_run(&args->store, accounts, err);
    }
    for (size_t i = 0; i < args->count; i++) {
        WIO_TRY(add_trace(accounts, args->dirs[i], &args->common, err));
    }
    return WIO_OK;
}

static enum wio_status run(struct jobstats_args *args, struct wio_error *err)
{
    WIO_CLEANUP(accounts_cleanup) struct wio_job_accounts *accounts = NULL;

    WIO_TRY(wio_job_accounts_create(&accounts, err));
    WIO_TRY(gather(args, accounts, err));
    return args->store.action == JOBSTATS_SHOW
               ? wio_report_jobstats(accounts, args->format, (size_t)args->top, args->is_all,
                                     stdout, err)
               : WIO_OK;
}

int cmd_jobstats(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct jobstats_args args = {.format = WIO_JOBSTATS_YAML};

    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    return run(&args, &err) == WIO_OK ? 0 : cmd_fail(&err);
}
