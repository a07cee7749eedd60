/* SPDX-License-Identifier: Apache-2.0 */
/* What holding found, into the trace: from (node, how many-th I/O) to events. */
#ifndef WIO_THROTTLE_RULES_STORE_EDGES_H
#define WIO_THROTTLE_RULES_STORE_EDGES_H

#include "causal/core/edge.h"
#include "throttle/control/participants.h"
#include "throttle/rules/run_ops.h"

struct wio_held_params {
    struct wio_trace *trace; /* has no edges yet */
    const uint32_t *node_of; /* per stream; UINT32_MAX = none */
    uint32_t nodes;
    const struct wio_edges *edges; /* threads are nodes, operations I/Os that count */
    bool held_only;                /* as //TRACE: nothing that was observed beside them */
};

/* Derive what was observed, add `edges`, reduce, store. *kept_out: held ones that no others imply;
 * may be NULL. */
WIO_MUST_CHECK enum wio_status wio_held_store(const struct wio_held_params *params,
                                              uint64_t *kept_out, struct wio_error *err);

/* The same for the trace of a run, whose nodes are those of the roster (with the run's pids). */
WIO_MUST_CHECK enum wio_status wio_held_store_run(const char *dir, const struct wio_roster *roster,
                                                  const struct wio_edges *edges, bool held_only,
                                                  uint64_t *kept_out, struct wio_error *err);

#endif
