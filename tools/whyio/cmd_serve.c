/* SPDX-License-Identifier: Apache-2.0 */
/* whyio serve: a store's servers, in one process or in many. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/env.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd.h"
#include "launcher.h"
#include "options.h"
#include "serve_part.h"
#include "serve_place.h"
#include "store/serve/serve.h"

enum {
    OPTION_ROOT = CMD_OPTION_FIRST,
    OPTION_TARGETS,
    OPTION_SIZE,
    OPTION_LOG,
    OPTION_KEY,
    OPTION_MUNGE,
    OPTION_JOB,
    OPTION_JOB_DIR,
    OPTION_TRACE,
    OPTION_TRACE_MAX,
    OPTION_POLICY,
    OPTION_TENANTS,
    OPTION_REQUEST_MEMORY,
    OPTION_POLICY_FILE,
    OPTION_METRICS,
    OPTION_ROLE,
    OPTION_SERVERS_KEY
};

#define MEMORY_MIN (UINT64_C(8) << 20)
#define MEMORY_MAX (UINT64_C(1) << 40)

struct serve_args {
    struct cmd_options common;
    struct wio_serve_config config;
    const char *key_file; /* NULL: none */
    struct serve_part_options part_options;
    struct serve_part part;
    bool is_munge;
    bool is_job;
    bool has_targets_options; /* one of those that only targets have */
    struct wio_serve_job job;
    char job_name[SERVE_JOB_BYTES + 8];
    char root[SERVE_ROOT_BYTES]; /* that was made here */
};

static const struct argp_option options[] = {
    {"root", OPTION_ROOT, "DIR", 0,
     "Keep the store below DIR (default: a new directory whyio-JOB below $TMPDIR)", 0},
    {"targets", OPTION_TARGETS, "N", 0,
     "So many targets, of a new store (default: 1); with --role: where all targets are, "
     "ADDRESS,ADDRESS..",
     0},
    {"role", OPTION_ROLE, "ROLE", 0,
     "What of the store this process is: all (default), catalogue, or target: that of --targets "
     "which is ADDRESS",
     0},
    {"servers-key", OPTION_SERVERS_KEY, "FILE", 0,
     "With --role: the key by which the processes of the store know each other", 0},
    {"size", OPTION_SIZE, "SIZE", 0,
     "Hold at most SIZE bytes of data (default: what the device has)", 0},
    {"log", OPTION_LOG, "KIND", 0, "Log of a new store: own (default) or sqlite", 0},
    {"key", OPTION_KEY, "FILE", 0,
     "Clients prove that they have the key in FILE (default: WHYIO_STORE_KEY)", 0},
    {"job", OPTION_JOB, NULL, 0,
     "Under mpirun or srun: one store of all its processes, which ends with them", 0},
    {"job-dir", OPTION_JOB_DIR, "DIR", 0,
     "Processes of --job find each other in DIR, which all nodes share (default: .)", 0},
    {"trace", OPTION_TRACE, "DIR", 0,
     "Record in DIR what transactions did and what blocked them, for whyio explain", 0},
    {"trace-max", OPTION_TRACE_MAX, "SIZE", 0,
     "Keep at most SIZE of the trace; the oldest goes (default: 1G)", 0},
    {"policy", OPTION_POLICY, "NAME", 0,
     "Order and refusal of requests under load: credit (default), drr, tbf, mclock, hint, "
     "hint-heap or "
     "fifo",
     0},
    {"policy-file", OPTION_POLICY_FILE, "FILE", 0,
     "Policy, rules and weights from FILE, which is read again on SIGHUP", 0},
    {"tenants", OPTION_TENANTS, "WHAT", 0,
     "Shares are those of a job (default; without one of a user), a uid, a client or a pool", 0},
    {"request-memory", OPTION_REQUEST_MEMORY, "SIZE", 0,
     "Memory for the requests that wait at a server (default: 64M)", 0},
    {"metrics", OPTION_METRICS, "ADDRESS", 0,
     "Figures for Prometheus at http://ADDRESS/metrics: PORT (of 127.0.0.1) or HOST:PORT", 0},
    {"munge", OPTION_MUNGE, NULL, 0, "Clients prove their user by munged(8)", 0},
    {0},
};

