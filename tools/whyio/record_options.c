/* SPDX-License-Identifier: Apache-2.0 */
#include "record_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/text.h"
#include "ring/bound.h"

enum {
    OPTION_FORCE = CMD_OPTION_FIRST,
    OPTION_CAUSAL,
    OPTION_EDGES,
    OPTION_HOSTS,
    OPTION_METHOD,
    OPTION_PERIOD,
    OPTION_NODES,
    OPTION_RUNS,
    OPTION_COMPUTE,
    OPTION_TARGET_ERROR,
    OPTION_TARGET_ROOT,
    OPTION_TARGET_TIME,
    OPTION_BUDGET,
    OPTION_STACKS,
    OPTION_STATIC,
    OPTION_MPI_INTERNALS,
    OPTION_MMAP_PAGES,
    OPTION_ANONYMIZE,
    OPTION_MAX_SIZE,
    OPTION_KEEP
};

#define NS_PER_S 1e9

static const struct argp_option argp_options[] = {
    {"output", 'o', "DIR", 0, "Trace directory (default: ./<program>-<pid>.whyio)", 0},
    {"force", OPTION_FORCE, NULL, 0, "Replace an old trace in DIR", 0},
    {"causal", OPTION_CAUSAL, "HOW", 0,
     "How to find out which operation waits for which: observe (default), throttle (run COMMAND "
     "several times "
     "and hold its I/O too), off",
     0},
    {"edges", OPTION_EDGES, "WHEN", 0,
     "When to derive from what was recorded which operation waits for which: later (default, by "
     "the first command that needs it) or now (before record ends)",
     0},
    {"hosts", OPTION_HOSTS, "HOST,..", OPTION_ARG_OPTIONAL,
     "With --causal=throttle: COMMAND is a launcher, and starts 'whyio record -- PROGRAM' on "
     "several hosts",
     0},
    {"method", OPTION_METHOD, "METHOD", 0,
     "With --causal=throttle: priority (default, hold what observation leaves unexplained) or "
     "trace (as //TRACE, one run per thread)",
     0},
    {"period", OPTION_PERIOD, "P", 0, "With --method=trace: hold every P-th I/O (default: 1)", 0},
    {"nodes", OPTION_NODES, "LIST", 0,
     "With --method=trace: throttle only these ranks, or threads of a program without ranks "
     "(0,2-4)",
     0},
    {"runs", OPTION_RUNS, "N", 0, "With --causal=throttle: hold in at most N runs", 0},
    {"compute", OPTION_COMPUTE, "WHAT", 0,
     "With --method=trace: computing between I/Os is all time (think), or the time outside of "
     "calls "
     "that can block (unblocked; default: think with a period of 1, else unblocked)",
     0},
    {"target-error", OPTION_TARGET_ERROR, "X", 0,
     "With --method=trace: lower the period until replay takes as long as COMMAND, but for this "
     "part (0.06 is 6 %)",
     0},
    {"target-root", OPTION_TARGET_ROOT, "DIR", 0,
     "With --target-error or --budget, repeatable: replay below DIR, on its storage; the worst "
     "error of all decides",
     0},
    {"target-time", OPTION_TARGET_TIME, "TIME", 0,
     "How long COMMAND takes on the storage of the --target-root before it (default: as long as in "
     "the first run)",
     0},
    {"budget", OPTION_BUDGET, "TIME", 0,
     "With --method=trace: lower the period while all runs together take no longer (30s, 10m)", 0},
    {"stacks", OPTION_STACKS, "WHEN", OPTION_ARG_OPTIONAL,
     "Call stacks: sampled for calls by libraries (the default), always (without WHEN: the whole "
     "stack of each operation), or never",
     0},
    {"static", OPTION_STATIC, "HOW", 0,
     "Statically linked programs: error (default, COMMAND is refused, others are counted as not "
     "seen) or trace (their system calls are traced with ptrace)",
     0},
    {"mpi-internals", OPTION_MPI_INTERNALS, NULL, 0,
     "Record also what the MPI library does by itself", 0},
    {"mmap-pages", OPTION_MMAP_PAGES, NULL, 0,
     "Record also which pages of mapped files are written (Linux 6.7)", 0},
    {"anonymize", OPTION_ANONYMIZE, NULL, 0,
     "Replace names in paths by hashes, leave out arguments and environment", 0},
    {"max-size", OPTION_MAX_SIZE, "SIZE", 0,
     "Keep at most SIZE bytes of events of the recorded processes of this host (64M, 2G; at least "
     "1M), and count those that are dropped",
     0},
    {"keep", OPTION_KEEP, "WHICH", 0,
     "With --max-size: keep the first events (default), or the last ones, as a flight recorder "
     "does",
     0},
    {0},
};

static void parse_causal(struct record_options *options, const char *arg, struct argp_state *state)
{
    options->is_throttle = strcmp(arg, "throttle") == 0;
    options->record.causal = options->is_throttle || strcmp(arg, "observe") == 0;
    if (!options->record.causal && strcmp(arg, "off") != 0) {
        argp_error(state, "'%s' is no way to find causes: expected observe, throttle or off", arg);
    }
}

