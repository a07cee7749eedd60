/* SPDX-License-Identifier: Apache-2.0 */
/* whyio env: every environment variable with default, meaning and current value; or lines that set
 * those by which programs are recorded. */
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd.h"
#include "env_lines.h"
#include "options.h"
#include "ring/bound.h"

enum {
    OPTION_TRACE = CMD_OPTION_FIRST,
    OPTION_SYNTAX,
    OPTION_CAUSAL,
    OPTION_MAX_SIZE,
    OPTION_KEEP
};

struct env_args {
    struct cmd_options common;
    struct env_lines lines;
    bool has_more; /* an option that is of use with --trace only */
    bool has_keep;
};

static const struct argp_option options[] = {
    {"trace", OPTION_TRACE, "DIR", 0,
     "Print the lines that set the environment in which programs are recorded into DIR without "
     "whyio record",
     0},
    {"syntax", OPTION_SYNTAX, "SYNTAX", 0,
     "With --trace: lines for sh (default), csh, or slurm (what a TaskProlog prints)", 0},
    {"causal", OPTION_CAUSAL, "HOW", 0,
     "With --trace: how to find out which operation waits for which: observe (default), off", 0},
    {"max-size", OPTION_MAX_SIZE, "SIZE", 0,
     "With --trace: keep at most SIZE bytes of events of each host (whyio record --max-size)", 0},
    {"keep", OPTION_KEEP, "WHICH", 0,
     "With --max-size: keep the first events (default) or the last ones", 0},
    {0},
};

static void parse_syntax(struct env_lines *lines, const char *arg, struct argp_state *state)
{
    static const char *const names[] = {[ENV_SH] = "sh", [ENV_CSH] = "csh", [ENV_SLURM] = "slurm"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(arg, names[i]) == 0) {
            lines->syntax = (enum env_syntax)i;
            return;
        }
    }
    argp_error(state, "--syntax=%s: sh, csh or slurm is expected", arg);
}

/* NAME=first or NAME=second: is it the second? */
static bool parse_choice(const char *name, const char *arg, const char *first, const char *second,
                         struct argp_state *state)
{
    const bool is_second = strcmp(arg, second) == 0;
    if (!is_second && strcmp(arg, first) != 0) {
        argp_error(state, "--%s=%s: %s or %s is expected", name, arg, first, second);
    }
    return is_second;
}

static void check(const struct env_args *args, struct argp_state *state)
{
    if (args->has_more && args->lines.trace == NULL) {
        argp_error(state, "--syntax, --causal, --max-size and --keep are for --trace");
    }
    if (args->has_keep && args->lines.max_size == 0) {
        argp_error(state, "--keep is for --max-size");
    }
    if (args->lines.trace != NULL && args->common.format == CMD_FORMAT_JSON) {
        argp_error(state, "--trace prints lines for a shell, and no JSON");
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct env_args *args = state->input;
    args->has_more = args->has_more || key == OPTION_SYNTAX || key == OPTION_CAUSAL ||
                     key == OPTION_MAX_SIZE || key == OPTION_KEEP;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        return 0;
    case OPTION_TRACE:
        if (arg[0] == '\0') {
            argp_error(state, "--trace: a name for the trace directory is expected");
        }
        args->lines.trace = arg;
        return 0;
    case OPTION_SYNTAX:
        parse_syntax(&args->lines, arg, state);
        return 0;
    case OPTION_CAUSAL:
        args->lines.no_causal = parse_choice("causal", arg, "observe", "off", state);
        return 0;
    case OPTION_MAX_SIZE:
        if (wio_parse_size(arg, &args->lines.max_size) != WIO_OK ||
            args->lines.max_size < WIO_BOUND_MIN_BYTES ||
            args->lines.max_size > WIO_BOUND_MAX_BYTES) {
            argp_error(state, "--max-size=%s: a size from 1M to 1T is expected", arg);
        }
        return 0;
    case OPTION_KEEP:
        args->lines.keep_last = parse_choice("keep", arg, "first", "last", state);
        args->has_keep = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no argument is expected: '%s'", arg);
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
    "",
    "List the environment variables that whyio knows, with their values; or print the lines that "
    "set those by which a program is recorded without whyio record."
    "\vRecord what a shell starts from here on:\n\n"
    "  eval \"$(whyio env --trace=DIR)\"",
    children,
    NULL,
    NULL};

static void print_text(const struct wio_env_var *table)
{
    for (size_t i = 0; i < WIO_ENV_COUNT; i++) {
        const char *value = wio_env_get((enum wio_env)i);
        printf("%s\n    %s\n    default: %s\n    now:     %s\n", table[i].name, table[i].meaning,
               table[i].fallback, value != NULL ? value : "not set");
    }
}

static void print_json(const struct wio_env_var *table)
{
    struct wio_json json;
    wio_json_init(&json, stdout);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.env/1");
    wio_json_array_begin(&json, "variables");
    for (size_t i = 0; i < WIO_ENV_COUNT; i++) {
        const char *value = wio_env_get((enum wio_env)i);
        wio_json_object_begin(&json, NULL);
        wio_json_string(&json, "name", table[i].name);
        wio_json_string(&json, "default", table[i].fallback);
        wio_json_string(&json, "meaning", table[i].meaning);
        if (value != NULL) {
            wio_json_string(&json, "value", value);
        } else {
            wio_json_null(&json, "value");
        }
        wio_json_object_end(&json);
    }
    wio_json_array_end(&json);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

int cmd_env(int argc, char **argv)
{
    struct env_args args = {0};
    struct wio_error err = WIO_ERROR_INIT;
    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    if (args.lines.trace != NULL) {
        return env_lines_print(&args.lines, stdout, &err) == WIO_OK ? 0 : cmd_fail(&err);
    }
    if (args.common.format == CMD_FORMAT_JSON) {
        print_json(wio_env_table());
    } else {
        print_text(wio_env_table());
    }
    return 0;
}
