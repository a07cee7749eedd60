/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a recorded trace to stored edges: derive them from the events, reduce them, store them in
 * the trace directory. The first command that needs edges does so; `record` where the times of all
 * events depend on it, as those of several hosts do, or where it is asked to (--edges=now).
 */
#ifndef WIO_EDGES_EDGES_H
#define WIO_EDGES_EDGES_H

#include <stdbool.h>

#include <whyio/edges.h>
#include <whyio/trace.h>

#include "trace/edges/held_file.h"

struct wio_join_params {
    size_t struct_size;
    wio_progress_fn *progress; /* unit "events"; may be NULL */
    void *progress_arg;
    bool in_memory;     /* do not write into the directory */
    bool observed_only; /* .. and leave out what was found by holding */
    bool clocks_only;   /* nothing is done unless the clocks of several hosts are to be corrected */
    /* Found by holding just now: stored as trace.held, in place of what was there. NULL = as
     * stored, if there is something. */
    const struct wio_held *held;
};

/*
 * Give the trace its edges, unless it has some: wio_trace_edges() is not NULL afterwards, and the
 * clocks of several hosts are corrected. Edges are derived from the events, and those that were
 * found by holding added; how many of these fit no longer is told in the notes. Where the directory
 * cannot be written or is full, or the program still runs, the edges live as long as `trace`.
 * Nothing may read the trace meanwhile. Several processes may do so at once: each writes a file of
 * its own, and the last one gets the name.
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
