/* SPDX-License-Identifier: Apache-2.0 */
/* whyio compare: two traces side by side. */
#include <stdio.h>

#include <whyio/source.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd.h"
#include "explain/compare/compare.h"
#include "explain/explain.h"
#include "handles.h"
#include "options.h"
#include "progress.h"
#include "report/compare/compare.h"
#include "transactions.h"

enum { OPTION_TOP = CMD_OPTION_FIRST, OPTION_ROOT_A, OPTION_ROOT_B, OPTION_FAIL_OVER };

#define DEFAULT_TOP 10u

struct compare_args {
    struct cmd_options common;
    const char *dirs[2];
    const char *roots[2];
    uint64_t top;
    double fail_over; /* percent; negative: not given */
};

static const struct argp_option options[] = {
    {"top", OPTION_TOP, "N", 0, "Text: show the first N rows of each table, 0 = all (default 10)",
     0},
    {"root-a", OPTION_ROOT_A, "DIR", 0, "Take DIR off the paths of the first trace", 0},
    {"root-b", OPTION_ROOT_B, "DIR", 0,
     "Take DIR off the paths of the second trace: the target of a replay", 0},
    {"fail-over", OPTION_FAIL_OVER, "PERCENT", 0,
     "Exit with status 1 if a cause costs more than so much of the first run more than there", 0},
    {0},
};

