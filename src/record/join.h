/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a recorded trace to stored edges: derive them from the events, reduce them, store them in
 * the trace directory. `record` does so once the trace is sealed, commands that need edges for
 * traces that have none.
 */
#ifndef WIO_RECORD_JOIN_H
#define WIO_RECORD_JOIN_H

#include <stdbool.h>

#include <whyio/edges.h>
#include <whyio/trace.h>

/* An edge that was found by holding; both ends are events of the trace. */
struct wio_held_edge {
    struct wio_edge_point from;
    struct wio_edge_point to;
};

struct wio_join_params {
    size_t struct_size;
    wio_progress_fn *progress; /* unit "events"; may be NULL */
    void *progress_arg;
    bool in_memory;                   /* do not write into the directory */
    const struct wio_held_edge *held; /* to be added to what is observed */
    size_t held_count;
    bool held_only; /* as //TRACE: nothing is taken from what was observed */
};

/*
 * Give the trace its edges, unless it has some: wio_trace_edges() is not NULL afterwards, and the
 * clocks of several hosts are corrected. Where the directory cannot be written, or the program
 * still runs, the edges live as long as `trace`. Nothing may read the trace meanwhile.
 *
 * WIO_ERR_FORMAT for a trace in which events were dropped (it is no evidence) and for edges that
 * form a cycle (the message names them). Memory: about 64 bytes per edge.
 */
WIO_MUST_CHECK enum wio_status
wio_join(struct wio_trace *trace, const struct wio_join_params *params, struct wio_error *err);

/* The same for a directory. Nothing is done while recorders are at work in it: the last of them, or
 * the first command that needs edges, finds them. */
WIO_MUST_CHECK enum wio_status
wio_join_directory(const char *dir, const struct wio_join_params *params, struct wio_error *err);

#endif
