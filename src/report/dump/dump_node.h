/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The annotated form of a trace, per node: what `whyio dump --annotate` prints. Private to the
 * room.
 *
 * A node is a thread of a process. Between two operations of a node stands COMPUTE(seconds): the
 * time from the end of the one to the begin of the other, where there is any, and before the first
 * one the time since the process image began. WAIT(n) before an operation: until node n has done
 * the operation that is named; SIGNAL(n) after one: node n waits for it. A trace without edges has
 * none. Operations that a stdio call caused are part of that call and not listed.
 */
#ifndef WIO_REPORT_DUMP_NODE_H
#define WIO_REPORT_DUMP_NODE_H

#include <stdbool.h>

#include "report/dump/dump.h"

#define WIO_NODE_NONE UINT32_MAX

/* Where a walk over the nodes stands. Start with node = WIO_NODE_NONE. */
struct wio_node_walk {
    uint32_t node;   /* the stream */
    uint64_t end_ns; /* of all operations of the node so far */
};

/* The next operation in order of nodes: is it the first of its node, and the time computed between
 * the operation before and it (ns). Before the first one of a main thread: since its process
 * image began. */
bool wio_node_step(struct wio_node_walk *walk, const struct wio_trace *trace,
                   const struct wio_event *event, uint64_t *compute_ns_out);

/* The text form. */
WIO_MUST_CHECK enum wio_status wio_report_nodes(const struct wio_trace *trace,
                                                const struct wio_dump_params *params, FILE *out,
                                                struct wio_error *err);

#endif
