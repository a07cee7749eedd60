/* SPDX-License-Identifier: Apache-2.0 */
/* whyio predict: what operations would cost on a machine that is described. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd.h"
#include "handles.h"
#include "options.h"
#include "predict/host.h"
#include "predict/predict.h"
#include "progress.h"
#include "render_predict.h"

enum {
    OPTION_OPS = CMD_OPTION_FIRST,
    OPTION_HOST,
    OPTION_MODEL,
    OPTION_PER_OP,
    OPTION_RANKS,
    OPTION_CPUS,
    OPTION_LIMIT_BG,
    OPTION_LIMIT_HARD,
    OPTION_SYNC,
    OPTION_DIRECT,
    OPTION_BF,
    OPTION_BS
};

#define HOSTS_MAX 1024

struct args {
    struct cmd_options common;
    const char *dir; /* one of the two */
    const char *ops;
    const char *out; /* -o */
    struct wio_predict_params params;
    struct wio_predict_host hosts[HOSTS_MAX]; /* of params; their texts are the arguments' */
    bool per_op;
};

static const struct argp_option options[] = {
    {"ops", OPTION_OPS, "FILE", 0, "The operations, one JSON object a line; - is standard input",
     0},
    {"host", OPTION_HOST, "[NAME=]HOST.json", 0,
     "The machine, as whyio calibrate describes it; with NAME= that of one host of the trace, else "
     "that of all others",
     0},
    {"model", OPTION_MODEL, "MODEL", 0,
     "kernel (what Linux does, default), cawl (the paper) or naive (size / bandwidth)", 0},
    {"per-op", OPTION_PER_OP, NULL, 0, "Print every operation too, before the summary", 0},
    {"output", 'o', "DIR", 0, "Write the prediction of a trace as a trace of its own", 0},
    {"scale-ranks", OPTION_RANKS, "N", 0,
     "What if the job of a trace had N ranks, a multiple of what it has", 0},
    {"cpus", OPTION_CPUS, "N", 0, "What if each host of a trace had N processors", 0},
    {"limit-bg", OPTION_LIMIT_BG, "SIZE", 0, "What if write-back began at SIZE of dirty data", 0},
    {"limit-hard", OPTION_LIMIT_HARD, "SIZE", 0, "What if the limit of dirty data were SIZE", 0},
    {"sync", OPTION_SYNC, "on|off", 0,
     "What if every write but those of stdio were synchronous, or none", 0},
    {"direct", OPTION_DIRECT, "on|off", 0,
     "What if every write but those of stdio were O_DIRECT, or none", 0},
    {"bf", OPTION_BF, "SIZE", 0, "What if stdio's buffers had SIZE", 0},
    {"bs", OPTION_BS, "SIZE", 0, "What if the file system's blocks had SIZE", 0},
    {0},
};

static void parse_size(const char *name, const char *text, double *out, struct argp_state *state)
{
    uint64_t bytes;
    if (wio_parse_size(text, &bytes) != WIO_OK) {
        argp_error(state, "--%s: '%s' is no size (4096, 4K, 1M, 2G)", name, text);
        return;
    }
    *out = (double)bytes;
}

/* NAME=FILE; a '=' behind a '/' belongs to the file. */
static void parse_host(struct args *args, char *text, struct argp_state *state)
{
    size_t length = strcspn(text, "=/");
    size_t count = args->params.named_host_count;
    if (text[length] != '=') {
        args->params.host = text;
        return;
    }
    if (length == 0 || text[length + 1] == '\0' || count == HOSTS_MAX) {
        argp_error(state, "--host: expected HOST.json or NAME=HOST.json, not '%s'", text);
        return;
    }
    text[length] = '\0';
    args->hosts[count] = (struct wio_predict_host){.name = text, .file = text + length + 1};
    args->params.named_hosts = args->hosts;
    args->params.named_host_count++;
}

static void parse_force(const char *name, const char *text, enum wio_predict_force *out,
                        struct argp_state *state)
{
    bool is_on = strcmp(text, "on") == 0;
    if (!is_on && strcmp(text, "off") != 0) {
        argp_error(state, "--%s: expected on or off, not '%s'", name, text);
    }
    *out = is_on ? WIO_PREDICT_ON : WIO_PREDICT_OFF;
}

