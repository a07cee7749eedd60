/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of whyio predict. */
#include "predict_options.h"

#include <argp.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "machine/host.h"

enum {
    OPTION_OPS = CMD_OPTION_FIRST,
    OPTION_HOST,
    OPTION_MODEL,
    OPTION_PER_OP,
    OPTION_RANKS,
    OPTION_CPUS,
    OPTION_LIMIT_BG,
    OPTION_LIMIT_HARD,
    OPTION_SYNC,
    OPTION_DIRECT,
    OPTION_BF,
    OPTION_BS,
    OPTION_FSYNC_EVERY,
    OPTION_AGGREGATE,
    OPTION_COLLECTIVE,
    OPTION_MERGE_FILES,
    OPTION_BALANCE,
    OPTION_NO_POLLING,
    OPTION_SORT,
    OPTION_READ_MAPS,
    OPTION_SET,
    OPTION_STORE_POLICY,
    OPTION_MEMORY,
    OPTION_STEPS
};

static const struct argp_option options[] = {
    {"ops", OPTION_OPS, "FILE", 0, "The operations, one JSON object a line; - is standard input",
     0},
    {"host", OPTION_HOST, "[NAME=]HOST.json", 0,
     "The machine, as whyio calibrate describes it; with NAME= that of one host of the trace, else "
     "that of all others",
     0},
    {"model", OPTION_MODEL, "MODEL", 0,
     "kernel (what Linux does, default), cawl (the paper) or naive (size / bandwidth)", 0},
    {"per-op", OPTION_PER_OP, NULL, 0, "Print every operation too, before the summary", 0},
    {"output", 'o', "DIR", 0, "Write the prediction of a trace as a trace of its own", 0},
    {"scale-ranks", OPTION_RANKS, "N", 0,
     "What if the job of a trace had N ranks, a multiple of what it has", 0},
    {"cpus", OPTION_CPUS, "N", 0, "What if each host of a trace had N processors", 0},
    {"limit-bg", OPTION_LIMIT_BG, "SIZE", 0, "What if write-back began at SIZE of dirty data", 0},
    {"limit-hard", OPTION_LIMIT_HARD, "SIZE", 0, "What if the limit of dirty data were SIZE", 0},
    {"sync", OPTION_SYNC, "on|off", 0,
     "What if every write but those of stdio were synchronous, or none", 0},
    {"direct", OPTION_DIRECT, "on|off", 0,
     "What if every write but those of stdio were O_DIRECT, or none", 0},
    {"bf", OPTION_BF, "SIZE", 0, "What if stdio's buffers had SIZE", 0},
    {"bs", OPTION_BS, "SIZE", 0, "What if the file system's blocks had SIZE", 0},
    {"fsync-every", OPTION_FSYNC_EVERY, "N", 0,
     "What if of each file only every N-th fsync were made, and the last before its close or "
     "before "
     "another process reads it",
     0},
    {"aggregate", OPTION_AGGREGATE, "SIZE", 0,
     "What if adjacent writes (reads) of a thread and file were one of up to SIZE", 0},
    {"collective", OPTION_COLLECTIVE, "on|off", 0,
     "What if between two collectives one rank per host performed contiguous parts of shared files",
     0},
    {"merge-files", OPTION_MERGE_FILES, "SIZE", OPTION_ARG_OPTIONAL,
     "What if the files of a directory were one: open, close, stat once, and with SIZE transfers "
     "of up to so much",
     0},
    {"balance", OPTION_BALANCE, NULL, 0,
     "What if the bytes between two collectives were split evenly over the ranks", 0},
    {"no-polling", OPTION_NO_POLLING, NULL, 0,
     "What if threads that look for a file again and again went on when it is there", 0},
    {"sort", OPTION_SORT, "SIZE", 0,
     "What if transfers of a thread and file were made by offset, those together as one of up to "
     "SIZE",
     0},
    {"read-maps", OPTION_READ_MAPS, "SIZE", 0,
     "What if mapped files were read in requests of SIZE, and there were no page faults", 0},
    {"set", OPTION_SET, "KEY=VALUE,..", 0,
     "A prediction for each VALUE of a number of HOST.json, one row each", 0},
    {"store-policy", OPTION_STORE_POLICY, "NAME", 0,
     "Order and refusal of requests at a store of HOST.json: credit (default), drr, tbf, mclock, "
     "hint, hint-heap or fifo",
     0},
    {"max-memory", OPTION_MEMORY, "SIZE", 0,
     "Simulate no more than fits into SIZE of memory (default 4G)", 0},
    {"max-steps", OPTION_STEPS, "N", 0,
     "Simulate at most N steps (default 4294967296, and 4096 for each event)", 0},
    {0},
};

