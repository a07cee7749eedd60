/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deriving the happens-before edges of a trace that has none stored (a trace that was just
 * written, or whose recorder was killed). What edges are and how they are read: <whyio/edges.h>.
 */
#ifndef WHYIO_DERIVE_H
#define WHYIO_DERIVE_H

#include <stdbool.h>
#include <stddef.h>

#include <whyio/edges.h>
#include <whyio/trace.h>

WIO_BEGIN_DECLS

/* Zero-initialise; struct_size = sizeof(struct wio_derive_params). */
struct wio_derive_params {
    size_t struct_size;
    wio_progress_fn *progress; /* unit "events"; may be NULL */
    void *progress_arg;
    bool is_in_memory; /* nothing is written into the trace's directory */
};

/*
 * Derive the edges: wio_trace_edges() of the trace is not NULL afterwards; clocks of several hosts
 * are corrected. A trace that has edges keeps them. Edges are stored in the directory, or in memory
 * for as long as `trace` is open where the directory cannot be written or is_in_memory is set.
 * `params` may be NULL.
 *
 * WIO_ERR_FORMAT: events were dropped, so that the trace is no evidence; or a segment, trace.edges
 * or trace.held is damaged, as wio_cursor_next and wio_trace_edges_fault say it. WIO_ERR_IO: they
 * cannot be read, or there is no memory file. WIO_ERR_USAGE: params->struct_size is not set.
 * WIO_ERR_NOMEM. After an error the trace has no edges and is otherwise as before. No cursor of the
 * trace may be in use meanwhile, by any thread. Memory: about 64 bytes per edge.
 */
WIO_MUST_CHECK enum wio_status wio_trace_derive_edges(struct wio_trace *trace,
                                                      const struct wio_derive_params *params,
                                                      struct wio_error *err);

WIO_END_DECLS
#endif
