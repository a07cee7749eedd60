/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Linux does with an operation: writes in pieces into the page cache, each followed by a look
 * at the dirty limits; stdio as glibc buffers it; synchronous operations. docs/MODEL.md#kernel has
 * the rules, cited as (rule N); cache.h is the machinery behind them.
 */
#include <math.h>

#include "base/cleanup.h"
#include "model/cache.h"
#include "model/model_internal.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Where the folio ends in which a write of [offset, end) goes on: a power of 2, aligned to itself,
 * not longer than what is left or than `step` (rule 8). */
static uint64_t piece_end(uint64_t offset, uint64_t end, uint64_t step)
{
    uint64_t page = offset / WIO_CACHE_PAGE;
    uint64_t pages = least(end - offset, step) / WIO_CACHE_PAGE;
    uint64_t longest = pages > 1 ? UINT64_C(1) << (63 - __builtin_clzll(pages)) : 1;
    uint64_t aligned = page > 0 ? page & -page : longest;
    return least(end, (page + least(longest, aligned)) * WIO_CACHE_PAGE);
}

/* Into pages that are dirty already data is only copied; others have to be found first (rule 2). */
static double copy_s(const struct wio_model_params *p, uint64_t size, uint64_t fresh,
                     bool is_writing)
{
    double found = is_writing ? p->bw_reduced : p->bw_ramdisk;
    return (double)fresh / found + (double)(size - fresh) / fmax(p->bw_mem, found);
}

/* write(2): folio by folio. */
static enum wio_status write_call(struct wio_model *model, struct wio_cache_file *file,
                                  uint64_t offset, uint64_t size, struct wio_model_result *result)
{
    struct wio_cache *cache = model->state;
    const struct wio_model_params *p = &model->params;
    uint64_t step = (uint64_t)p->balance_step;
    uint64_t end = offset + size;
    uint64_t hits;
    result->state = WIO_MODEL_STATE_FREE;
    if (p->cache_size > 0) {
        WIO_TRY(wio_cache_use(cache, file, offset, end, &hits));
    }
    wio_cache_wait(cache, p->sc_w);
    while (offset < end) {
        bool is_writing = cache->queue.waiting > 0;
        bool slept;
        uint64_t fresh;
        uint64_t stop = piece_end(offset, end, step);
        WIO_TRY(wio_cache_dirty(cache, file, offset, stop, &fresh));
        wio_cache_wait(cache, copy_s(p, stop - offset, least(fresh, stop - offset), is_writing));
        WIO_TRY(wio_cache_balance(cache, &slept));
        if (slept) {
            result->state = WIO_MODEL_STATE_THROTTLE;
        } else if (is_writing && result->state == WIO_MODEL_STATE_FREE) {
            result->state = WIO_MODEL_STATE_ASYNC;
        }
        offset = stop;
    }
    return WIO_OK;
}

static enum wio_status flush_stream(struct wio_model *model, struct wio_cache_file *file,
                                    struct wio_model_result *result)
{
    uint64_t size = file->pending;
    if (size == 0) {
        return WIO_OK;
    }
    file->pending = 0;
    return write_call(model, file, file->position - size, size, result);
}

/* glibc: fill the buffer, write it, write whole buffers at once, keep the rest. A stream that has
 * no buffer yet has nothing to fill: its first write is of whole buffers (rule 12). */
static enum wio_status step_fwrite(struct wio_model *model, struct wio_cache_file *file,
                                   const struct wio_model_op *op, struct wio_model_result *result)
{
    uint64_t bf = (uint64_t)model->params.bf;
    uint64_t left = op->size;
    wio_cache_wait(model->state, model->params.c_lib);
    if (op->offset != file->position) {
        WIO_TRY(flush_stream(model, file, result));
        file->position = op->offset;
    }
    uint64_t filling = least(left, file->has_buffer ? bf - file->pending : 0);
    file->pending += filling;
    file->position += filling;
    left -= filling;
    if (left > 0) {
        uint64_t whole = left - left % bf;
        WIO_TRY(flush_stream(model, file, result));
        if (whole > 0) {
            WIO_TRY(write_call(model, file, file->position, whole, result));
        }
        file->pending = left - whole;
        file->position += left;
        file->has_buffer = true;
    }
    return WIO_OK;
}

static bool is_random(const struct wio_cache_file *file, const struct wio_model_op *op)
{
    if (op->random != WIO_MODEL_RANDOM_UNKNOWN) {
        return op->random == WIO_MODEL_RANDOM_YES;
    }
    return file->is_used && file->last_end != op->offset;
}

/* As measured for such a size; else by the equations (rule 13). */
static double bypass_cost(const struct wio_model *model, const struct wio_cache_file *file,
                          const struct wio_model_op *op)
{
    const struct wio_model_params *p = &model->params;
    const struct wio_model_table *table = &p->sync_table;
    double size = (double)op->size;
    if (op->method == WIO_MODEL_DIRECT) {
        table = &p->direct_table;
    } else if (p->append_table.count > 0 && op->offset + op->size > file->size) {
        table = &p->append_table;
    }
    if (table->count == 0) {
        return wio_model_bypass_cost(p, op, is_random(file, op));
    }
    if (op->method == WIO_MODEL_SYNC) {
        size = ceil(size / p->bs) * p->bs; /* blocks go to the device whole */
    }
    return wio_model_table_at(table, size) + (is_random(file, op) ? p->c_sk : 0);
}