static void parse_size(const char *name, const char *text, double *out, struct argp_state *state)
{
    uint64_t bytes;
    if (wio_parse_size(text, &bytes) != WIO_OK) {
        argp_error(state, "--%s: '%s' is no size (4096, 4K, 1M, 2G)", name, text);
        return;
    }
    *out = (double)bytes;
}

/* NAME=FILE; a '=' behind a '/' belongs to the file. */
static void parse_host(struct predict_options *args, char *text, struct argp_state *state)
{
    size_t length = strcspn(text, "=/");
    size_t count = args->params.named_host_count;
    if (text[length] != '=') {
        args->params.host = text;
        return;
    }
    if (length == 0 || text[length + 1] == '\0' || count == PREDICT_HOSTS_MAX) {
        argp_error(state, "--host: expected HOST.json or NAME=HOST.json, not '%s'", text);
        return;
    }
    text[length] = '\0';
    args->hosts[count] = (struct wio_predict_host){.name = text, .file = text + length + 1};
    args->params.named_hosts = args->hosts;
    args->params.named_host_count++;
}

static void parse_force(const char *name, const char *text, enum wio_predict_force *out,
                        struct argp_state *state)
{
    bool is_on = strcmp(text, "on") == 0;
    if (!is_on && strcmp(text, "off") != 0) {
        argp_error(state, "--%s: expected on or off, not '%s'", name, text);
    }
    *out = is_on ? WIO_PREDICT_ON : WIO_PREDICT_OFF;
}

static void parse_model(struct predict_options *args, const char *text, struct argp_state *state)
{
    args->params.model = wio_model_find(text);
    if (args->params.model == WIO_MODEL_KIND_COUNT) {
        argp_error(state, "--model: expected kernel, cawl or naive, not '%s'", text);
    }
}

static void parse_store_policy(struct predict_options *args, const char *text,
                               struct argp_state *state)
{
    args->params.store_policy = wio_admit_kind_find(text);
    if (args->params.store_policy == WIO_ADMIT_KIND_COUNT) {
        argp_error(state,
                   "--store-policy=%s: expected credit, drr, tbf, mclock, hint, hint-heap or fifo",
                   text);
    }
}

static void parse_ranks(struct predict_options *args, const char *text, struct argp_state *state)
{
    uint64_t ranks;
    if (wio_parse_u64(text, &ranks) != WIO_OK || ranks == 0 || ranks > INT32_MAX) {
        argp_error(state, "--scale-ranks: '%s' is no number of ranks", text);
        return;
    }
    args->params.whatif.ranks = (uint32_t)ranks;
}

static void parse_cpus(struct predict_options *args, const char *text, struct argp_state *state)
{
    uint64_t cpus;
    if (wio_parse_u64(text, &cpus) != WIO_OK || cpus == 0 || cpus > WIO_HOST_CPUS_MAX) {
        argp_error(state, "--cpus: '%s' is no number of processors", text);
        return;
    }
    args->params.whatif.cpus = (uint32_t)cpus;
}

static void parse_count(const char *name, const char *text, uint64_t *out, struct argp_state *state)
{
    if (wio_parse_u64(text, out) != WIO_OK || *out == 0) {
        argp_error(state, "--%s: '%s' is no number from 1 on", name, text);
    }
}

static void parse_memory(struct predict_options *args, const char *text, struct argp_state *state)
{
    if (wio_parse_size(text, &args->params.memory_max) != WIO_OK || args->params.memory_max == 0) {
        argp_error(state, "--max-memory: '%s' is no size (4096, 4K, 1M, 2G)", text);
    }
}

/* ---- changes of the program ---- */

