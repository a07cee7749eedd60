/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/missing.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "ops/unseen.h"
#include "trace/txn/txn.h"

#define UNSEEN_SHOWN 3u

void wio_explanation_note(struct wio_explanation *explanation, const char *fmt, ...)
{
    va_list args;

    if (explanation->note_count == WIO_NOTES) {
        return;
    }
    va_start(args, fmt);
    (void)vsnprintf(explanation->notes[explanation->note_count++], sizeof(explanation->notes[0]),
                    fmt, args);
    va_end(args);
}

static bool has_sources(const struct wio_explanation *explanation)
{
    return explanation->steps.places.frames.count > 0;
}

/* Events that were lost are no evidence of what waited for what (edges/edges.h). */
static void see_edges(struct wio_explanation *explanation)
{
    if (explanation->has_edges || wio_trace_stream_count(explanation->trace) < 2) {
        return;
    }
    if (explanation->info.dropped > 0) {
        wio_explanation_note(explanation, "events were dropped, so waiting is not traced to other "
                                          "threads: nothing tells what was waited for");
        return;
    }
    wio_explanation_note(explanation, "no edges between threads are known: waiting is not traced "
                                      "to other threads; record with --causal=observe");
}

static uint64_t times_unseen(const struct wio_trace *trace, uint32_t kind)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < wio_trace_process_count(trace); i++) {
        const struct wio_process_info *process = wio_trace_process(trace, i);
        sum += kind < process->unseen_count ? process->unseen[kind] : 0;
    }
    return sum;
}

/* The first kinds with what makes them seen; `whyio info` has all. */
static void see_unseen(struct wio_explanation *explanation)
{
    unsigned shown = 0;

    for (uint32_t kind = 0; kind < WIO_UNSEEN_COUNT && shown < UNSEEN_SHOWN; kind++) {
        uint64_t times = times_unseen(explanation->trace, kind);
        if (times > 0) {
            wio_explanation_note(
                explanation,
                "not seen, %" PRIu64 " time%s: %s; its time counts as computing or "
                "waiting; remedy: %s",
                times, times == 1 ? "" : "s", wio_unseen_text(kind), wio_unseen_remedy(kind));
            shown++;
        }
    }
}

static void see_dropped(struct wio_explanation *explanation)
{
    const struct wio_trace_info *info = &explanation->info;

    if (info->evicted > 0) {
        wio_explanation_note(explanation,
                             "%" PRIu64 " events from the begin of the run were overwritten "
                             "(record --keep=last): every figure is of what came behind them",
                             info->evicted);
    }
    if (info->dropped > info->evicted && info->max_bytes > 0 && !info->keeps_last) {
        wio_explanation_note(explanation,
                             "the first events alone were kept (record --max-size): what came "
                             "behind them is in no figure");
    } else if (info->dropped > info->evicted) {
        wio_explanation_note(explanation,
                             "events were dropped: their time counts as computing; record where "
                             "there is room for them (WHYIO_RING_DIR)");
    }
}

/* Recorded by its environment alone, and nothing else is missing. */
static bool has_no_recorder(const struct wio_trace_info *info)
{
    return !info->ended && info->command[0] == '\0' && info->dropped == 0;
}

void wio_explanation_see_missing(struct wio_explanation *explanation)
{
    const struct wio_trace_info *info = &explanation->info;

    if (info->events == 0 && wio_trace_has_transactions(explanation->trace)) {
        return; /* of a store's servers, which have no other events */
    }
    if (info->events == 0) {
        wio_explanation_note(explanation,
                             "the trace holds no event: nothing was recorded (static or "
                             "set-user-id programs cannot be; `whyio info` says what was unseen)");
        see_unseen(explanation);
        return;
    }
    see_edges(explanation);
    if (!has_sources(explanation)) {
        wio_explanation_note(explanation,
                             "the trace has no sources: findings name files and operations, no "
                             "lines; `whyio record` notes them, an imported trace may have none");
    }
    if (info->live) {
        wio_explanation_note(explanation,
                             "the trace is still being recorded: this is what there is by now");
    } else if (has_no_recorder(info)) {
        wio_explanation_note(explanation,
                             "no recorder waited for the end of all processes (WHYIO_TRACE): those "
                             "that began later are in no figure");
    } else if (!info->complete) {
        wio_explanation_note(explanation,
                             "the trace is incomplete: what was lost is in no figure; `whyio info` "
                             "says what is missing");
    }
    see_dropped(explanation);
    see_unseen(explanation);
}
