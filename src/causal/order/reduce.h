/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact reduction: an edge that program order, collectives and other edges imply is dropped.
 *
 * What is sound for which class:
 * - hard edges: dropped exactly if another path of hard edges, collectives and program order leads
 *   from one end to the other. The result is the one minimal set with the same order.
 * - collectives: kept, each is one event; they imply edges.
 * - mutex and queue edges: never used to imply anything, since replay takes locks and queues in any
 *   order; never dropped because hard edges imply their order either, since then the section would
 *   no longer belong to its lock and exclude the others. Only exact doubles go.
 *
 * Time O(edges * threads), memory as in order.h and one byte per edge.
 */
#ifndef WIO_CAUSAL_ORDER_REDUCE_H
#define WIO_CAUSAL_ORDER_REDUCE_H

#include "causal/core/edge.h"

/*
 * Which edges are implied: `implied` has edge_count entries, all false. WIO_ERR_FORMAT if firm
 * edges form a cycle (the message names it) or if all edges together do: a recorded order cannot.
 */
WIO_MUST_CHECK enum wio_status wio_edges_find_implied(const struct wio_edges *edges, bool *implied,
                                                      struct wio_error *err);

/*
 * Drop the implied edges; those that stay keep their order. Errors as above; `edges` is unchanged
 * by a failure. `dropped_out` may be NULL.
 */
WIO_MUST_CHECK enum wio_status wio_edges_reduce(struct wio_edges *edges, size_t *dropped_out,
                                                struct wio_error *err);

#endif
