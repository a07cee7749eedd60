/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/rules/contended_lock.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "edges/edges.h"
#include "seal/open.h"
#include "trace/edges/edge_file.h"

#define TURNS (1u << WIO_EDGE_MUTEX | 1u << WIO_EDGE_QUEUE)

static void close_trace(struct wio_trace **trace)
{
    wio_trace_close(*trace);
}

static void close_cursor(struct wio_edge_cursor **cursor)
{
    wio_edge_cursor_destroy(*cursor);
}

/* Distance of a turn from `seq`: the last one before it is the nearest, then the first behind it (a
 * long holder's edge is at its unlock). */
static uint64_t distance(uint64_t turn, uint64_t seq)
{
    return turn < seq ? seq - turn : (UINT64_MAX >> 1) + (turn - seq);
}

enum wio_status wio_turns_find(const struct wio_trace *trace, const bool *is_mine, uint64_t seq,
                               char name[WIO_TURNS_NAME_BYTES], struct wio_error *err)
{
    WIO_CLEANUP(close_trace) struct wio_trace *again = NULL;
    WIO_CLEANUP(close_cursor) struct wio_edge_cursor *cursor = NULL;
    const struct wio_join_params observed = {.struct_size = sizeof(observed),
                                             .observed_only = true};
    const struct wio_edge_filter filter = {
        .struct_size = sizeof(filter), .kind = WIO_EDGES_IN, .has_implied = true, .classes = TURNS};
    const struct wio_edge_row *row;
    enum wio_status status;
    uint64_t nearest = UINT64_MAX;
    name[0] = '\0';
    WIO_TRY(wio_trace_open_events(wio_trace_path(trace), &again, err));
    status = wio_join(again, &observed, err);
    if (status == WIO_ERR_FORMAT) {
        return WIO_OK; /* it is no evidence */
    }
    WIO_TRY(status);
    WIO_TRY(wio_edge_cursor_create(wio_trace_edges(again), &filter, &cursor, err));
    while ((status = wio_edge_cursor_next(cursor, &row, err)) == WIO_OK) {
        const struct wio_edge_point *points[] = {&row->from, &row->to};
        for (size_t i = 0; i < WIO_ARRAY_SIZE(points); i++) {
            uint64_t far = distance(points[i]->seq, seq);
            if (is_mine[points[i]->stream] && far < nearest) {
                nearest = far;
                (void)snprintf(name, WIO_TURNS_NAME_BYTES, "%s",
                               wio_edge_file_object(wio_trace_edges(again), row->object));
            }
        }
    }
    return status == WIO_END ? WIO_OK : status;
}
