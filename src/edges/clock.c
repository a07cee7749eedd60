/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of several hosts, from the messages between them: one pass over the events before the
 * one that finds edges, which needs the order of time to be right. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "causal/clock/clock.h"
#include "edges/edges_internal.h"

static enum wio_status add_message(void *context, const struct wio_clock_message *message)
{
    return wio_clock_sync_add(context, message);
}

static const char *host_name(const struct wio_trace *trace, const struct wio_join_tables *tables,
                             uint32_t host)
{
    for (uint32_t i = 0; i < wio_trace_process_count(trace); i++) {
        if (tables->processes[i].host == host) {
            return wio_trace_process(trace, i)->host;
        }
    }
    return "";
}

/* The earliest event of each host, corrected: none may come before the start of the trace. */
static int64_t earliest(const struct wio_trace *trace, const struct wio_join_tables *tables,
                        const struct wio_clock_row *rows)
{
    int64_t least = 0;
    for (uint32_t i = 0; i < wio_trace_process_count(trace); i++) {
        const struct wio_clock_row *row = &rows[tables->processes[i].host];
        uint64_t start_ns = wio_trace_process(trace, i)->start_ns;
        double corrected = (double)start_ns + (double)start_ns * (double)row->rate * 0x1p-40 +
                           (double)row->offset_ns;
        least = corrected < (double)least ? (int64_t)floor(corrected) : least;
    }
    return least;
}

static void fill_rows(const struct wio_trace *trace, const struct wio_join_tables *tables,
                      const struct wio_clock_correction *corrections, struct wio_clock_row *rows)
{
    for (uint32_t host = 0; host < tables->hosts; host++) {
        const struct wio_clock_correction *from = &corrections[host];
        bool is_known = isfinite(from->uncertainty_ns) && from->uncertainty_ns < 1e18;
        rows[host] = (struct wio_clock_row){
            .host = host_name(trace, tables, host),
            .offset_ns = llround(from->offset_ns),
            .rate = llround(from->rate * 0x1p40),
            .uncertainty_ns = is_known ? (uint64_t)from->uncertainty_ns : UINT64_MAX,
        };
    }
    int64_t shift = earliest(trace, tables, rows);
    for (uint32_t host = 0; host < tables->hosts; host++) {
        rows[host].offset_ns -= shift;
    }
}

/* A clock that was set while the program ran cannot be corrected by an offset and a rate. */
static void describe_faults(const struct wio_clock_correction *corrections,
                            const struct wio_clock_row *rows, uint32_t hosts,
                            char note[WIO_JOIN_NOTE_BYTES])
{
    uint32_t faults = 0;
    const char *first = "";
    for (uint32_t host = hosts; host > 0; host--) {
        if (!corrections[host - 1].is_consistent) {
            first = rows[host - 1].host;
            faults++;
        }
    }
    note[0] = '\0';
    if (faults > 0) {
        (void)snprintf(note, WIO_JOIN_NOTE_BYTES,
                       "messages contradict each other about the clocks of %" PRIu32
                       " hosts (%.64s ..): one of them was set or changed its rate, and some "
                       "messages arrive before they were sent",
                       faults, first);
    }
}

static enum wio_status solve(const struct wio_trace *trace, const struct wio_join_tables *tables,
                             struct wio_clock_sync *sync, struct wio_clock_row *rows,
                             char note[WIO_JOIN_NOTE_BYTES])
{
    struct wio_clock_correction *corrections = calloc(tables->hosts, sizeof(*corrections));
    if (corrections == NULL) {
        return WIO_ERR_NOMEM;
    }
    enum wio_status status = wio_clock_sync_solve(sync, corrections);
    if (status == WIO_OK) {
        fill_rows(trace, tables, corrections, rows);
        describe_faults(corrections, rows, tables->hosts, note);
    }
    free(corrections);
    return status;
}

enum wio_status wio_join_clocks(const struct wio_trace *trace, const struct wio_join_params *params,
                                struct wio_join_tables *tables, struct wio_clock_row *rows,
                                char note[WIO_JOIN_NOTE_BYTES], struct wio_error *err)
{
    static const struct wio_alloc heap = {wio_alloc_heap_get, wio_alloc_heap_put, NULL};
    struct wio_clock_sync *sync = NULL;
    struct wio_join_result result = {0};
    wio_edges_init(&result.edges, &heap, wio_trace_stream_count(trace));
    enum wio_status status = wio_clock_sync_create(&heap, tables->hosts, &sync);
    if (status == WIO_OK) {
        const struct wio_join_watch watch = {add_message, sync};
        status = wio_join_events(trace, params, tables, &watch, &result, err);
    }
    if (status == WIO_OK) {
        status = solve(trace, tables, sync, rows, note);
    }
    wio_join_result_fini(&result);
    wio_clock_sync_destroy(sync);
    return status == WIO_ERR_NOMEM
               ? wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET, "no memory for the clocks")
               : status;
}