static void add_change(struct predict_options *args, enum wio_change_kind kind, uint64_t amount,
                       struct argp_state *state)
{
    size_t count = args->params.change_count;
    if (count == PREDICT_CHANGES_MAX) {
        argp_error(state, "at most %d changes are expected", PREDICT_CHANGES_MAX);
        return;
    }
    args->changes[count] = (struct wio_change){.kind = kind, .amount = amount};
    args->params.changes = args->changes;
    args->params.change_count++;
}

/* Of a change that makes requests of up to a size. */
static void parse_requests(struct predict_options *args, enum wio_change_kind kind,
                           const char *text, struct argp_state *state)
{
    uint64_t bytes;
    if (wio_parse_size(text, &bytes) != WIO_OK || bytes == 0 || bytes > WIO_MODEL_SIZE_MAX) {
        argp_error(state, "--%s: '%s' is no size from 1 to 1T", wio_change_name(kind), text);
        return;
    }
    add_change(args, kind, bytes, state);
}

static void parse_collective(struct predict_options *args, const char *text,
                             struct argp_state *state)
{
    enum wio_predict_force force = WIO_PREDICT_AS_IS;
    parse_force("collective", text, &force, state);
    if (force == WIO_PREDICT_ON) {
        add_change(args, WIO_CHANGE_COLLECTIVE, 0, state);
    }
}