/* Direct and synchronous writes have the device to themselves: write-back waits (rule 13). */
static void step_bypass(struct wio_model *model, struct wio_cache_file *file,
                        const struct wio_model_op *op)
{
    struct wio_cache *cache = model->state;
    double cost = bypass_cost(model, file, op);
    wio_cache_clean(cache, file, op->offset, op->offset + op->size);
    wio_cache_device_busy(cache, fmin((double)op->size / model->params.bw_dev, cost));
    wio_cache_wait(cache, cost);
}

/* What is in memory is copied; the rest comes from the device, which does not write then (rule 15).
 */
static enum wio_status step_read(struct wio_model *model, const struct wio_cache_file *file,
                                 const struct wio_model_op *op)
{
    struct wio_cache *cache = model->state;
    const struct wio_model_params *p = &model->params;
    uint64_t hits = 0;
    wio_cache_wait(cache, p->sc_w);
    if (p->cache_size > 0) {
        WIO_TRY(wio_cache_use(cache, file, op->offset, op->offset + op->size, &hits));
    }
    double device_s = (double)(op->size - hits) / p->bw_rdev;
    wio_cache_device_busy(cache, device_s);
    wio_cache_wait(cache, device_s + (double)hits / p->bw_mem);
    return WIO_OK;
}

static enum wio_status dispatch(struct wio_model *model, struct wio_cache_file *file,
                                const struct wio_model_op *op, struct wio_model_result *result)
{
    struct wio_cache *cache = model->state;
    const struct wio_model_params *p = &model->params;
    switch (op->method) {
    case WIO_MODEL_WRITE:
        return write_call(model, file, op->offset, op->size, result);
    case WIO_MODEL_FWRITE:
        return step_fwrite(model, file, op, result);
    case WIO_MODEL_FFLUSH:
        return flush_stream(model, file, result);
    case WIO_MODEL_FSYNC:
        wio_cache_wait(cache, p->sc_sw);
        return wio_cache_sync(cache, file);
    case WIO_MODEL_READ:
        return step_read(model, file, op);
    case WIO_MODEL_DIRECT:
    case WIO_MODEL_SYNC:
        step_bypass(model, file, op);
        return WIO_OK;
    case WIO_MODEL_METHOD_COUNT:
        break;
    }
    return WIO_ERR_INTERNAL;
}

static enum wio_status step(struct wio_model *model, const struct wio_model_op *op,
                            struct wio_model_result *result)
{
    struct wio_cache *cache = model->state;
    struct wio_cache_file *file = wio_cache_file(cache, op->file);
    if (file == NULL) {
        return WIO_ERR_NOMEM;
    }
    wio_cache_wait(cache, op->delay_s);
    double start_s = cache->time_s;
    WIO_TRY(dispatch(model, file, op, result));
    WIO_TRY(cache->status);
    if (op->method != WIO_MODEL_FFLUSH && op->method != WIO_MODEL_FSYNC) {
        file->last_end = op->offset + op->size;
        file->is_used = true;
        if (op->method != WIO_MODEL_READ && file->last_end > file->size) {
            file->size = file->last_end;
        }
    }
    result->cost_s = cache->time_s - start_s;
    result->dirty_bytes =
        (double)least(wio_cache_pages(cache) * WIO_CACHE_PAGE, cache->written_bytes);
    model->time_s = cache->time_s;
    return WIO_OK;
}

static enum wio_status init(struct wio_model *model)
{
    struct wio_cache *cache = model->alloc.get(model->alloc.context, sizeof(*cache));
    if (cache == NULL) {
        return WIO_ERR_NOMEM;
    }
    wio_cache_init(cache, &model->alloc, &model->params);
    model->state = cache;
    return WIO_OK;
}

static void fini(struct wio_model *model)
{
    if (model->state != NULL) {
        wio_cache_fini(model->state);
        model->alloc.put(model->alloc.context, model->state);
    }
}

/* Bytes and rates become whole numbers here. */
#define BYTES_MOST 1e16
#define HZ_MOST 1e5

static const struct wio_model_range ranges[] = {
    {offsetof(struct wio_model_params, bf), 1, BYTES_MOST},
    {offsetof(struct wio_model_params, hz), 1, HZ_MOST},
    {offsetof(struct wio_model_params, limit_hard), WIO_CACHE_PAGE, BYTES_MOST},
    {offsetof(struct wio_model_params, balance_step), 1, BYTES_MOST},
    {offsetof(struct wio_model_params, request_max), 1, BYTES_MOST},
    {offsetof(struct wio_model_params, dirty_ratelimit0), 1, BYTES_MOST},
    {offsetof(struct wio_model_params, write_bw0), 1, BYTES_MOST},
    {offsetof(struct wio_model_params, cache_size), 0, BYTES_MOST},
    {.place = WIO_MODEL_NO_PARAM},
};

const struct wio_model_class wio_model_kernel = {
    .name = "kernel", .ranges = ranges, .init = init, .fini = fini, .step = step};