static error_t parse_targets(struct serve_args *args, struct argp_state *state)
{
    uint64_t targets = 0;
    const char *text = args->part_options.targets;
    if (text == NULL || args->part_options.role != NULL) {
        return 0;
    }
    if (wio_parse_u64(text, &targets) != WIO_OK || targets == 0 ||
        targets > WIO_SERVE_TARGETS_MAX) {
        argp_error(state, "--targets=%s: expected a number from 1 to %d", text,
                   WIO_SERVE_TARGETS_MAX);
    }
    args->config.targets = (uint16_t)targets;
    return 0;
}

static error_t parse_size(struct serve_args *args, const char *text, struct argp_state *state)
{
    if (wio_parse_size(text, &args->config.size_bytes) != WIO_OK || args->config.size_bytes == 0) {
        argp_error(state, "--size=%s: expected a size such as 20G", text);
    }
    return 0;
}

static error_t parse_trace_max(struct serve_args *args, const char *text, struct argp_state *state)
{
    if (wio_parse_size(text, &args->config.trace_max_bytes) != WIO_OK ||
        args->config.trace_max_bytes == 0) {
        argp_error(state, "--trace-max=%s: expected a size such as 1G", text);
    }
    return 0;
}

static error_t parse_policy(struct serve_args *args, const char *text, struct argp_state *state)
{
    args->config.policy = wio_admit_kind_find(text);
    if (args->config.policy == WIO_ADMIT_KIND_COUNT) {
        argp_error(state, "--policy=%s: expected credit, drr, tbf, mclock, hint, hint-heap or fifo",
                   text);
    }
    return 0;
}

static error_t parse_tenants(struct serve_args *args, const char *text, struct argp_state *state)
{
    args->config.tenant_by = wio_admit_tenant_find(text);
    if (args->config.tenant_by == WIO_ADMIT_BY_COUNT) {
        argp_error(state, "--tenants=%s: expected job, uid, client or pool", text);
    }
    return 0;
}

static error_t parse_memory(struct serve_args *args, const char *text, struct argp_state *state)
{
    if (wio_parse_size(text, &args->config.request_memory_bytes) != WIO_OK ||
        args->config.request_memory_bytes < MEMORY_MIN ||
        args->config.request_memory_bytes > MEMORY_MAX) {
        argp_error(state, "--request-memory=%s: expected a size from 8M to 1T", text);
    }
    return 0;
}

static error_t parse_log(struct serve_args *args, const char *text, struct argp_state *state)
{
    if (strcmp(text, "own") != 0 && strcmp(text, "sqlite") != 0) {
        argp_error(state, "--log=%s: expected own or sqlite", text);
    }
    args->config.log = strcmp(text, "sqlite") == 0 ? WIO_LOG_SQLITE : WIO_LOG_OWN;
    return 0;
}

static error_t parse_address(struct serve_args *args, const char *text, struct argp_state *state)
{
    if (args->config.address != NULL) {
        argp_error(state, "one address is expected: '%s'", text);
    }
    args->config.address = text;
    return 0;
}

static error_t check_part(const struct serve_args *args, struct argp_state *state)
{
    enum wio_serve_role role = WIO_SERVE_ALL;
    if (args->part_options.role == NULL) {
        return 0;
    }
    if (args->is_job) {
        argp_error(state, "--job takes no --role: it has its own");
    }
    if (serve_role_find(args->part_options.role, &role) && role == WIO_SERVE_CATALOGUE &&
        args->has_targets_options) {
        argp_error(state, "--role=catalogue takes no --size, --log, --policy, --policy-file, "
                          "--tenants, --request-memory or --metrics: they are a target's");
    }
    return 0;
}

