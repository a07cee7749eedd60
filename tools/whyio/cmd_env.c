/* SPDX-License-Identifier: Apache-2.0 */
/* whyio env: every environment variable with default, meaning and current value. */
#include <stdio.h>

#include "base/env.h"
#include "base/json.h"
#include "cmd.h"
#include "options.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->input;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no argument is expected: '%s'", arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    NULL,     parse, "",  "List the environment variables that whyio knows, with their values.",
    children, NULL,  NULL};

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
    struct cmd_options options = {0};
    int wrong = cmd_parse(&argp, argc, argv, 0, &options);
    if (wrong != 0) {
        return wrong;
    }
    if (options.format == CMD_FORMAT_JSON) {
        print_json(wio_env_table());
    } else {
        print_text(wio_env_table());
    }
    return 0;
}
