/* SPDX-License-Identifier: Apache-2.0 */
/* whyio merge: throttled runs of one program become one trace. */
#include <stdio.h>

#include "base/json.h"
#include "base/text.h"
#include "cmd.h"
#include "options.h"
#include "progress.h"
#include "render_difference.h"
#include "throttle/merge/merge_runs.h"

enum { EXIT_NO = 1 };

struct merge_args {
    struct cmd_options common;
    const char *dir;
    const char *const *runs;
    uint32_t count;
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "Trace directory to be made", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct merge_args *args = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        return 0;
    case 'o':
        args->dir = arg;
        return 0;
    case ARGP_KEY_ARGS:
        args->runs = (const char *const *)&state->argv[state->next];
        args->count = (uint32_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "at least one run is expected");
        return 0;
    case ARGP_KEY_SUCCESS:
        if (args->dir == NULL || args->dir[0] == '\0') {
            argp_error(state, "-o: a name for the trace directory is expected");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "RUN...",
    "Make one trace of throttled runs of one program (record --causal=throttle --method=trace)."
    "\vExit status 1: two runs did not do the same I/O, the first difference is printed. 3: they "
    "are not of one program, or prove nothing. Where a lock or queue decides which thread does "
    "which work, the first run is taken.",
    children,
    NULL,
    NULL};

/* Another order of turns is as good as the first run's. */
static bool is_made(const struct wio_merge_result *result)
{
    return result->is_same || result->difference.turns[0] != '\0';
}

static void print_json(const struct merge_args *args, const struct wio_merge_result *result)
{
    struct wio_json json;
    wio_json_init(&json, stdout);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.merge/1");
    wio_json_string(&json, "dir", args->dir);
    wio_json_u64(&json, "runs", args->count);
    wio_json_bool(&json, "same", result->is_same);
    wio_json_u64(&json, "events", result->events);
    wio_json_u64(&json, "edges", result->edges);
    wio_json_u64(&json, "redundant", result->dropped);
    wio_json_bool(&json, "cleaned", result->has_cleaned);
    render_difference_json(&json, result->is_same ? NULL : &result->difference);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

static void print_text(const struct merge_args *args, const struct wio_merge_result *result)
{
    char events[WIO_TEXT_MAX];
    char edges[WIO_TEXT_MAX];
    char dropped[WIO_TEXT_MAX];
    if (is_made(result)) {
        printf("%s: %s events of %u runs, %s edges, %s redundant ones left out\n", args->dir,
               wio_format_count(events, result->events), (unsigned)args->count,
               wio_format_count(edges, result->edges), wio_format_count(dropped, result->dropped));
    }
}

int cmd_merge(int argc, char **argv)
{
    struct merge_args args = {0};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_merge_result result;
    struct cmd_progress progress;
    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    cmd_progress_init(&progress, "merging", &args.common);
    const struct wio_merge_params params = {.struct_size = sizeof(params),
                                            .dir = args.dir,
                                            .runs = args.runs,
                                            .count = args.count,
                                            .progress = cmd_progress_update,
                                            .progress_arg = &progress};
    enum wio_status status = wio_merge(&params, &result, &err);
    cmd_progress_end(&progress);
    if (status != WIO_OK) {
        return cmd_fail(&err);
    }
    if (result.has_cleaned) {
        (void)fprintf(stderr, "whyio: %s.merging, left by a merge that was killed, was removed\n",
                      args.dir);
    }
    if (!result.is_same) {
        render_difference_text(&result.difference);
    }
    if (args.common.format == CMD_FORMAT_JSON) {
        print_json(&args, &result);
    } else {
        print_text(&args, &result);
    }
    return is_made(&result) ? 0 : EXIT_NO;
}
