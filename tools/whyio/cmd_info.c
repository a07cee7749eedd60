/* SPDX-License-Identifier: Apache-2.0 */
/* whyio info: what a trace holds, from its index and one quick pass over its events. */
#include <stdio.h>

#include <whyio/source.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd.h"
#include "explain/digest/digest.h"
#include "explain/summary.h"
#include "handles.h"
#include "options.h"
#include "progress.h"
#include "report/info/info.h"

enum { OPTION_HISTOGRAMS = CMD_OPTION_FIRST, OPTION_TOP, OPTION_INDEX };

#define DEFAULT_ROWS 10u

struct args {
    struct cmd_trace_args trace;
    uint64_t rows;
    bool has_histograms;
    bool is_index_only;
};

static const struct argp_option options[] = {
    {"histograms", OPTION_HISTOGRAMS, NULL, 0,
     "Show how long and how large the operations were, as text, too", 0},
    {"top", OPTION_TOP, "N", 0,
     "Show the N operations of each kind, files and lines with the most time (default 10)", 0},
    {"index", OPTION_INDEX, NULL, 0,
     "Read no event: counts and sums alone, which takes no longer for a hundred million events "
     "than for ten",
     0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *args = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->trace;
        return 0;
    case OPTION_HISTOGRAMS:
        args->has_histograms = true;
        return 0;
    case OPTION_TOP:
        if (wio_parse_u64(arg, &args->rows) != WIO_OK || args->rows > UINT32_MAX) {
            argp_error(state, "--top: '%s' is no number", arg);
        }
        return 0;
    case OPTION_INDEX:
        args->is_index_only = true;
        return 0;
    case ARGP_KEY_END:
        if (args->is_index_only && args->has_histograms) {
            argp_error(state, "--histograms needs the events, which --index does not read");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&cmd_trace_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options,
                                 parse,
                                 "DIR",
                                 "Say what a trace holds: where its threads' time went, counts, "
                                 "bytes and times per operation, file and line, and what was not "
                                 "seen.",
                                 children,
                                 NULL,
                                 NULL};

static void summary_cleanup(struct wio_summary **summary)
{
    wio_summary_destroy(*summary);
}

static void digest_cleanup(struct wio_digest **digest)
{
    wio_digest_destroy(*digest);
}

static void sources_cleanup(struct wio_sources **sources)
{
    wio_sources_destroy(*sources);
}

/* Edges first: they correct the clocks of several hosts. */
static enum wio_status open_trace(const struct args *args, struct wio_trace **trace_out,
                                  struct wio_error *reason, struct wio_error *err)
{
    WIO_TRY(cmd_trace_open(args->trace.dir, &args->trace.common, trace_out, err));
    if (!args->is_index_only) {
        cmd_trace_join_observed(*trace_out, &args->trace.common, reason);
    }
    return WIO_OK;
}

/* What only the events tell. */
static enum wio_status read_events(const struct args *args, const struct wio_trace *trace,
                                   struct wio_digest **digest_out, struct wio_error *err)
{
    struct cmd_progress progress;
    const struct wio_digest_params params = {.struct_size = sizeof(params),
                                             .rows = (uint32_t)args->rows,
                                             .progress = cmd_progress_update,
                                             .progress_arg = &progress};
    enum wio_status status;

    if (args->is_index_only) {
        return WIO_OK;
    }
    cmd_progress_init(&progress, "counting", &args->trace.common);
    status = wio_digest_create(trace, &params, digest_out, err);
    cmd_progress_end(&progress);
    return status;
}

int cmd_info(int argc, char **argv)
{
    WIO_CLEANUP(cmd_trace_cleanup) struct wio_trace *trace = NULL;
    WIO_CLEANUP(summary_cleanup) struct wio_summary *summary = NULL;
    WIO_CLEANUP(digest_cleanup) struct wio_digest *digest = NULL;
    WIO_CLEANUP(sources_cleanup) struct wio_sources *sources = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_error reason = WIO_ERROR_INIT;
    struct args args = {.rows = DEFAULT_ROWS};

    int wrong = cmd_parse(&argp, argc, argv, 0, &args);
    if (wrong != 0) {
        return wrong;
    }
    cmd_expect_many_files();
    if (open_trace(&args, &trace, &reason, &err) != WIO_OK ||
        wio_summary_create(trace, &summary, &err) != WIO_OK ||
        read_events(&args, trace, &digest, &err) != WIO_OK ||
        wio_sources_create(trace, &sources, &err) != WIO_OK) {
        return cmd_fail(&err);
    }
    cmd_trace_tell_edges(trace, &reason);
    const struct wio_report_info report = {
        args.trace.dir, summary, digest, sources, args.has_histograms, (uint32_t)args.rows};
    if (args.trace.common.format == CMD_FORMAT_JSON) {
        wio_report_info_json(&report, stdout);
    } else {
        wio_report_info_text(&report, stdout);
    }
    return 0;
}