static error_t check_auth(const struct serve_args *args, struct argp_state *state)
{
    if (args->is_munge && args->key_file != NULL) {
        argp_error(state, "expected a key or --munge, found both");
    }
    if (args->is_job && (args->config.address != NULL || args->config.root != NULL ||
                         args->part_options.targets != NULL || args->is_munge)) {
        argp_error(state, "--job takes no address, --root, --targets or --munge: it has its own");
    }
    if (args->part_options.role == NULL && args->part_options.servers_key != NULL) {
        argp_error(state, "--servers-key: expected --role=catalogue or --role=target as well");
    }
    return check_part(args, state);
}

static bool is_of_targets(int key)
{
    return key == OPTION_SIZE || key == OPTION_LOG || key == OPTION_POLICY ||
           key == OPTION_POLICY_FILE || key == OPTION_TENANTS || key == OPTION_REQUEST_MEMORY ||
           key == OPTION_METRICS;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct serve_args *args = state->input;
    args->has_targets_options |= is_of_targets(key);
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        return 0;
    case OPTION_ROOT:
        args->config.root = arg;
        return 0;
    case OPTION_TARGETS:
        args->part_options.targets = arg;
        return 0;
    case OPTION_ROLE:
        args->part_options.role = strcmp(arg, "all") == 0 ? NULL : arg;
        return 0;
    case OPTION_SERVERS_KEY:
        args->part_options.servers_key = arg;
        return 0;
    case OPTION_SIZE:
        return parse_size(args, arg, state);
    case OPTION_LOG:
        return parse_log(args, arg, state);
    case OPTION_KEY:
        args->key_file = arg;
        return 0;
    case OPTION_TRACE:
        args->config.trace = arg;
        return 0;
    case OPTION_TRACE_MAX:
        return parse_trace_max(args, arg, state);
    case OPTION_POLICY:
        return parse_policy(args, arg, state);
    case OPTION_POLICY_FILE:
        args->config.policy_file = arg;
        return 0;
    case OPTION_TENANTS:
        return parse_tenants(args, arg, state);
    case OPTION_REQUEST_MEMORY:
        return parse_memory(args, arg, state);
    case OPTION_METRICS:
        args->config.metrics = arg;
        return 0;
    case OPTION_MUNGE:
        args->is_munge = true;
        return 0;
    case OPTION_JOB:
        args->is_job = true;
        return 0;
    case OPTION_JOB_DIR:
        args->job.dir = arg;
        return 0;
    case ARGP_KEY_ARG:
        return parse_address(args, arg, state);
    case ARGP_KEY_END:
        parse_targets(args, state);
        return check_auth(args, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "[ADDRESS]",
    "Run a store: files that are striped over targets, in which every operation is a transaction. "
    "ADDRESS is unix:PATH, HOST:PORT or [V6]:PORT, where the catalogue is reached; the default is "
    "a Unix socket below the root. Runs until SIGTERM or SIGINT.",
    children,
    NULL,
    NULL};

/* ---- what is printed ----------------------------------------------------------------------- */

static void print_json(const struct wio_serve_ready *ready)
{
    struct wio_json json;
    wio_json_init(&json, stdout);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.serve/1");
    wio_json_string(&json, "role", serve_role_name(ready->role));
    wio_json_string(&json, "root", ready->root);
    wio_json_string(&json, "address", ready->address);
    wio_json_array_begin(&json, "targets");
    for (unsigned i = 0; i < ready->target_count; i++) {
        wio_json_string(&json, NULL, ready->targets[i]);
    }
    wio_json_array_end(&json);
    wio_json_bool(&json, "new", ready->is_new);
    wio_json_bool(&json, "durable", ready->is_durable);
    if (ready->metrics_port != 0) {
        wio_json_u64(&json, "metrics_port", ready->metrics_port);
    }
    wio_json_object_end(&json);
    wio_json_line(&json);
}

/* Flushed: whatever started the store waits for it. */
static void print_ready(void *context, const struct wio_serve_ready *ready)
{
    const struct serve_args *args = context;
    if (!ready->is_durable && !args->common.quiet) {
        cmd_say("%s is a file system in memory: what is stable there is gone when the machine "
                "stops",
                ready->root);
    }
    if (args->common.format == CMD_FORMAT_JSON) {
        print_json(ready);
    } else {
        printf("root     %s\naddress  %s\n", ready->root, ready->address);
        if (ready->metrics_port != 0) {
            printf("metrics  port %u\n", ready->metrics_port);
        }
    }
    (void)fflush(stdout);
}

static void say_reloaded(void *context, const struct wio_error *err)
{
    const struct serve_args *args = context;
    if (err != NULL) {
        (void)cmd_fail(err); /* it goes on as before */
    } else if (!args->common.quiet) {
        cmd_say("the policy file was read again");
    }
}

static void say_flushed(void *context, const char *dir, const struct wio_error *err)
{
    const struct serve_args *args = context;
    if (err != NULL) {
        (void)cmd_fail(err); /* it goes on */
    } else if (!args->common.quiet) {
        cmd_say("what transactions did was written to '%s'", dir);
    }
}

/* ---- running ------------------------------------------------------------------------------- */

static enum wio_status prepare_job(struct serve_args *args, struct wio_error *err)
{
    struct launcher launcher;
    char name[SERVE_JOB_BYTES];
    if (!launcher_find(&launcher) || launcher.size == 0 || launcher.size > WIO_SERVE_RANKS_MAX ||
        launcher.rank >= launcher.size) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "--job: expected to be started by mpirun or srun, with at most %d "
                             "processes",
                             WIO_SERVE_RANKS_MAX);
    }
    WIO_TRY(serve_job_name(name, err));
    (void)snprintf(args->job_name, sizeof(args->job_name), "whyio-%s", name);
    args->job.rank = (uint16_t)launcher.rank;
    args->job.size = (uint16_t)launcher.size;
    args->job.name = args->job_name;
    args->config.job = &args->job;
    args->config.size_bytes /= launcher.size;
    return WIO_OK;
}