static void parse_model(struct args *args, const char *text, struct argp_state *state)
{
    args->params.model = wio_model_find(text);
    if (args->params.model == WIO_MODEL_KIND_COUNT) {
        argp_error(state, "--model: expected kernel, cawl or naive, not '%s'", text);
    }
}

static void parse_ranks(struct args *args, const char *text, struct argp_state *state)
{
    uint64_t ranks;
    if (wio_parse_u64(text, &ranks) != WIO_OK || ranks == 0 || ranks > INT32_MAX) {
        argp_error(state, "--scale-ranks: '%s' is no number of ranks", text);
        return;
    }
    args->params.whatif.ranks = (uint32_t)ranks;
}

static void parse_cpus(struct args *args, const char *text, struct argp_state *state)
{
    uint64_t cpus;
    if (wio_parse_u64(text, &cpus) != WIO_OK || cpus == 0 || cpus > WIO_HOST_CPUS_MAX) {
        argp_error(state, "--cpus: '%s' is no number of processors", text);
        return;
    }
    args->params.whatif.cpus = (uint32_t)cpus;
}

static void check(const struct args *args, struct argp_state *state)
{
    bool is_scaled = args->params.whatif.ranks > 0;
    if ((args->ops == NULL) == (args->dir == NULL)) {
        argp_error(state, "either a trace directory or --ops=FILE is expected");
    }
    if (args->ops != NULL && (args->out != NULL || is_scaled)) {
        argp_error(state, "-o and --scale-ranks are for traces");
    }
    if (args->ops != NULL && args->params.whatif.cpus > 0) {
        argp_error(state, "--cpus is for traces");
    }
    if (args->out != NULL && is_scaled) {
        argp_error(state, "-o cannot write ranks that the trace does not have");
    }
    if (args->ops != NULL && args->params.named_host_count > 0) {
        argp_error(state, "a list has no hosts: --host=HOST.json is expected");
    }
    if (args->params.host == NULL && args->params.named_host_count == 0) {
        argp_error(state, "--host=HOST.json is expected");
    }
}

static error_t parse_whatif(int key, const char *arg, struct wio_predict_whatif *whatif,
                            struct argp_state *state)
{
    switch (key) {
    case OPTION_LIMIT_BG:
        parse_size("limit-bg", arg, &whatif->limit_bg, state);
        return 0;
    case OPTION_LIMIT_HARD:
        parse_size("limit-hard", arg, &whatif->limit_hard, state);
        return 0;
    case OPTION_SYNC:
        parse_force("sync", arg, &whatif->sync, state);
        return 0;
    case OPTION_DIRECT:
        parse_force("direct", arg, &whatif->direct, state);
        return 0;
    case OPTION_BF:
        parse_size("bf", arg, &whatif->bf, state);
        return 0;
    case OPTION_BS:
        parse_size("bs", arg, &whatif->bs, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *args = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        return 0;
    case OPTION_OPS:
        args->ops = arg;
        return 0;
    case OPTION_HOST:
        parse_host(args, arg, state);
        return 0;
    case OPTION_MODEL:
        parse_model(args, arg, state);
        return 0;
    case 'o':
        args->out = arg;
        return 0;
    case OPTION_CPUS:
        parse_cpus(args, arg, state);
        return 0;
    case OPTION_RANKS:
        parse_ranks(args, arg, state);
        return 0;
    case OPTION_PER_OP:
        args->per_op = true;
        return 0;
    case ARGP_KEY_ARG:
        if (args->dir != NULL) {
            argp_error(state, "one trace directory is expected: '%s'", arg);
        }
        args->dir = arg;
        return 0;
    case ARGP_KEY_END:
        check(args, state);
        return 0;
    default:
        return parse_whatif(key, arg, &args->params.whatif, state);
    }
}

static const struct argp_child children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "DIR --host=HOST.json\n--ops=FILE --host=HOST.json",
    "Compute what the I/O of a trace, or of a list of operations, would cost on a machine that is "
    "described but need not be there.",
    children,
    NULL,
    NULL};

