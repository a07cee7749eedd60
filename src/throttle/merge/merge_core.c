/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of merging runs share: memory, and times without holds. */
#include "throttle/merge/merge_internal.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/cleanup.h"

enum wio_status wio_merge_no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
}

static void run_fini(struct wio_merge_run *run, uint32_t nodes)
{
    wio_trace_close(run->trace);
    wio_identity_fini(&run->identity);
    wio_run_ops_fini(&run->ops);
    wio_edges_fini(&run->edges);
    for (uint32_t n = 0; run->holds != NULL && n < nodes; n++) {
        free(run->holds[n].items);
    }
    free(run->holds);
    free(run->birth_ns);
    free(run->node_of);
}

void wio_merge_fini(struct wio_merge *merge)
{
    for (uint32_t r = 0; merge->runs != NULL && r < merge->params->count; r++) {
        run_fini(&merge->runs[r], merge->nodes);
    }
    for (uint32_t n = 0; merge->shift_ns != NULL && n < merge->nodes; n++) {
        free(merge->shift_ns[n]);
    }
    free(merge->runs);
    free(merge->shift_ns);
    free(merge->source);
    wio_edges_fini(&merge->edges);
}

uint64_t wio_merge_unheld(const struct wio_merge_holds *holds, uint64_t t_ns)
{
    size_t begun = WIO_FIRST(i, 0, holds->count, holds->items[i].begin_ns >= t_ns);
    if (begun == 0) {
        return t_ns;
    }
    const struct wio_merge_hold *last = &holds->items[begun - 1];
    uint64_t end_ns = last->end_ns < t_ns ? last->end_ns : t_ns;
    return t_ns - last->before_ns - (end_ns - last->begin_ns);
}
