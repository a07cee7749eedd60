/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CAWL model to the letter: Algorithm 1 (write), Algorithm 2 (fwrite) and the equations of
 * direct and synchronous writes, arXiv 2306.05701 sections 4.2-4.5. Where the paper is silent or
 * contradicts itself the rules of docs/MODEL.md#cawl hold; they are cited as (rule N).
 */
#include <math.h>

#include "base/cleanup.h"
#include "model/cost/blocks.h"
#include "model/model_internal.h"

/* One file: where its last operation ended, and its stdio stream (rule 8). */
struct file {
    RB_ENTRY(file) node;
    uint64_t id;
    double last_end; /* of the last operation with a range; NAN before the first */
    double position; /* of the stream */
    double pending;  /* bytes in the stream's buffer, which end at `position` */
};

RB_HEAD(files, file);

struct cawl {
    struct wio_blocks cache;
    struct files files;
    double setpoint;
    double io_time;
    double bw_avg;
    double delay_acc; /* A of rule 8: one number for all streams */
};

static int compare_files(const struct file *a, const struct file *b)
{
    return (a->id > b->id) - (a->id < b->id);
}

RB_GENERATE_STATIC(files, file, node, compare_files)

static struct file *file_of(struct wio_model *model, uint64_t id)
{
    struct cawl *cawl = model->state;
    struct file key = {.id = id};
    struct file *file = RB_FIND(files, &cawl->files, &key);
    if (file == NULL) {
        file = model->alloc.get(model->alloc.context, sizeof(*file));
        if (file != NULL) {
            file->id = id;
            file->last_end = NAN;
            RB_INSERT(files, &cawl->files, file);
        }
    }
    return file;
}

static bool has_expired(const struct wio_model *model)
{
    const struct cawl *cawl = model->state;
    return wio_blocks_has_older(&cawl->cache, model->time_s - model->params.dirty_expire);
}

/* Rule 4: of the blocks at most half, rounded down, stay active. */
static void balance(struct wio_blocks *cache)
{
    while (cache->counts[1] > wio_blocks_count(cache) / 2) {
        wio_blocks_deactivate_oldest(cache);
    }
}

/* background_flush, lines 29-40: what the device cleans in the `interval` that has just passed. */
static void clean(struct wio_model *model, double interval)
{
    struct wio_blocks *cache = &((struct cawl *)model->state)->cache;
    const double bw_dev = model->params.bw_dev;
    while (wio_blocks_count(cache) > 0 &&
           (cache->dirty >= model->params.limit_bg || has_expired(model))) {
        balance(cache);
        struct wio_block *block = cache->oldest[0];
        double need = (block->end - block->offset) / bw_dev;
        if (interval < need) {
            wio_blocks_trim_head(cache, block, interval * bw_dev);
            return;
        }
        interval -= need;
        wio_blocks_remove(cache, block);
    }
}

/* Take `block` out of the cache and put back what lies outside [offset, end): rule 2. */
static enum wio_status cut_out(struct wio_blocks *cache, struct wio_block *block, double offset,
                               double end)
{
    struct wio_block before = *block;
    struct wio_block after = *block;
    before.end = fmin(block->end, offset);
    after.offset = fmax(block->offset, end);
    wio_blocks_remove(cache, block);
    WIO_TRY(wio_blocks_put(cache, &before));
    return wio_blocks_put(cache, &after);
}

/* update_cache, lines 16-28: insert a written range. Dirty bytes are counted as there (lines 18 and
 * 28): where a limit is met exactly, the last bit decides. */
static enum wio_status insert(struct wio_blocks *cache, uint64_t file, double offset, double end,
                              double endtime)
{
    struct wio_block fresh = {.file = file, .endtime = endtime};
    struct wio_block *block;
    double at = offset;
    double dirty = cache->dirty + (end - offset);
    while (at < end && (block = wio_blocks_overlap(cache, file, at, end)) != NULL) {
        double overlap = fmax(block->offset, at);
        double overlap_end = fmin(block->end, end);
        WIO_TRY(cut_out(cache, block, offset, end));
        fresh.is_active = false;
        fresh.offset = at;
        fresh.end = overlap;
        WIO_TRY(wio_blocks_put(cache, &fresh));
        fresh.is_active = true;
        fresh.offset = overlap;
        fresh.end = overlap_end;
        WIO_TRY(wio_blocks_put(cache, &fresh));
        at = overlap_end;
        dirty -= overlap_end - overlap;
    }
    fresh.is_active = false;
    fresh.offset = at;
    fresh.end = end;
    WIO_TRY(wio_blocks_put(cache, &fresh));
    cache->dirty = dirty;
    return WIO_OK;
}

