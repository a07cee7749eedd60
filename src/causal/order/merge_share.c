/* SPDX-License-Identifier: Apache-2.0 */
/* Is it the same work that the nodes of two runs share out? Each kind of operation is counted up
 * for one run and down for the other. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "causal/core/table.h"
#include "causal/order/merge.h"

struct share_count {
    struct wio_alloc alloc;
    struct wio_table places; /* (name, offset, size) */
    struct wio_table kinds;  /* (place, result, operation) */
    int64_t *counts;         /* per kind */
    size_t room;
};

static void fini(struct share_count *work)
{
    wio_table_fini(&work->places);
    wio_table_fini(&work->kinds);
    work->alloc.put(work->alloc.context, work->counts);
}

static enum wio_status count(struct share_count *work, const struct wio_run_op *op, int64_t by)
{
    uint32_t place;
    uint32_t kind;
    struct wio_table_key where = {{op->name, (uint64_t)op->offset, op->size}};
    WIO_TRY(wio_table_find(&work->places, where, &place));
    struct wio_table_key what = {{place, (uint64_t)op->result, op->op}};
    WIO_TRY(wio_table_find(&work->kinds, what, &kind));
    WIO_TRY(wio_alloc_room(&work->alloc, (void **)&work->counts, &work->room, (size_t)kind + 1,
                           sizeof(*work->counts)));
    work->counts[kind] += by;
    return WIO_OK;
}

static enum wio_status count_run(struct share_count *work, const struct wio_run *run,
                                 uint32_t nodes, int64_t by)
{
    for (uint32_t n = 0; n < nodes; n++) {
        for (size_t i = 0; i < run->nodes[n].count; i++) {
            if (!run->nodes[n].ops[i].is_look) {
                WIO_TRY(count(work, &run->nodes[n].ops[i], by));
            }
        }
    }
    return WIO_OK;
}

enum wio_status wio_runs_share_work(const struct wio_run runs[2], uint32_t nodes,
                                    const struct wio_alloc *alloc, bool *same_out)
{
    struct share_count work WIO_CLEANUP(fini) = {.alloc = *alloc};
    wio_table_init(&work.places, alloc);
    wio_table_init(&work.kinds, alloc);
    WIO_TRY(count_run(&work, &runs[0], nodes, 1));
    WIO_TRY(count_run(&work, &runs[1], nodes, -1));
    *same_out = true;
    for (uint32_t k = 0; k < work.kinds.hash.count; k++) {
        *same_out = *same_out && work.counts[k] == 0;
    }
    return WIO_OK;
}