/* Without knowing who waits for whom threads only keep their own computing. */
static enum wio_status find_edges(const struct args *args, struct wio_trace *trace,
                                  struct wio_error *err)
{
    struct wio_error reason = WIO_ERROR_INIT;
    enum wio_status status = cmd_trace_join(trace, &args->common, &reason);
    if (status == WIO_ERR_FORMAT) {
        if (!args->common.quiet) {
            cmd_say("waits are not kept: %s", reason.message);
        }
        return WIO_OK;
    }
    if (status != WIO_OK) {
        *err = reason;
    }
    return status;
}

static enum wio_status make_directory(const char *dir, struct wio_error *err)
{
    if (mkdir(dir, 0777) == 0) {
        return WIO_OK;
    }
    if (errno == EEXIST) {
        if (rmdir(dir) == 0 && mkdir(dir, 0777) == 0) {
            return WIO_OK; /* it was empty, as an interrupted prediction leaves it */
        }
        return wio_error_set(err, WIO_ERR_USAGE, dir, WIO_ERROR_NO_OFFSET,
                             "exists already: expected a new or empty directory for -o");
    }
    return wio_error_sys(err, dir, "cannot make the directory");
}

static enum wio_status write_trace(const struct args *args, const struct wio_trace *trace,
                                   const struct wio_predict_result *result, struct wio_error *err)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof(path), "%s/predicted.seg", args->out) >= sizeof(path)) {
        return wio_error_set(err, WIO_ERR_USAGE, args->out, WIO_ERROR_NO_OFFSET,
                             "the path is too long");
    }
    return wio_predict_write(trace, result, path, err);
}

static enum wio_status predict_trace(const struct args *args, struct wio_predict_result *result_out,
                                     struct wio_error *err)
{
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *trace = NULL;
    WIO_TRY(cmd_trace_open(args->dir, &args->common, &trace, err));
    WIO_TRY(find_edges(args, trace, err));
    if (args->out == NULL) {
        return wio_predict_trace(trace, &args->params, result_out, err);
    }
    WIO_TRY(make_directory(args->out, err));
    enum wio_status status = wio_predict_trace(trace, &args->params, result_out, err);
    if (status == WIO_OK) {
        status = write_trace(args, trace, result_out, err);
    }
    if (status != WIO_OK) {
        (void)rmdir(args->out); /* where nothing was written */
    }
    return status;
}

/* A misspelt key would else give another answer without a word. */
static void tell_misspelt(const struct args *args, const struct wio_predict_result *result)
{
    const struct wio_ops_misspelt *first = &result->misspelt;
    const struct wio_host_misspelt *host = &result->host_misspelt;
    char lines[WIO_TEXT_MAX];
    if (host->meant != NULL && !args->common.quiet) {
        cmd_say("'%s': key '%s' was skipped, did you mean '%s'?", host->file, host->key,
                host->meant);
    }
    if (first->lines > 0 && !args->common.quiet) {
        cmd_say("line %llu of the list: key '%s' was skipped, did you mean '%s'? (%s line%s)",
                (unsigned long long)first->line, first->key, first->meant,
                wio_format_count(lines, first->lines), first->lines == 1 ? "" : "s");
    }
}

int cmd_predict(int argc, char **argv)
{
    WIO_CLEANUP(wio_predict_result_fini) struct wio_predict_result result = {0};
    struct wio_error err = WIO_ERROR_INIT;
    struct args args = {.params = wio_predict_params_default()};
    struct cmd_progress progress;
    struct render_predict render;

    argp_parse(&argp, argc, argv, 0, NULL, &args);
    cmd_expect_many_files();
    render_predict_init(&render, stdout, args.common.format == CMD_FORMAT_JSON);
    cmd_progress_init(&progress, "predicting", &args.common);
    args.params.progress = cmd_progress_update;
    args.params.progress_arg = &progress;
    args.params.per_op = args.per_op ? render_predict_op : NULL;
    args.params.per_op_arg = &render;
    args.params.keep_events = args.out != NULL;
    enum wio_status status = args.ops != NULL
                                 ? wio_predict_ops(args.ops, &args.params, &result, &err)
                                 : predict_trace(&args, &result, &err);
    cmd_progress_end(&progress);
    if (status != WIO_OK) {
        return cmd_fail(&err);
    }
    render_predict_summary(&render, &result);
    tell_misspelt(&args, &result);
    return 0;
}