/* Lines 4-9: at which rate the kernel lets the task write, from the dirty amount of now. */
static double task_rate(const struct wio_model *model, enum wio_model_state *state_out)
{
    const struct cawl *cawl = model->state;
    const struct wio_model_params *p = &model->params;
    double dirty = cawl->cache.dirty;
    if (dirty < cawl->setpoint) {
        bool is_cleaning = dirty >= p->limit_bg || has_expired(model);
        *state_out = is_cleaning ? WIO_MODEL_STATE_ASYNC : WIO_MODEL_STATE_FREE;
        return is_cleaning ? p->bw_reduced : p->bw_ramdisk;
    }
    *state_out = WIO_MODEL_STATE_THROTTLE;
    /* A rounding of the power is enough to part from others: throttling feeds it back. */
    double pos_ratio = 1 + pow((cawl->setpoint - dirty) / (p->limit_hard - cawl->setpoint), 3);
    if (pos_ratio <= 0) {
        return fmin(p->bw_dev, p->bw_reduced); /* rule 6 */
    }
    if (cawl->io_time <= 0) {
        return p->bw_reduced; /* rule 6 */
    }
    double rate = fmin(cawl->bw_avg * pos_ratio, p->bw_reduced);
    return rate > 0 ? rate : fmin(p->bw_dev, p->bw_reduced);
}

/* Algorithm 1: one write call. Adds its cost to the result. */
static enum wio_status write_call(struct wio_model *model, uint64_t file, double offset,
                                  double size, double delay, struct wio_model_result *result)
{
    struct cawl *cawl = model->state;
    model->time_s += delay;
    clean(model, delay);
    double cost = size / task_rate(model, &result->state) + model->params.sc_w;
    WIO_TRY(insert(&cawl->cache, file, offset, offset + size, model->time_s + cost)); /* rule 3 */
    if (cawl->io_time + cost > 0) { /* else there is no average yet */
        cawl->bw_avg = (cawl->bw_avg * cawl->io_time + size) / (cawl->io_time + cost);
    }
    cawl->io_time += cost;
    model->time_s += cost;
    clean(model, cost);
    result->cost_s += cost;
    return WIO_OK;
}

/* Hand the stream's buffer to the kernel with the accumulated delay: rule 8. */
static enum wio_status flush_stream(struct wio_model *model, struct file *file,
                                    struct wio_model_result *result)
{
    struct cawl *cawl = model->state;
    if (file->pending <= 0) {
        return WIO_OK;
    }
    double delay = cawl->delay_acc;
    double size = file->pending;
    cawl->delay_acc = 0;
    file->pending = 0;
    return write_call(model, file->id, file->position - size, size, delay, result);
}

/* The data does not fit: fill the buffer, write it, write whole buffers directly, keep the rest. */
static enum wio_status overflow_stream(struct wio_model *model, struct file *file,
                                       const struct wio_model_op *op,
                                       struct wio_model_result *result)
{
    struct cawl *cawl = model->state;
    const double bf = model->params.bf;
    double filling = bf - file->pending;
    double rest = (double)op->size - filling;
    double left = fmod(rest, bf);
    double copying = filling / model->params.bw_mem;
    double start = (double)op->offset - file->pending;
    double delay = cawl->delay_acc + copying;
    result->cost_s += copying;
    WIO_TRY(write_call(model, file->id, start, bf, delay, result));
    if (rest >= bf) {
        WIO_TRY(write_call(model, file->id, start + bf, rest - left, 0, result));
    }
    result->cost_s += left / model->params.bw_mem;
    cawl->delay_acc = left / model->params.bw_mem;
    file->pending = left;
    return WIO_OK;
}

/* Algorithm 2: one fwrite. */
static enum wio_status step_fwrite(struct wio_model *model, struct file *file,
                                   const struct wio_model_op *op, struct wio_model_result *result)
{
    struct cawl *cawl = model->state;
    const struct wio_model_params *p = &model->params;
    double size = (double)op->size;
    cawl->delay_acc += op->delay_s + p->c_lib;
    result->cost_s = p->c_lib;
    if ((double)op->offset < file->position || (double)op->offset > file->position) {
        WIO_TRY(flush_stream(model, file, result));
        file->position = (double)op->offset;
    }
    if (size > p->bf - file->pending) {
        WIO_TRY(overflow_stream(model, file, op, result));
    } else {
        result->cost_s += size / p->bw_mem;
        cawl->delay_acc += size / p->bw_mem;
        file->pending += size;
    }
    file->position = (double)op->offset + size;
    return WIO_OK;
}

static bool is_random(const struct file *file, const struct wio_model_op *op)
{
    if (op->random != WIO_MODEL_RANDOM_UNKNOWN) {
        return op->random == WIO_MODEL_RANDOM_YES;
    }
    return file->last_end < (double)op->offset || file->last_end > (double)op->offset;
}

/* Make [offset, end) of a file clean (rule 7); returns how many bytes were dirty. An empty range
 * cuts no block: nothing of it was written. */
