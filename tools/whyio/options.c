/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "report/line.h"

enum { OPTION_FORMAT = 0x100 };

static const struct argp_option options[] = {
    {"quiet", 'q', NULL, 0, "No progress bar and no remarks on stderr", 0},
    {"format", OPTION_FORMAT, "FORMAT", 0, "Print results as text or json", 0},
    {0},
};

static error_t parse_format(const char *arg, struct cmd_options *out, struct argp_state *state)
{
    if (strcmp(arg, "text") == 0) {
        out->format = CMD_FORMAT_TEXT;
    } else if (strcmp(arg, "json") == 0) {
        out->format = CMD_FORMAT_JSON;
    } else if (out->has_csv && strcmp(arg, "csv") == 0) {
        out->format = CMD_FORMAT_CSV;
    } else {
        argp_error(state, "'%s' is no format: expected %s", arg,
                   out->has_csv ? "text, json or csv" : "text or json");
    }
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct cmd_options *out = state->input;
    switch (key) {
    case 'q':
        out->quiet = true;
        return 0;
    case OPTION_FORMAT:
        return parse_format(arg, out, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cmd_options_argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};

static error_t parse_trace(int key, char *arg, struct argp_state *state)
{
    struct cmd_trace_args *args = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        return 0;
    case ARGP_KEY_ARG:
        if (args->dir != NULL) {
            argp_error(state, "one trace directory is expected: '%s'", arg);
        }
        args->dir = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a trace directory is expected");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child trace_children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
const struct argp cmd_trace_argp = {NULL, parse_trace, NULL, NULL, trace_children, NULL, NULL};

int cmd_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    error_t error = argp_parse(argp, argc, argv, flags, NULL, input);
    if (error == 0) {
        return 0;
    }
    if ((flags & ARGP_NO_ERRS) == 0) {
        cmd_say("cannot read the arguments: %s", strerror(error));
    }
    return wio_status_exit(error == ENOMEM ? WIO_ERR_NOMEM : WIO_ERR_USAGE);
}

void cmd_expect_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* otherwise opening says what is missing */
    }
}

int cmd_fail(const struct wio_error *err)
{
    char text[sizeof(err->message) + sizeof(err->file) + 64];
    if (err->status >= WIO_OK) { /* a failure without a reason is one all the same */
        cmd_say("failed, and does not know why");
        return wio_status_exit(WIO_ERR_INTERNAL);
    }
    wio_error_format(err, text, sizeof(text));
    cmd_say("%s", text);
    return wio_status_exit(err->status);
}

void cmd_say(const char *fmt, ...)
{
    char text[4096];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    /* The line is one write (messages.h), so that lines of several ranks do not mix; a name with a
     * line end in it stays on it. */
    fputs("whyio: ", stderr);
    wio_print_plain(stderr, text);
    fputc('\n', stderr);
}
