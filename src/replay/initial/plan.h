/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replay needs to know before it begins: the initial state of the tree, the process tree,
 * which descriptors threads share, and a few bounds. Made in one pass over the trace, in memory
 * that grows with the number of paths, processes and threads, not of operations.
 *
 * A finished plan does not change: processes of the replay inherit it by fork, threads read it at
 * once.
 */
#ifndef WIO_REPLAY_INITIAL_PLAN_H
#define WIO_REPLAY_INITIAL_PLAN_H

#include <whyio/trace.h>

#include "replay/initial/file_order.h"
#include "replay/initial/initial_state.h"
#include "replay/initial/pauses.h"
#include "replay/initial/process_tree.h"
#include "replay/initial/shared.h"
#include "schedule/waits.h"

#define RP_FDS_MAX (1u << 20) /* descriptors from here on are skipped: no kernel gives them */

struct rp_plan {
    const struct wio_trace *trace;
    struct rp_observer observer;
    struct rp_family family;
    struct rp_shared shared;
    struct rp_pauses pauses;
    struct wio_waits waits;     /* empty unless they are asked for */
    struct rp_file_order order; /* empty without rp_plan_order */
    uint64_t first_ns;          /* begin of the first event */
    uint64_t events;
    uint64_t max_bytes; /* of one operation */
    uint32_t fds;       /* one more than the highest descriptor */
};

/* The caller owns the plan; `trace` must outlive it. With `with_waits` the edges of the trace are
 * read too, and refused if they form a cycle. */
WIO_MUST_CHECK enum wio_status rp_plan_create(const struct wio_trace *trace, bool with_waits,
                                              struct rp_plan **plan_out, struct wio_error *err);
/* Find the order that files need (file_order.h): reads the trace once more. */
WIO_MUST_CHECK enum wio_status rp_plan_order(struct rp_plan *plan, bool is_needed_only,
                                             struct wio_error *err);
void rp_plan_destroy(struct rp_plan *plan);

#endif