static error_t parse_argument(struct compare_args *args, char *arg, struct argp_state *state)
{
    unsigned at = args->dirs[0] == NULL ? 0 : 1;

    if (args->dirs[at] != NULL) {
        argp_error(state, "two trace directories are expected: '%s'", arg);
    }
    args->dirs[at] = arg;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct compare_args *args = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->common;
        return 0;
    case OPTION_TOP:
        if (wio_parse_u64(arg, &args->top) != WIO_OK) {
            argp_error(state, "--top: '%s' is no number", arg);
        }
        return 0;
    case OPTION_ROOT_A:
        args->roots[0] = arg;
        return 0;
    case OPTION_ROOT_B:
        args->roots[1] = arg;
        return 0;
    case OPTION_FAIL_OVER:
        if (wio_parse_double(arg, &args->fail_over) != WIO_OK || !(args->fail_over >= 0)) {
            argp_error(state, "--fail-over: '%s' is no percentage", arg);
        }
        return 0;
    case ARGP_KEY_ARG:
        return parse_argument(args, arg, state);
    case ARGP_KEY_END:
        if (args->dirs[1] == NULL) {
            argp_error(state, "two trace directories are expected");
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
    "DIR DIR",
    "Compare two traces: which causes made which of them slower, and per operation, file, rank and "
    "phase count, bytes and time of both, and the ratio of the times.",
    children,
    NULL,
    NULL};

/* ---- one of the two ---- */

/* Zero-initialise; release with side_fini. */
struct compared_trace {
    struct wio_trace *trace;
    struct wio_explanation *explanation;
    struct wio_sources *sources;
    struct cmd_transactions transactions;
};

static void side_fini(struct compared_trace *side)
{
    cmd_transactions_fini(&side->transactions);
    wio_sources_destroy(side->sources);
    wio_explanation_destroy(side->explanation);
    wio_trace_close(side->trace);
}

/* Edges that cannot be found leave the critical path on one thread. */
static enum wio_status explain(const struct compare_args *args, struct compared_trace *side,
                               struct wio_error *err)
{
    struct cmd_progress progress;
    struct wio_error reason = WIO_ERROR_INIT;
    const struct wio_explain_params params = {
        .struct_size = sizeof(params),
        .thresholds = wio_thresholds_default(),
        .progress = cmd_progress_update,
        .progress_arg = &progress,
    };

    enum wio_status status = cmd_trace_join(side->trace, &args->common, &reason);
    if (status != WIO_OK && status != WIO_ERR_FORMAT) {
        *err = reason;
        return status;
    }
    cmd_progress_init(&progress, "explaining", &args->common);
    status = wio_explain(side->trace, &params, &side->explanation, err);
    cmd_progress_end(&progress);
    WIO_TRY(status);
    WIO_TRY(cmd_transactions_find(side->trace, &side->transactions, err));
    return wio_sources_create(side->trace, &side->sources, err);
}

/* ---- both ---- */

static enum wio_status compare(const struct compare_args *args, const struct compared_trace *a,
                               const struct compared_trace *b,
                               struct wio_comparison **comparison_out, struct wio_error *err)
{
    struct cmd_progress progress;
    struct wio_compare_params params = {
        .struct_size = sizeof(params),
        .root_a = args->roots[0],
        .root_b = args->roots[1],
        .progress = cmd_progress_update,
        .progress_arg = &progress,
    };

    cmd_progress_init(&progress, "comparing", &args->common);
    enum wio_status status = wio_compare(a->trace, b->trace, &params, comparison_out, err);
    cmd_progress_end(&progress);
    return status;
}

static void causes_cleanup(struct wio_report_causes *causes)
{
    wio_causes_fini(&causes->causes);
}

static void txn_runs_cleanup(struct wio_report_txn_runs *runs)
{
    wio_txn_changes_fini(&runs->changes);
}

static struct wio_txn_side txn_side_of(const struct compared_trace *side)
{
    return (struct wio_txn_side){side->transactions.aborts, &side->transactions.lost};
}

/* .. of transactions? */
static bool is_txn_over(const struct compare_args *args, const struct wio_report_txn_runs *runs)
{
    double allowed_s =
        runs->a.aborts == NULL ? 0 : args->fail_over / 100 * runs->a.lost->duration_s;

    for (uint32_t i = 0; args->fail_over >= 0 && i < runs->changes.count; i++) {
        const struct wio_txn_change *change = &runs->changes.items[i];
        if (change->b != WIO_NO_TXN_FINDING &&
            !wio_loss_words(runs->b.lost->items[change->b].loss)->is_general &&
            change->b_s - change->a_s > allowed_s) {
            return true;
        }
    }
    return false;
}

/* Does a finding that names a cause cost so much more in b? */
static bool is_over(const struct compare_args *args, const struct wio_report_causes *causes)
{
    double allowed_s = args->fail_over / 100 * (double)causes->a.explanation->duration_ns / 1e9;

    for (uint32_t i = 0; args->fail_over >= 0 && i < causes->causes.count; i++) {
        const struct wio_cause *cause = &causes->causes.items[i];
        if (cause->rest == WIO_CAUSE_FINDING && cause->b != WIO_NO_FINDING &&
            !causes->b.explanation->findings.items[cause->b].is_general &&
            cause->b_s - cause->a_s > allowed_s) {
            return true;
        }
    }
    return false;
}

static enum wio_status show(const struct compare_args *args, struct compared_trace *a,
                            struct compared_trace *b, bool *is_over_out, struct wio_error *err)
{
    WIO_CLEANUP(cmd_comparison_cleanup) struct wio_comparison *comparison = NULL;
    WIO_CLEANUP(causes_cleanup) struct wio_report_causes causes = {0};
    WIO_CLEANUP(txn_runs_cleanup) struct wio_report_txn_runs runs = {0};

    WIO_TRY(cmd_trace_open(args->dirs[0], &args->common, &a->trace, err));
    WIO_TRY(cmd_trace_open(args->dirs[1], &args->common, &b->trace, err));
    WIO_TRY(compare(args, a, b, &comparison, err));
    WIO_TRY(explain(args, a, err));
    WIO_TRY(explain(args, b, err));
    causes.a = (struct wio_report_run){a->explanation, a->sources, args->roots[0]};
    causes.b = (struct wio_report_run){b->explanation, b->sources, args->roots[1]};
    if (wio_report_causes_find(&causes) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    runs.a = txn_side_of(a);
    runs.b = txn_side_of(b);
    if (wio_txn_compare_runs(&runs.a, &runs.b, &runs.changes) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    *is_over_out = is_over(args, &causes) || is_txn_over(args, &runs);
    const struct wio_compare_names names = {args->dirs[0], args->dirs[1], &causes, &runs,
                                            (size_t)args->top};
    if (args->common.format == CMD_FORMAT_JSON) {
        wio_report_compare_json(comparison, &names, stdout);
    } else {
        wio_report_compare_text(comparison, &names, stdout);
    }
    return WIO_OK;
}

int cmd_compare(int argc, char **argv)
{
    WIO_CLEANUP(side_fini) struct compared_trace a = {0};
    WIO_CLEANUP(side_fini) struct compared_trace b = {0};
    struct wio_error err = WIO_ERROR_INIT;
    struct compare_args args = {.top = DEFAULT_TOP, .fail_over = -1};
    bool is_too_much = false;

    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    if (show(&args, &a, &b, &is_too_much, &err) != WIO_OK) {
        return cmd_fail(&err);
    }
    return is_too_much ? 1 : 0;
}