static enum wio_status prepare(struct serve_args *args, struct wio_link_key *key,
                               struct wio_error *err)
{
    args->config.auth = args->is_munge ? WIO_WIRE_AUTH_MUNGE : WIO_WIRE_AUTH_OPEN;
    if (args->is_job) {
        WIO_TRY(prepare_job(args, err));
    } else if (args->key_file != NULL) {
        args->config.auth = WIO_WIRE_AUTH_KEY;
        args->config.key = key;
        WIO_TRY(serve_key_read(args->key_file, key, err));
    }
    if (args->part_options.role != NULL) {
        WIO_TRY(serve_part_init(&args->part_options, args->config.address, &args->part, err));
        args->config.part = &args->part.part;
    }
    if (args->config.root == NULL) {
        WIO_TRY(serve_root_make(args->root, err));
        args->config.root = args->root;
    }
    return WIO_OK;
}

int cmd_serve(int argc, char **argv)
{
    struct wio_link_key key = {{0}};
    struct wio_error err = WIO_ERROR_INIT;
    struct serve_args args = {
        .key_file = wio_env_get(WIO_ENV_STORE_KEY),
        .job = {.dir = "."},
        .config = {.policy = WIO_ADMIT_CREDIT, .tenant_by = WIO_ADMIT_BY_JOB},
    };
    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    args.config.ready = print_ready;
    args.config.reloaded = say_reloaded;
    args.config.flushed = say_flushed;
    args.config.context = &args;
    enum wio_status status = prepare(&args, &key, &err);
    status = status == WIO_OK ? wio_serve(&args.config, &err) : status;
    wio_link_key_forget(&key);
    serve_part_fini(&args.part);
    return status == WIO_OK ? 0 : cmd_fail(&err);
}