static error_t parse_change(int key, const char *arg, struct predict_options *args,
                            struct argp_state *state)
{
    uint64_t amount = 1;
    switch (key) {
    case OPTION_FSYNC_EVERY:
        parse_count("fsync-every", arg, &amount, state);
        add_change(args, WIO_CHANGE_FSYNC_EVERY, amount, state);
        return 0;
    case OPTION_AGGREGATE:
        parse_requests(args, WIO_CHANGE_AGGREGATE, arg, state);
        return 0;
    case OPTION_SORT:
        parse_requests(args, WIO_CHANGE_SORT, arg, state);
        return 0;
    case OPTION_READ_MAPS:
        parse_requests(args, WIO_CHANGE_READ_MAPS, arg, state);
        return 0;
    case OPTION_NO_POLLING:
        add_change(args, WIO_CHANGE_NO_POLLING, 0, state);
        return 0;
    case OPTION_COLLECTIVE:
        parse_collective(args, arg, state);
        return 0;
    case OPTION_MERGE_FILES:
        if (arg != NULL) {
            parse_requests(args, WIO_CHANGE_MERGE_FILES, arg, state);
        } else {
            add_change(args, WIO_CHANGE_MERGE_FILES, 0, state);
        }
        return 0;
    case OPTION_BALANCE:
        add_change(args, WIO_CHANGE_BALANCE, 0, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- a table ---- */

bool predict_options_value(const char *text, double *out)
{
    uint64_t bytes;
    if (wio_parse_double(text, out) == WIO_OK) {
        return true;
    }
    if (wio_parse_size(text, &bytes) != WIO_OK) {
        return false;
    }
    *out = (double)bytes;
    return true;
}

/* KEY=V1,V2: the text is cut into pieces. */
static void parse_set(struct predict_options *args, char *text, struct argp_state *state)
{
    char *value = strchr(text, '=');
    char *rest = NULL;
    double ignored;
    if (value == NULL || value == text || args->value_count > 0) {
        argp_error(state, "--set: expected KEY=VALUE,.. once, not '%s'", text);
        return;
    }
    *value++ = '\0';
    args->params.whatif.key = text;
    for (char *word = strtok_r(value, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        if (args->value_count == PREDICT_VALUES_MAX || !predict_options_value(word, &ignored)) {
            argp_error(state, "--set: '%s' is no number (1e9, 4K, 64M), or one too many", word);
            return;
        }
        args->values[args->value_count++] = word;
    }
    if (args->value_count == 0) {
        argp_error(state, "--set: expected values behind '%s='", text);
    }
}

/* ---- what fits together ---- */

static void check_changes(const struct predict_options *args, struct argp_state *state)
{
    bool is_changed = args->params.change_count > 0;
    if (args->ops != NULL && is_changed) {
        argp_error(state, "--%s is for traces", wio_change_name(args->changes[0].kind));
    }
    if (args->out != NULL && (is_changed || args->dir_count > 1 || args->value_count > 0)) {
        argp_error(state, "-o is for one trace, without --set and changes of its operations");
    }
    if (args->per_op && args->value_count > 0) {
        argp_error(state, "--per-op and --set do not go together");
    }
    if (args->ops != NULL && strcmp(args->ops, "-") == 0 && args->value_count > 1) {
        argp_error(state, "--set: standard input can be read only once");
    }
}

static void check(const struct predict_options *args, struct argp_state *state)
{
    bool is_scaled = args->params.whatif.ranks > 0;
    check_changes(args, state);
    if ((args->ops == NULL) == (args->dir_count == 0)) {
        argp_error(state, "either trace directories or --ops=FILE is expected");
    }
    if (args->ops != NULL && (args->out != NULL || is_scaled)) {
        argp_error(state, "-o and --scale-ranks are for traces");
    }
    if (args->ops != NULL && args->params.whatif.cpus > 0) {
        argp_error(state, "--cpus is for traces");
    }
    if (args->out != NULL && is_scaled) {
        argp_error(state, "-o cannot write ranks that the trace does not have");
    }
    if (args->ops != NULL && args->params.named_host_count > 0) {
        argp_error(state, "a list has no hosts: --host=HOST.json is expected");
    }
    if (args->params.host == NULL && args->params.named_host_count == 0) {
        argp_error(state, "--host=HOST.json is expected");
    }
}

static error_t parse_whatif(int key, const char *arg, struct wio_predict_whatif *whatif,
                            struct argp_state *state)
{
    switch (key) {
    case OPTION_LIMIT_BG:
        parse_size("limit-bg", arg, &whatif->limit_bg, state);
        return 0;
    case OPTION_LIMIT_HARD:
        parse_size("limit-hard", arg, &whatif->limit_hard, state);
        return 0;
    case OPTION_SYNC:
        parse_force("sync", arg, &whatif->sync, state);
        return 0;
    case OPTION_DIRECT:
        parse_force("direct", arg, &whatif->direct, state);
        return 0;
    case OPTION_BF:
        parse_size("bf", arg, &whatif->bf, state);
        return 0;
    case OPTION_BS:
        parse_size("bs", arg, &whatif->bs, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct predict_options *args = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        return 0;
    case OPTION_OPS:
        args->ops = arg;
        return 0;
    case OPTION_HOST:
        parse_host(args, arg, state);
        return 0;
    case OPTION_MODEL:
        parse_model(args, arg, state);
        return 0;
    case OPTION_STORE_POLICY:
        parse_store_policy(args, arg, state);
        return 0;
    case 'o':
        args->out = arg;
        return 0;
    case OPTION_CPUS:
        parse_cpus(args, arg, state);
        return 0;
    case OPTION_RANKS:
        parse_ranks(args, arg, state);
        return 0;
    case OPTION_MEMORY:
        parse_memory(args, arg, state);
        return 0;
    case OPTION_STEPS:
        parse_count("max-steps", arg, &args->params.steps_max, state);
        return 0;
    case OPTION_SET:
        parse_set(args, arg, state);
        return 0;
    case OPTION_PER_OP:
        args->per_op = true;
        return 0;
    case ARGP_KEY_ARG:
        if (args->dir_count == PREDICT_DIRS_MAX) {
            argp_error(state, "at most %d trace directories are expected", PREDICT_DIRS_MAX);
            return 0;
        }
        args->dirs[args->dir_count++] = arg;
        return 0;
    case ARGP_KEY_END:
        check(args, state);
        return 0;
    default:
        return parse_change(key, arg, args, state) == 0
                   ? 0
                   : parse_whatif(key, arg, &args->params.whatif, state);
    }
}

static const struct argp_child children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "DIR.. --host=HOST.json\n--ops=FILE --host=HOST.json",
    "Compute what the I/O of a trace, or of a list of operations, would cost on a machine that is "
    "described but need not be there.",
    children,
    NULL,
    NULL};

int predict_options_parse(int argc, char **argv, struct predict_options *args)
{
    return cmd_parse(&argp, argc, argv, 0, args);
}
