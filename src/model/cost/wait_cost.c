/* SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/wait_cost.h"

#include <math.h>

#include "model/kernel/journal.h"
#include "model/model_internal.h"

/* An empty one: nothing was measured. */
static const struct wio_model_table *table_of(const struct wio_cache_file *file,
                                              const struct wio_model_op *op)
{
    const struct wio_model_params *p = &file->device->params;
    switch ((int)op->method) {
    case WIO_MODEL_DIRECT_NOSYNC:
        return p->direct_nosync_table.count > 0 ? &p->direct_nosync_table : &p->direct_table;
    case WIO_MODEL_DIRECT:
        return &p->direct_table;
    default:
        return p->append_table.count > 0 && op->offset + op->size > file->size ? &p->append_table
                                                                               : &p->sync_table;
    }
}

/* As measured for such a size; else by the equations. Without a seek. */
static double device_cost(const struct wio_cache_file *file, const struct wio_model_op *op)
{
    const struct wio_model_params *p = &file->device->params;
    const struct wio_model_table *table = table_of(file, op);
    double size = (double)op->size;
    if (op->method == WIO_MODEL_SYNC && p->c_length > 0 && wio_journal_is_length_alone(file, op)) {
        return p->c_length;
    }
    if (table->count == 0) {
        return wio_model_bypass_cost(p, op, false);
    }
    if (op->method == WIO_MODEL_SYNC) {
        size = ceil(size / p->bs) * p->bs; /* blocks go to the device whole */
    }
    return wio_model_table_at(table, size, p->bw_dev);
}

/* The kernel looks at all blocks of a folio, however few of them are written. */
static double folio_cost(const struct wio_cache_file *file, const struct wio_model_op *op)
{
    bool is_within = op->method == WIO_MODEL_SYNC && op->offset < file->size;
    if (!is_within || op->size >= file->folio) {
        return 0;
    }
    return file->device->params.c_page_sync * (double)(file->folio - op->size) / WIO_CACHE_PAGE;
}

/* What none of the ways to say what a write costs has in it. */
static double beside_cost(const struct wio_cache_file *file, const struct wio_model_op *op,
                          bool is_random)
{
    return (is_random ? file->device->params.c_sk : 0) + folio_cost(file, op);
}

/* A request has so many pieces of memory, which direct writes take as they lie: single pages. */
#define DIRECT_PAGES 256

/* What the limit of a device lets pass at once or not at all (rule 14). New blocks are adjoining as
 * far as they are given at once. */
static double request_pages_of(const struct wio_cache_file *file, const struct wio_model_op *op)
{
    if (op->method != WIO_MODEL_SYNC) {
        return DIRECT_PAGES;
    }
    bool is_new = op->offset + op->size > file->size;
    return is_new ? (double)file->device->request_pages : HUGE_VAL;
}

/* A table made on credit does not know the journal; one beside slices leaves it to these. */
struct wio_task_step wio_wait_step(const struct wio_cache *cache, const struct wio_cache_file *file,
                                   const struct wio_model_op *op, bool is_random)
{
    const struct wio_model_params *p = &file->device->params;
    double journal_s = wio_journal_bytes(cache, file, op) / p->bw_dev;
    bool is_behind = p->slice > 0;
    double size_s = (double)op->size / p->bw_dev;
    double beside_s = beside_cost(file, op, is_random);
    double cost = device_cost(file, op) + beside_s;
    struct wio_task_step step = {
        .kind = WIO_TASK_DEVICE,
        .seconds = cost,
        .device_s = size_s + (is_behind ? 0 : journal_s),
        .journal_s = is_behind ? journal_s : 0,
        .request_pages = request_pages_of(file, op),
        .least_s = table_of(file, op)->count > 0 ? cost : 0,
        .even_s = size_s + beside_s,
    };
    if (journal_s > 0 && !is_behind) {
        step.seconds = fmax(cost, step.device_s);
    }
    return step;
}
