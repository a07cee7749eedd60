/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/rules/compare.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "throttle/rules/profile.h"

struct compared_run {
    struct wio_trace *trace;
    struct wio_run_ops ops;
    struct wio_edges edges; /* none */
};

static void side_fini(struct compared_run *side)
{
    wio_trace_close(side->trace);
    wio_run_ops_fini(&side->ops);
    wio_edges_fini(&side->edges);
}

static enum wio_status side_open(struct compared_run *side, const struct wio_compare_run *run,
                                 struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    wio_edges_init(&side->edges, &heap, run->roster->count);
    WIO_TRY(wio_trace_open(run->dir, &side->trace, err));
    uint32_t *node_of = wio_profile_nodes_of_streams(side->trace, run->roster);
    if (node_of == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    enum wio_status status =
        wio_run_ops_read(side->trace, node_of, run->roster->count, &side->ops, err);
    free(node_of);
    return status;
}

enum wio_status wio_compare_runs(const struct wio_compare_run runs[2], bool *same_out,
                                 struct wio_difference *difference_out, struct wio_error *err)
{
    struct compared_run first WIO_CLEANUP(side_fini) = {0};
    struct compared_run second WIO_CLEANUP(side_fini) = {0};
    WIO_TRY(side_open(&first, &runs[0], err));
    WIO_TRY(side_open(&second, &runs[1], err));
    const struct wio_run both[] = {{first.ops.nodes, &first.edges, WIO_NO_PARTICIPANT},
                                   {second.ops.nodes, &second.edges, WIO_NO_PARTICIPANT}};
    struct wio_run_difference found;
    struct wio_edges none WIO_CLEANUP(wio_edges_fini);
    wio_edges_init(&none, &first.edges.alloc, runs[0].roster->count);
    WIO_TRY(wio_runs_merge(both, 2, &none, &found, err));
    *same_out = !found.found;
    const struct wio_differ_run sides[] = {{first.trace, &first.ops}, {second.trace, &second.ops}};
    return found.found ? wio_differ_describe(&found, sides, difference_out, err) : WIO_OK;
}
