/* SPDX-License-Identifier: Apache-2.0 */
/* whyio mount: a store as a file system. */
#include <stdio.h>

#include "base/json.h"
#include "cmd.h"
#include "connect.h"
#include "options.h"
#include "store/mount/mount.h"

struct mount_args {
    struct cmd_options common;
    struct cmd_connect connect;
    const char *words[2];
    unsigned count;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct mount_args *args = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        state->child_inputs[1] = &args->connect;
        return 0;
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
    NULL,
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
    const struct mount_args *args = context;
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
    const char *server = args.count == 2 ? args.words[0] : args.connect.server;
    const struct wio_mount_config config = {.point = args.words[args.count - 1],
                                            .connect = {.struct_size = sizeof(config.connect),
                                                        .address = server,
                                                        .key_file = args.connect.key_file,
                                                        .timeout_ns = args.connect.timeout_ns},
                                            .ready = print_ready,
                                            .context = &args};
    return wio_mount(&config, &err) == WIO_OK ? 0 : cmd_fail(&err);
}
