/* SPDX-License-Identifier: Apache-2.0 */
/* whyio load: load on a store; throughput and times. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd.h"
#include "connect.h"
#include "options.h"
#include "progress.h"
#include "store/load/load.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
    OPTION_CLIENTS = CMD_OPTION_FIRST,
    OPTION_SIZE,
    OPTION_READS,
    OPTION_PATTERN,
    OPTION_OBJECTS,
    OPTION_TRANSACTION,
    OPTION_DURATION,
    OPTION_RATE,
    OPTION_DEADLINE,
    OPTION_GIVE_UP,
    OPTION_STABLE,
    OPTION_SEGMENTS
};

struct load_args {
    struct cmd_options common;
    struct cmd_connect connect;
    struct wio_load_params load;
};

static const struct argp_option options[] = {
    {"clients", OPTION_CLIENTS, "N", 0, "Clients, each with a connection of its own (default: 4)",
     0},
    {"size", OPTION_SIZE, "SIZE", 0, "Bytes of an object (default: 4K)", 0},
    {"reads", OPTION_READS, "PERCENT", 0, "Accesses that read; others write (default: 0)", 0},
    {"pattern", OPTION_PATTERN, "PATTERN", 0,
     "disjoint (default), random, same or opposite: which objects are used, in which order", 0},
    {"objects", OPTION_OBJECTS, "N", 0,
     "Objects, of each client where they are disjoint (default: 16)", 0},
    {"transaction", OPTION_TRANSACTION, "N", 0,
     "Objects that a transaction uses; 1 (default): single operations", 0},
    {"duration", OPTION_DURATION, "TIME", 0, "How long (default: 5s)", 0},
    {"rate", OPTION_RATE, "N", 0,
     "Open loop: N operations a second in all, each when it is due (default: as fast as they are "
     "answered)",
     0},
    {"deadline", OPTION_DEADLINE, "TIME", 0, "Later answers are no goodput (default: none)", 0},
    {"give-up", OPTION_GIVE_UP, "TIME", 0,
     "Give an operation up after TIME (default: the time-out of the connection)", 0},
    {"stable", OPTION_STABLE, NULL, 0, "What is written is durable when it is answered", 0},
    {"segments", OPTION_SEGMENTS, "N", 0, "Segments of the file (default: one for each target)", 0},
    {0},
};

/* ---- options ------------------------------------------------------------------------------- */

static uint64_t number(const char *name, const char *text, uint64_t least, uint64_t most,
                       struct argp_state *state)
{
    uint64_t value = 0;
    if (wio_parse_size(text, &value) != WIO_OK || value < least || value > most) {
        argp_error(state, "--%s: '%s' is none from %" PRIu64 " to %" PRIu64, name, text, least,
                   most);
    }
    return value;
}

static uint64_t span(const char *name, const char *text, struct argp_state *state)
{
    uint64_t ns = 0;
    if (wio_parse_time(text, &ns) != WIO_OK || ns == 0) {
        argp_error(state, "--%s: '%s' is no time: expected a number with ms, s or m", name, text);
    }
    return ns;
}

static enum wio_load_order order(const char *text, struct argp_state *state)
{
    static const char *const names[] = {[WIO_LOAD_DISJOINT] = "disjoint",
                                        [WIO_LOAD_RANDOM] = "random",
                                        [WIO_LOAD_SAME] = "same",
                                        [WIO_LOAD_OPPOSITE] = "opposite"};
    for (unsigned i = 0; i < WIO_ARRAY_SIZE(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            return (enum wio_load_order)i;
        }
    }
    argp_error(state, "--pattern: '%s' is none: expected disjoint, random, same or opposite", text);
    return WIO_LOAD_DISJOINT;
}

