/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges that were found by holding: DIR/trace.held (FORMAT.md#held). They cannot be derived from
 * the events, so the file is written once and never replaced by what is derived. Its points are
 * those of the segments that were there; they stay where segments are added or renamed.
 */
#ifndef WIO_TRACE_EDGES_HELD_FILE_H
#define WIO_TRACE_EDGES_HELD_FILE_H

#include <whyio/edges.h>
#include <whyio/trace.h>

/* Both ends are events of the trace. */
struct wio_held_edge {
    struct wio_edge_point from;
    struct wio_edge_point to;
};

struct wio_held {
    struct wio_held_edge *edges; /* in the order of where they end */
    size_t count;
    uint64_t lost; /* that lead to segments, or events, that are not there any more */
    bool is_only;  /* as //TRACE: nothing is taken from what was observed */
    bool is_old;   /* from a file of before, which is kept by wio_held_file_keep */
};
void wio_held_fini(struct wio_held *held);

/*
 * The held edges of a trace; none where there is no such file. Traces of before have them in
 * trace.edges: they are found there, too, whatever segments there are now.
 * WIO_ERR_FORMAT: the file is damaged; the message names it.
 */
WIO_MUST_CHECK enum wio_status wio_held_file_read(const struct wio_trace *trace,
                                                  struct wio_held *held_out, struct wio_error *err);

/* Write DIR/trace.held, as a whole or not at all, in place of an older one. Where there is nothing
 * to say there is no file afterwards. */
WIO_MUST_CHECK enum wio_status wio_held_file_write(const struct wio_trace *trace,
                                                   const struct wio_held_edge *edges, size_t count,
                                                   bool is_only, struct wio_error *err);

/* Keep what a file of before holds: called before trace.edges is written anew. `held`: as read. */
WIO_MUST_CHECK enum wio_status wio_held_file_keep(const struct wio_trace *trace,
                                                  const struct wio_held *held,
                                                  struct wio_error *err);

#endif