static void parse_edges(struct record_options *options, const char *arg, struct argp_state *state)
{
    options->record.edges_now = strcmp(arg, "now") == 0;
    if (!options->record.edges_now && strcmp(arg, "later") != 0) {
        argp_error(state, "'%s' is no time to find edges: expected later or now", arg);
    }
}

static void parse_stacks(struct record_options *options, const char *arg, struct argp_state *state)
{
    options->record.stacks = arg == NULL || strcmp(arg, "always") == 0;
    options->record.no_stacks = arg != NULL && strcmp(arg, "never") == 0;
    if (!options->record.stacks && !options->record.no_stacks && strcmp(arg, "sampled") != 0) {
        argp_error(state, "'%s' is no way to take stacks: expected sampled, always or never", arg);
    }
}

static void parse_max_size(struct record_options *options, const char *arg,
                           struct argp_state *state)
{
    uint64_t bytes = 0;
    if (wio_parse_size(arg, &bytes) != WIO_OK || bytes < WIO_BOUND_MIN_BYTES ||
        bytes > WIO_BOUND_MAX_BYTES) {
        argp_error(state, "--max-size=%s: a size from 1M to 1T is expected", arg);
    }
    options->record.max_size = bytes;
}

static void parse_keep(struct record_options *options, const char *arg, struct argp_state *state)
{
    options->record.keep_last = strcmp(arg, "last") == 0;
    options->has_keep = true;
    if (!options->record.keep_last && strcmp(arg, "first") != 0) {
        argp_error(state, "--keep=%s: first or last is expected", arg);
    }
}

static void parse_static(struct record_options *options, const char *arg, struct argp_state *state)
{
    options->record.trace_static = strcmp(arg, "trace") == 0;
    if (!options->record.trace_static && strcmp(arg, "error") != 0) {
        argp_error(state, "'%s' is no way to treat static programs: expected error or trace", arg);
    }
}

static void parse_method(struct record_options *options, const char *arg, struct argp_state *state)
{
    if (strcmp(arg, "trace") != 0 && strcmp(arg, "priority") != 0) {
        argp_error(state, "'%s' is no method: expected priority or trace", arg);
    }
    options->throttle.method = strcmp(arg, "trace") == 0 ? WIO_HOLD_TRACE : WIO_HOLD_PRIORITY;
}

static uint64_t parse_count(const char *name, const char *arg, uint64_t most,
                            struct argp_state *state)
{
    uint64_t count = 0;
    if (wio_parse_u64(arg, &count) != WIO_OK || count == 0 || count > most) {
        argp_error(state, "--%s=%s: a whole number from 1 is expected", name, arg);
    }
    return count;
}

static void parse_target_error(struct record_options *options, const char *arg,
                               struct argp_state *state)
{
    double error = 0;
    if (wio_parse_double(arg, &error) != WIO_OK || !(error > 0)) {
        argp_error(state, "--target-error=%s: a positive number is expected, 0.06 is 6 %%", arg);
    }
    options->throttle.goal.target_error = error;
}

static void parse_compute(struct record_options *options, const char *arg, struct argp_state *state)
{
    bool is_think = strcmp(arg, "think") == 0;
    if (!is_think && strcmp(arg, "unblocked") != 0) {
        argp_error(state, "'%s' is no way to find computing: expected think or unblocked", arg);
    }
    options->throttle.compute = is_think ? WIO_COMPUTE_THINK : WIO_COMPUTE_UNBLOCKED;
}

static void parse_target_root(struct record_options *options, const char *arg,
                              struct argp_state *state)
{
    struct wio_throttle_params *throttle = &options->throttle;
    if (throttle->target_count == RECORD_TARGETS_MAX || arg[0] == '\0') {
        argp_error(state, "--target-root=%s: at most %d names of directories are expected", arg,
                   RECORD_TARGETS_MAX);
    }
    options->targets[throttle->target_count++].root = arg;
    throttle->targets = options->targets;
}

static double parse_seconds(const char *name, const char *arg, struct argp_state *state)
{
    uint64_t ns = 0;
    if (wio_parse_time(arg, &ns) != WIO_OK || ns == 0) {
        argp_error(state, "--%s=%s: a time is expected, like 30s or 10m", name, arg);
    }
    return (double)ns / NS_PER_S;
}

static void parse_target_time(struct record_options *options, const char *arg,
                              struct argp_state *state)
{
    uint32_t count = options->throttle.target_count;
    if (count == 0 || options->targets[count - 1].command_s > 0) {
        argp_error(state, "--target-time=%s: a --target-root is expected before each", arg);
    }
    options->targets[count - 1].command_s = parse_seconds("target-time", arg, state);
}

