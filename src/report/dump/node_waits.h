/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges into and out of a node, operation by operation, in the order of nodes: the WAIT(n) and
 * SIGNAL(n) of the annotated dump. Reads the stored edges beside the events; memory is that of
 * three cursors. Private to the room.
 */
#ifndef WIO_REPORT_NODE_WAITS_H
#define WIO_REPORT_NODE_WAITS_H

#include <whyio/edges.h>
#include <whyio/trace.h>

#include "report/line.h"

struct wio_node_waits {
    struct wio_edge_cursor *in; /* NULL: the trace has no edges */
    struct wio_edge_cursor *out;
    struct wio_edge_cursor *members;
    const struct wio_edge_row *wait; /* the next of each; NULL behind the last */
    const struct wio_edge_row *signal;
    const struct wio_member_row *member;
};

WIO_MUST_CHECK enum wio_status wio_node_waits_init(struct wio_node_waits *waits,
                                                   const struct wio_trace *trace,
                                                   struct wio_error *err);
void wio_node_waits_fini(struct wio_node_waits *waits);

/* The number behind all operations of a node. */
#define WIO_NODE_END UINT64_MAX

/*
 * Text: a line for each wait of node `node` that is not told yet and ends before its operation
 * `limit`; then, for signals, the same for what it lets go. Nodes and limits must rise from call to
 * call.
 */
WIO_MUST_CHECK enum wio_status wio_node_put_waits(struct wio_node_waits *waits,
                                                  struct wio_line *line, uint32_t node,
                                                  uint64_t limit, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_node_put_signals(struct wio_node_waits *waits,
                                                    struct wio_line *line, uint32_t node,
                                                    uint64_t limit, struct wio_error *err);
/* `, "waits": [..], "collectives": [..], "signals": [..]` */
WIO_MUST_CHECK enum wio_status wio_node_put_json(struct wio_node_waits *waits,
                                                 struct wio_line *line, uint32_t node,
                                                 uint64_t limit, struct wio_error *err);

#endif