static error_t parse_pattern(int key, const char *arg, struct wio_load_pattern *pattern,
                             struct argp_state *state)
{
    switch (key) {
    case OPTION_READS:
        pattern->reads = (uint32_t)number("reads", arg, 0, 100, state);
        return 0;
    case OPTION_PATTERN:
        pattern->order = order(arg, state);
        return 0;
    case OPTION_OBJECTS:
        pattern->objects = (uint32_t)number("objects", arg, 1, 1u << 24, state);
        return 0;
    case OPTION_TRANSACTION:
        pattern->each = (uint32_t)number("transaction", arg, 1, WIO_LOAD_EACH_MAX, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_load(int key, const char *arg, struct wio_load_params *load,
                          struct argp_state *state)
{
    switch (key) {
    case OPTION_CLIENTS:
        load->clients = (unsigned)number("clients", arg, 1, 4096, state);
        return 0;
    case OPTION_SIZE:
        load->object_bytes = number("size", arg, 1, 1u << 30, state);
        return 0;
    case OPTION_DURATION:
        load->duration_ns = span("duration", arg, state);
        return 0;
    case OPTION_RATE:
        if (wio_parse_double(arg, &load->rate) != WIO_OK || !(load->rate > 0)) {
            argp_error(state, "--rate: '%s' is no number of operations a second", arg);
        }
        return 0;
    case OPTION_GIVE_UP:
        load->give_up_ns = span("give-up", arg, state);
        return 0;
    case OPTION_DEADLINE:
        load->deadline_ns = span("deadline", arg, state);
        return 0;
    case OPTION_STABLE:
        load->is_stable = true;
        return 0;
    case OPTION_SEGMENTS:
        load->segments = (uint32_t)number("segments", arg, 1, 4096, state);
        return 0;
    default:
        return parse_pattern(key, arg, &load->pattern, state);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct load_args *args = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        state->child_inputs[1] = &args->connect;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0) {
            argp_error(state, "one address is expected: '%s'", arg);
        }
        args->connect.server = arg;
        return 0;
    default:
        return parse_load(key, arg, &args->load, state);
    }
}

static const struct argp_child children[] = {
    {&cmd_options_argp, 0, NULL, 0}, {&cmd_connect_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,  parse, "[ADDR]", "Put load on a running store, and print throughput and times.",
    children, NULL,  NULL};

/* ---- output -------------------------------------------------------------------------------- */

static double per_second(const struct wio_load_result *result, uint64_t count)
{
    return result->duration_s > 0 ? (double)count / result->duration_s : 0;
}

static double aborts(const struct wio_load_result *result)
{
    return result->committed > 0 ? (double)result->attempts / (double)result->committed : 0;
}

static void print_json(const struct wio_load_params *load, const struct wio_load_result *result)
{
    struct wio_json json;
    wio_json_init(&json, stdout);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.load/1");
    wio_json_double(&json, "ops_s", per_second(result, result->done));
    wio_json_double(&json, "p50_us", result->p50_us);
    wio_json_double(&json, "p99_us", result->p99_us);
    wio_json_double(&json, "max_us", result->max_us);
    wio_json_double(&json, "aborts_per_commit", aborts(result));
    wio_json_u64(&json, "refused", result->refused);
    wio_json_double(&json, "goodput", per_second(result, result->in_time));
    wio_json_double(&json, "offered_s", per_second(result, result->offered));
    wio_json_double(&json, "bytes_s", per_second(result, result->bytes));
    wio_json_u64(&json, "ops", result->done);
    wio_json_u64(&json, "failed", result->failed);
    wio_json_u64(&json, "wounds", result->wounds);
    wio_json_double(&json, "duration_s", result->duration_s);
    wio_json_u64(&json, "clients", load->clients);
    wio_json_u64(&json, "size", load->object_bytes);
    wio_json_u64(&json, "transaction", load->pattern.each);
    wio_json_double(&json, "p999_us", result->p999_us);
    wio_json_u64(&json, "overloads", result->overloads);
    wio_json_double(&json, "overloads_per_op",
                    result->done > 0 ? (double)result->overloads / (double)result->done : 0);
    wio_json_u64(&json, "held_back", result->held_back);
    wio_json_u64(&json, "busy", result->busy);
    wio_json_double(&json, "fairness", result->fairness);
    wio_json_u64(&json, "least", result->least);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

static void print_text(const struct wio_load_result *result)
{
    char p50[WIO_TEXT_MAX];
    char p99[WIO_TEXT_MAX];
    char longest[WIO_TEXT_MAX];
    char p999[WIO_TEXT_MAX];
    char rate[WIO_TEXT_MAX];
    printf("%.0f operations/s, %s; p50 %s, p99 %s, longest %s\n", per_second(result, result->done),
           wio_format_rate(rate, per_second(result, result->bytes)),
           wio_format_time(p50, (uint64_t)(result->p50_us * 1e3)),
           wio_format_time(p99, (uint64_t)(result->p99_us * 1e3)),
           wio_format_time(longest, (uint64_t)(result->max_us * 1e3)));
    printf("goodput %.0f/s of %.0f/s offered; %.3f aborts per commit, %" PRIu64 " wounds, %" PRIu64
           " refused, %" PRIu64 " failed\n",
           per_second(result, result->in_time), per_second(result, result->offered), aborts(result),
           result->wounds, result->refused, result->failed);
    if (result->overloads > 0 || result->held_back > 0) {
        printf("overload: %" PRIu64 " refused for load, %" PRIu64 " held back by clients, %" PRIu64
               " failed with EBUSY; fairness %.3f, p99.9 %s\n",
               result->overloads, result->held_back, result->busy, result->fairness,
               wio_format_time(p999, (uint64_t)(result->p999_us * 1e3)));
    }
}

/* One that is lost is told before the load's own begin. */
static enum wio_status try_connection(const struct load_args *args, struct wio_error *err)
{
    WIO_CLEANUP(cmd_disconnect_cleanup) struct wio_store *store = NULL;
    struct cmd_connect how = args->connect;
    how.is_quiet = args->common.quiet;
    return cmd_connect(&how, &store, err);
}

static enum wio_status run(struct load_args *args, struct wio_load_result *result,
                           struct wio_error *err)
{
    struct cmd_progress progress;
    args->load.connect = (struct wio_store_params){.struct_size = sizeof(args->load.connect),
                                                   .address = args->connect.server,
                                                   .key_file = args->connect.key_file,
                                                   .timeout_ns = args->connect.timeout_ns};
    WIO_TRY(try_connection(args, err));
    cmd_progress_init(&progress, "loading", &args->common);
    args->load.progress = cmd_progress_update;
    args->load.progress_arg = &progress;
    enum wio_status status = wio_load_run(&args->load, result, err);
    cmd_progress_end(&progress);
    return status;
}

int cmd_load(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_load_result result;
    struct load_args args = {.load = {.clients = 4,
                                      .pattern = {.objects = 16, .each = 1},
                                      .object_bytes = 4096,
                                      .duration_ns = 5 * SECOND_NS}};
    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    if (run(&args, &result, &err) != WIO_OK) {
        return cmd_fail(&err);
    }
    if (args.common.format == CMD_FORMAT_JSON) {
        print_json(&args.load, &result);
    } else {
        print_text(&result);
    }
    return result.failed > 0 ? 1 : 0;
}