/* Options that make sense only with others. */
static void check(const struct record_options *options, struct argp_state *state)
{
    const struct wio_throttle_params *throttle = &options->throttle;
    bool is_trace = throttle->method == WIO_HOLD_TRACE;
    bool has_goal = throttle->goal.target_error > 0 || throttle->goal.budget_s > 0;
    if (options->is_throttle && options->record.trace_static) {
        argp_error(state, "--static=trace is not for --causal=throttle: no thread of a traced "
                          "program can be held");
    }
    if (!options->is_throttle && (is_trace || throttle->runs_max > 0 || throttle->hosts)) {
        argp_error(state, "--hosts, --method and --runs are for --causal=throttle");
    }
    if (!is_trace && (throttle->period > 0 || throttle->nodes != NULL ||
                      throttle->compute != WIO_COMPUTE_BY_PERIOD || has_goal)) {
        argp_error(state, "--period, --nodes, --compute, --target-error and --budget are for "
                          "--causal=throttle --method=trace");
    }
    if (throttle->target_count > 0 && !has_goal) {
        argp_error(state, "--target-root is for --target-error and --budget");
    }
    if (options->record.max_size != 0 && options->record.trace_static) {
        argp_error(state, "--static=trace does not go with --max-size: events of traced programs "
                          "have no bound");
    }
    if (options->has_keep && options->record.max_size == 0) {
        argp_error(state, "--keep is for --max-size");
    }
    if (options->is_throttle && options->record.max_size > 0) {
        argp_error(state, "--causal=throttle needs all events: it does not go with --max-size");
    }
    if (throttle->period > 0 && has_goal) {
        argp_error(state, "--period is chosen by --target-error and --budget: give one or the "
                          "other");
    }
}

static error_t parse_throttle(int key, char *arg, struct argp_state *state)
{
    struct record_options *options = state->input;
    switch (key) {
    case OPTION_HOSTS:
        options->throttle.hosts = true;
        options->throttle.host_names = arg;
        options->throttle.interface = wio_env_get(WIO_ENV_INTERFACE);
        return 0;
    case OPTION_METHOD:
        parse_method(options, arg, state);
        return 0;
    case OPTION_PERIOD:
        options->throttle.period = parse_count("period", arg, UINT32_MAX - 1, state);
        return 0;
    case OPTION_NODES:
        options->throttle.nodes = arg;
        return 0;
    case OPTION_RUNS:
        options->throttle.runs_max = (uint32_t)parse_count("runs", arg, UINT32_MAX - 1, state);
        return 0;
    case OPTION_TARGET_ERROR:
        parse_target_error(options, arg, state);
        return 0;
    case OPTION_COMPUTE:
        parse_compute(options, arg, state);
        return 0;
    case OPTION_TARGET_ROOT:
        parse_target_root(options, arg, state);
        return 0;
    case OPTION_TARGET_TIME:
        parse_target_time(options, arg, state);
        return 0;
    case OPTION_BUDGET:
        options->throttle.goal.budget_s = parse_seconds("budget", arg, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct record_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->common;
        return 0;
    case 'o':
        if (arg[0] == '\0') {
            argp_error(state, "-o: a name for the trace directory is expected");
        }
        options->record.dir = arg;
        return 0;
    case OPTION_FORCE:
        options->record.force = true;
        return 0;
    case OPTION_CAUSAL:
        parse_causal(options, arg, state);
        return 0;
    case OPTION_EDGES:
        parse_edges(options, arg, state);
        return 0;
    case OPTION_STACKS:
        parse_stacks(options, arg, state);
        return 0;
    case OPTION_STATIC:
        parse_static(options, arg, state);
        return 0;
    case OPTION_MPI_INTERNALS:
        options->record.mpi_internals = true;
        return 0;
    case OPTION_MMAP_PAGES:
        options->record.mmap_pages = true;
        return 0;
    case OPTION_ANONYMIZE:
        options->record.anonymize = true;
        return 0;
    case OPTION_MAX_SIZE:
        parse_max_size(options, arg, state);
        return 0;
    case OPTION_KEEP:
        parse_keep(options, arg, state);
        return 0;
    case ARGP_KEY_ARG: /* the first word that is no option, and all behind it, is the command */
        options->record.command = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a command to record is expected");
        return 0;
    case ARGP_KEY_END:
        check(options, state);
        return 0;
    default:
        return parse_throttle(key, arg, state);
    }
}

static const struct argp_child children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    argp_options,
    parse,
    "-- COMMAND [ARGUMENT...]",
    "Run COMMAND and record the I/O of all its processes and threads."
    "\vThe exit status is that of COMMAND (128 + signal if one ended it). Nothing is written to "
    "the standard output. Works in front of anything: a program, a script, mpirun; or behind "
    "mpirun, where all ranks may name the same DIR.",
    children,
    NULL,
    NULL};

int record_options_parse(int argc, char **argv, struct record_options *options_out)
{
    *options_out = (struct record_options){
        .record = {.struct_size = sizeof(options_out->record), .causal = true},
        .throttle = {.struct_size = sizeof(options_out->throttle)}};
    return cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, options_out);
}
