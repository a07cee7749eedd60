/* SPDX-License-Identifier: Apache-2.0 */
/* whyio mount: a store as a file system. */
#include <stdio.h>

#include "base/json.h"
#include "cmd.h"
#include "connect.h"
#include "options.h"
#include "store/mount/mount.h"
#include "waiting.h"

enum { OPTION_VAR = CMD_OPTION_FIRST, OPTION_NAME, OPTION_CACHE, OPTION_ALL };

struct mount_args {
    struct cmd_options common;
    struct cmd_connect connect;
    struct wio_probe_params jobs;
    struct cmd_waiting waiting;
    bool is_for_all;
    const char *words[2];
    unsigned count;
};

static const struct argp_option options[] = {
    {"jobid-var", OPTION_VAR, "MODE", 0,
     "How the job of a process is found: batch (default), disable, nodelocal, procname_uid, "
     "session, "
     "or the name of a variable",
     0},
    {"jobid-name", OPTION_NAME, "FORMAT", 0,
     "Name jobs so: %e program, %g group, %h host, %H the same up to the first dot, %j job, %p "
     "process, %u user (default: %j)",
     0},
    {"allow-other", OPTION_ALL, NULL, 0,
     "Other users may use it, too, as modes and owners allow; for user 0", 0},
    {"cache", OPTION_CACHE, "POLICY", 0,
     "When what is known of a process is dropped: exit (default: when it ends) or lustre (by age)",
     0},
    {0},
};

static error_t parse_jobs(struct mount_args *args, int key, const char *text,
                          struct argp_state *state)
{
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = WIO_OK;
    if (key == OPTION_VAR) {
        status = wio_job_settings_mode(&args->jobs.settings, text, &err);
    } else if (key == OPTION_NAME) {
        status = wio_job_settings_format(&args->jobs.settings, text, &err);
    } else if (!wio_job_policy_find(text, &args->jobs.policy)) {
        argp_error(state, "--cache: '%s' is no policy: expected exit or lustre", text);
    }
    if (status != WIO_OK) {
        argp_error(state, "%s", err.message);
    }
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct mount_args *args = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        state->child_inputs[1] = &args->connect;
        return 0;
    case OPTION_ALL:
        args->is_for_all = true;
        return 0;
    case OPTION_VAR:
    case OPTION_NAME:
    case OPTION_CACHE:
        return parse_jobs(args, key, arg, state);
    case ARGP_KEY_ARG:
        if (args->count == 2) {
            argp_error(state, "an address and a mount point are expected: '%s'", arg);
        }
        args->words[args->count++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (args->count == 0) {
            argp_error(state, "a mount point is expected");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&cmd_options_argp, 0, NULL, 0}, {&cmd_connect_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "[ADDR] MOUNTPOINT",
    "Mount a running store as a file system. Runs until SIGTERM or SIGINT, until it is unmounted, "
    "or until the store does not answer any more.",
    children,
    NULL,
    NULL};

/* Flushed: whatever started the mount waits for it. */
static void print_ready(void *context, const char *point)
{
    struct mount_args *args = context;
    cmd_waiting_end(&args->waiting);
    if (args->common.format == CMD_FORMAT_JSON) {
        struct wio_json json;
        wio_json_init(&json, stdout);
        wio_json_object_begin(&json, NULL);
        wio_json_string(&json, "schema", "whyio.mount/1");
        wio_json_string(&json, "mountpoint", point);
        wio_json_object_end(&json);
        wio_json_line(&json);
    } else {
        printf("mounted  %s\n", point);
    }
    (void)fflush(stdout);
}

int cmd_mount(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct mount_args args = {0};
    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files(); /* one for each process that makes requests */
    bool has_jobs = args.jobs.settings.mode != WIO_JOB_MODE_DISABLE;
    const char *server = args.count == 2 ? args.words[0] : args.connect.server;
    const struct wio_mount_config config = {.point = args.words[args.count - 1],
                                            .connect = {.struct_size = sizeof(config.connect),
                                                        .address = server,
                                                        .key_file = args.connect.key_file,
                                                        .timeout_ns = args.connect.timeout_ns},
                                            .jobs = has_jobs ? &args.jobs : NULL,
                                            .is_for_all = args.is_for_all,
                                            .ready = print_ready,
                                            .context = &args};
    if (!args.common.quiet) {
        cmd_waiting_begin(&args.waiting, server, args.connect.timeout_ns);
    }
    enum wio_status status = wio_mount(&config, &err);
    cmd_waiting_end(&args.waiting);
    return status == WIO_OK ? 0 : cmd_fail(&err);
}
