/* SPDX-License-Identifier: Apache-2.0 */
/* whyio calibrate: measure the machine below a directory. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "calibrate/calibrate.h"
#include "cmd.h"
#include "options.h"
#include "progress.h"
#include "render_calibrate.h"

enum { OPTION_MAX_BYTES = CMD_OPTION_FIRST, OPTION_BUDGET, OPTION_KEEP_LIMITS };

struct calibrate_args {
    struct cmd_options common;
    const char *output;
    struct wio_calibrate_params params;
};

static const struct argp_option options[] = {
    {"output", 'o', "HOST.json", 0, "Where the description of the machine goes", 0},
    {"max-bytes", OPTION_MAX_BYTES, "SIZE", 0,
     "Write no more than SIZE in all (default 4G, and never more than a tenth of the free space)",
     0},
    {"budget", OPTION_BUDGET, "TIME", 0, "Take about so long at most (default 60s)", 0},
    {"keep-limits", OPTION_KEEP_LIMITS, NULL, 0,
     "As root, too, do not lower the limit of dirty data for a moment", 0},
    {0},
};

static void parse_budget(struct calibrate_args *args, const char *text, struct argp_state *state)
{
    uint64_t ns;
    if (wio_parse_time(text, &ns) != WIO_OK || ns == 0) {
        argp_error(state, "--budget: '%s' is no time (30s, 2m)", text);
        return;
    }
    args->params.budget_s = (double)ns * 1e-9;
}

static void check(const struct calibrate_args *args, struct argp_state *state)
{
    if (args->params.dir == NULL) {
        argp_error(state, "a directory is expected");
    }
    if (args->output == NULL) {
        argp_error(state, "-o HOST.json is expected");
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct calibrate_args *args = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        return 0;
    case 'o':
        args->output = arg;
        return 0;
    case OPTION_MAX_BYTES:
        if (wio_parse_size(arg, &args->params.max_bytes) != WIO_OK) {
            argp_error(state, "--max-bytes: '%s' is no size (64M, 2G)", arg);
        }
        return 0;
    case OPTION_BUDGET:
        parse_budget(args, arg, state);
        return 0;
    case OPTION_KEEP_LIMITS:
        args->params.keep_limits = true;
        return 0;
    case ARGP_KEY_ARG:
        if (args->params.dir != NULL) {
            argp_error(state, "one directory is expected: '%s'", arg);
        }
        args->params.dir = arg;
        return 0;
    case ARGP_KEY_END:
        check(args, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "DIR -o HOST.json",
    "Measure what I/O costs below DIR, on its file system and device, and describe the machine for "
    "whyio predict.",
    children,
    NULL,
    NULL};

/* Rather now than after a minute of measuring. */
static enum wio_status check_output(const char *path, struct wio_error *err)
{
    char dir[PATH_MAX];
    struct stat st;
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (length >= sizeof(dir) || path[0] == '\0') {
        errno = path[0] == '\0' ? ENOENT : ENAMETOOLONG;
        return wio_error_sys(err, path, "cannot write");
    }
    memcpy(dir, path, length);
    (void)snprintf(dir + length, sizeof(dir) - length, ".");
    if (access(dir, W_OK) != 0) {
        return wio_error_sys(err, path, "cannot write");
    }
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return wio_error_sys(err, path, "cannot write");
    }
    return WIO_OK;
}

/* Block the signals that end the program until all is tidied up. One that is ignored stays so. */
static void hold_signals(sigset_t *before_out)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(ends); i++) {
        struct sigaction action;
        if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            sigaddset(&held, ends[i]);
        }
    }
    (void)sigprocmask(SIG_BLOCK, &held, before_out);
}

static bool is_signalled(void *arg)
{
    sigset_t pending;
    (void)arg;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGHUP) == 1 || sigismember(&pending, SIGINT) == 1 ||
            sigismember(&pending, SIGQUIT) == 1 || sigismember(&pending, SIGTERM) == 1);
}

static enum wio_status calibrate(struct calibrate_args *args,
                                 struct wio_calibration *calibration_out, struct wio_error *err)
{
    struct cmd_progress progress;
    sigset_t before;
    cmd_progress_init(&progress, "measuring", &args->common);
    args->params.progress = cmd_progress_update;
    args->params.progress_arg = &progress;
    args->params.is_cancelled = is_signalled;
    hold_signals(&before);
    enum wio_status status = wio_calibrate(&args->params, calibration_out, err);
    if (status == WIO_OK) {
        status = wio_calibration_write(calibration_out, args->output, err);
    }
    cmd_progress_end(&progress);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

int cmd_calibrate(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct calibrate_args args = {.params = wio_calibrate_params_default()};
    struct wio_calibration calibration;

    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    if (check_output(args.output, &err) != WIO_OK ||
        calibrate(&args, &calibration, &err) != WIO_OK) {
        return cmd_fail(&err);
    }
    if (args.common.format == CMD_FORMAT_JSON) {
        render_calibrate_json(&calibration, args.output, stdout);
    } else {
        render_calibrate_text(&calibration, args.output, stdout);
    }
    return 0;
}
