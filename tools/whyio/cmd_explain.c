/* SPDX-License-Identifier: Apache-2.0 */
/* whyio explain: why a run took as long as it did, and what would change it. */
#include <stdio.h>

#include <whyio/source.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd.h"
#include "explain/explain.h"
#include "handles.h"
#include "options.h"
#include "progress.h"
#include "report/explanation/explain.h"
#include "report/transactions/transactions.h"
#include "transactions.h"

enum {
    OPTION_HOST = CMD_OPTION_FIRST,
    OPTION_GAINS,
    OPTION_ALL,
    OPTION_THRESHOLDS,
    OPTION_FAIL_OVER,
    OPTION_CLASSIC
};

#define DEFAULT_GAINS 5u

struct explain_args {
    struct cmd_options common;
    const char *dir;
    const char *host;
    const char *thresholds;
    uint64_t gains;
    double fail_over; /* percent; negative: not given */
    bool is_all;
    bool is_classic;
};

static const struct argp_option options[] = {
    {"host", OPTION_HOST, "HOST.json", 0, "The machine that gains are computed for", 0},
    {"gains", OPTION_GAINS, "N", 0, "Compute the gain of the first N findings (default 5)", 0},
    {"all", OPTION_ALL, NULL, 0, "Show findings below 1 % of the run, too, and all rows", 0},
    {"thresholds", OPTION_THRESHOLDS, "FILE", 0,
     "What findings compare with: lines \"name value\" (whyio-explain(1) lists them)", 0},
    {"fail-over", OPTION_FAIL_OVER, "PERCENT", 0,
     "Exit with status 1 if a finding costs more of the run", 0},
    {"classic", OPTION_CLASSIC, NULL, 0,
     "Of transactions: the tables of the classic analysis, by what was active, instead of blockers",
     0},
    {0},
};

static error_t parse_dir(struct explain_args *args, char *arg, struct argp_state *state)
{
    if (args->dir != NULL) {
        argp_error(state, "one trace directory is expected: '%s'", arg);
    }
    args->dir = arg;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct explain_args *args = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        return 0;
    case OPTION_HOST:
        args->host = arg;
        return 0;
    case OPTION_GAINS:
        if (wio_parse_u64(arg, &args->gains) != WIO_OK || args->gains > UINT32_MAX) {
            argp_error(state, "--gains: '%s' is no number", arg);
        }
        return 0;
    case OPTION_ALL:
        args->is_all = true;
        return 0;
    case OPTION_CLASSIC:
        args->is_classic = true;
        return 0;
    case OPTION_THRESHOLDS:
        args->thresholds = arg;
        return 0;
    case OPTION_FAIL_OVER:
        if (wio_parse_double(arg, &args->fail_over) != WIO_OK || !(args->fail_over >= 0)) {
            argp_error(state, "--fail-over: '%s' is no percentage", arg);
        }
        return 0;
    case ARGP_KEY_ARG:
        return parse_dir(args, arg, state);
    case ARGP_KEY_END:
        if (args->dir == NULL) {
            argp_error(state, "a trace directory is expected");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cmd_options_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options,
                                 parse,
                                 "DIR",
                                 "Say why a run took as long as it did: what is on its critical "
                                 "path, which lines of the program "
                                 "cost how much, and what would change it.",
                                 children,
                                 NULL,
                                 NULL};

static void explanation_cleanup(struct wio_explanation **explanation)
{
    wio_explanation_destroy(*explanation);
}

static void sources_cleanup(struct wio_sources **sources)
{
    wio_sources_destroy(*sources);
}

static enum wio_status explain(const struct explain_args *args, const struct wio_trace *trace,
                               struct wio_explanation **explanation_out, struct wio_error *err)
{
    struct cmd_progress progress;
    struct wio_explain_params params = {
        .struct_size = sizeof(params),
        .thresholds = wio_thresholds_default(),
        .gains = {.host = args->host, .count = (uint32_t)args->gains},
        .progress = cmd_progress_update,
        .progress_arg = &progress,
    };
    enum wio_status status;

    if (args->thresholds != NULL) {
        WIO_TRY(wio_thresholds_read(args->thresholds, &params.thresholds, err));
    }
    cmd_progress_init(&progress, "explaining", &args->common);
    status = wio_explain(trace, &params, explanation_out, err);
    cmd_progress_end(&progress);
    return status;
}

/* Without edges the critical path stays on one thread. Why there are none is left in *reason, which
 * is said when the rest of the trace could be read. */
static enum wio_status find_edges(const struct explain_args *args, struct wio_trace *trace,
                                  struct wio_error *reason, struct wio_error *err)
{
    enum wio_status status = cmd_trace_join(trace, &args->common, reason);

    if (status != WIO_OK && status != WIO_ERR_FORMAT) {
        *err = *reason;
        return status;
    }
    return WIO_OK;
}

/* Does a finding that names a cause cost more than --fail-over allows? */
static bool is_over(const struct wio_report_explain *how, const struct wio_explanation *explanation)
{
    for (uint32_t i = 0; i < explanation->findings.count; i++) {
        if (wio_report_is_over(&explanation->findings.items[i], how)) {
            return true;
        }
    }
    const struct wio_txn_findings *lost = wio_report_lost(how);
    for (uint32_t i = 0; lost != NULL && i < lost->count; i++) {
        if (wio_report_is_txn_over(&lost->items[i], how)) {
            return true;
        }
    }
    return false;
}

static void render(const struct explain_args *args, const struct wio_explanation *explanation,
                   const struct wio_report_explain *how)
{
    if (args->common.format == CMD_FORMAT_JSON) {
        wio_report_explain_json(explanation, how, stdout);
        return;
    }
    wio_report_explain_text(explanation, how, stdout);
    if (how->transactions != NULL && args->is_classic) {
        wio_report_classic_text(how->transactions->aborts, args->is_all, stdout);
    } else if (how->transactions != NULL) {
        wio_report_transactions_text(how->transactions, args->is_all, stdout);
    }
}

int cmd_explain(int argc, char **argv)
{
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *trace = NULL;
    WIO_CLEANUP(explanation_cleanup) struct wio_explanation *explanation = NULL;
    WIO_CLEANUP(sources_cleanup) struct wio_sources *sources = NULL;
    WIO_CLEANUP(cmd_transactions_fini) struct cmd_transactions transactions = {0};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_error reason = WIO_ERROR_INIT;
    struct explain_args args = {.gains = DEFAULT_GAINS, .fail_over = -1};
    struct wio_report_explain how;

    const int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    if (cmd_trace_open(args.dir, &args.common, &trace, &err) != WIO_OK ||
        find_edges(&args, trace, &reason, &err) != WIO_OK ||
        explain(&args, trace, &explanation, &err) != WIO_OK ||
        cmd_transactions_find(trace, &transactions, &err) != WIO_OK ||
        wio_sources_create(trace, &sources, &err) != WIO_OK) {
        return cmd_fail(&err);
    }
    if (reason.status != WIO_OK && !args.common.quiet) {
        cmd_say("waits are not followed: %s", reason.message);
    }
    const struct wio_report_transactions found = {transactions.aborts, &transactions.candidates,
                                                  &transactions.lost, &transactions.tables};
    how = (struct wio_report_explain){args.dir, args.is_all, sources, args.fail_over,
                                      transactions.aborts == NULL ? NULL : &found};
    if (args.is_classic && how.transactions == NULL) {
        cmd_say("there are no transactions in this trace");
    }
    render(&args, explanation, &how);
    return is_over(&how, explanation) ? 1 : 0;
}