static enum wio_status make_clean(struct wio_blocks *cache, uint64_t file, double offset,
                                  double end, double *bytes_out)
{
    struct wio_block *block;
    double dirty = cache->dirty;
    *bytes_out = 0;
    while (offset < end && (block = wio_blocks_overlap(cache, file, offset, end)) != NULL) {
        double overlap = fmin(block->end, end) - fmax(block->offset, offset);
        *bytes_out += overlap;
        dirty -= overlap;
        WIO_TRY(cut_out(cache, block, offset, end));
    }
    cache->dirty = wio_blocks_count(cache) > 0 ? dirty : 0;
    return WIO_OK;
}

static void make_all_clean(struct wio_blocks *cache)
{
    for (unsigned i = 0; i < WIO_ARRAY_SIZE(cache->oldest); i++) {
        while (cache->oldest[i] != NULL) {
            wio_blocks_remove(cache, cache->oldest[i]);
        }
    }
}

/* Operations that wait for the device or for nothing: their cost passes without cleaning (rules 7
 * and 9). */
static enum wio_status step_beside(struct wio_model *model, struct file *file,
                                   const struct wio_model_op *op, struct wio_model_result *result)
{
    struct wio_blocks *cache = &((struct cawl *)model->state)->cache;
    double offset = (double)op->offset;
    double bytes;
    model->time_s += op->delay_s;
    clean(model, op->delay_s);
    if (wio_model_flow(op->method) == WIO_MODEL_MOVES_IN) {
        result->cost_s = model->params.sc_w + (double)op->size / model->params.bw_rdev;
    } else if (op->method == WIO_MODEL_SYNCFS) {
        result->cost_s = model->params.sc_sw + fmax(cache->dirty, 0) / model->params.bw_dev;
        make_all_clean(cache);
    } else if (op->method == WIO_MODEL_FSYNC || op->method == WIO_MODEL_FDATASYNC) {
        WIO_TRY(make_clean(cache, op->file, 0, HUGE_VAL, &bytes));
        result->cost_s = model->params.sc_sw + bytes / model->params.bw_dev;
    } else {
        WIO_TRY(make_clean(cache, op->file, offset, offset + (double)op->size, &bytes));
        result->cost_s = wio_model_bypass_cost(&model->params, op, is_random(file, op));
    }
    model->time_s += result->cost_s;
    return WIO_OK;
}

static enum wio_status dispatch(struct wio_model *model, struct file *file,
                                const struct wio_model_op *op, struct wio_model_result *result)
{
    switch (op->method) {
    case WIO_MODEL_WRITE:
        return write_call(model, op->file, (double)op->offset, (double)op->size, op->delay_s,
                          result);
    case WIO_MODEL_FWRITE:
        return step_fwrite(model, file, op, result);
    case WIO_MODEL_FFLUSH:
        ((struct cawl *)model->state)->delay_acc += op->delay_s;
        return flush_stream(model, file, result);
    case WIO_MODEL_DIRECT:
    case WIO_MODEL_DIRECT_NOSYNC:
    case WIO_MODEL_SYNC:
    case WIO_MODEL_FSYNC:
    case WIO_MODEL_FDATASYNC:
    case WIO_MODEL_SYNCFS:
    case WIO_MODEL_READ:
    case WIO_MODEL_READ_DIRECT:
        return step_beside(model, file, op, result);
    case WIO_MODEL_TRUNCATE:
    case WIO_MODEL_WRITE_OUT:
    case WIO_MODEL_FORGET:
        model->time_s += op->delay_s;
        clean(model, op->delay_s);
        return WIO_OK;
    case WIO_MODEL_METHOD_COUNT:
        break;
    }
    return WIO_ERR_INTERNAL;
}

static enum wio_status step(struct wio_model *model, const struct wio_model_op *op,
                            struct wio_model_result *result)
{
    struct file *file = file_of(model, op->file);
    if (file == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(dispatch(model, file, op, result));
    if (wio_model_flow(op->method) != WIO_MODEL_MOVES_NOTHING) {
        file->last_end = (double)op->offset + (double)op->size;
    }
    result->dirty_bytes =
        fmax(((struct cawl *)model->state)->cache.dirty, 0); /* but for rounding */
    return WIO_OK;
}

static enum wio_status init(struct wio_model *model)
{
    struct cawl *cawl = model->alloc.get(model->alloc.context, sizeof(*cawl));
    if (cawl == NULL) {
        return WIO_ERR_NOMEM;
    }
    wio_blocks_init(&cawl->cache, &model->alloc);
    cawl->setpoint = (model->params.limit_bg + model->params.limit_hard) / 2;
    model->state = cawl;
    return WIO_OK;
}

static void fini(struct wio_model *model)
{
    struct cawl *cawl = model->state;
    struct file *file;
    if (cawl == NULL) {
        return;
    }
    wio_blocks_fini(&cawl->cache);
    while ((file = RB_MIN(files, &cawl->files)) != NULL) {
        RB_REMOVE(files, &cawl->files, file);
        model->alloc.put(model->alloc.context, file);
    }
    model->alloc.put(model->alloc.context, cawl);
}

const struct wio_model_class wio_model_cawl = {
    .name = "cawl", .init = init, .fini = fini, .step = step};
