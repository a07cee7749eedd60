/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Linux does with an operation: which steps it has. Writes go into the page cache, stdio
 * buffers as glibc does, synchronous operations wait for the device. docs/MODEL.md#kernel has the
 * rules, cited as (rule N); task.h performs the steps.
 */
#include "base/cleanup.h"
#include "base/pick.h"
#include "model/cost/copy_cost.h"
#include "model/cost/wait_cost.h"
#include "model/kernel/holes.h"
#include "model/kernel/journal.h"
#include "model/kernel/task.h"
#include "model/model_internal.h"

static void add_wait(struct wio_task *task, double seconds)
{
    wio_task_add(task, (struct wio_task_step){.kind = WIO_TASK_WAIT, .seconds = seconds});
}

/* The kernel has it from here on: how long the file is, and when it was written. */
static void note_write(const struct wio_cache *cache, struct wio_cache_file *file, uint64_t end,
                       bool commits_time)
{
    file->size = file->size > end ? file->size : end;
    wio_journal_note_time(cache, file, commits_time);
}

/* An empty file has neither pages nor a place for them: its first write makes both (rule 2). */
static void add_write(const struct wio_cache *cache, struct wio_task *task,
                      struct wio_cache_file *file, uint64_t offset, uint64_t size)
{
    wio_task_add(task,
                 (struct wio_task_step){.kind = WIO_TASK_WRITE,
                                        .seconds = file->is_begun ? 0 : file->device->params.c_new,
                                        .offset = offset,
                                        .end = offset + size});
    file->is_begun = true;
    if (size > 0) {
        note_write(cache, file, offset + size, false);
    }
}

/* What is in the stream's buffer. */
static void add_flush(const struct wio_cache *cache, struct wio_task *task,
                      struct wio_cache_file *file)
{
    uint64_t size = file->pending;
    file->pending = 0;
    if (size > 0) {
        add_write(cache, task, file, file->position - size, size);
    }
}

/* glibc: fill the buffer, write it, write whole buffers at once, keep the rest. A stream that has
 * no buffer yet has nothing to fill: its first write is of whole buffers (rule 12). */
static void add_fwrite(const struct wio_tasks *tasks, struct wio_task *task,
                       struct wio_cache_file *file, const struct wio_model_op *op)
{
    const struct wio_model_params *p = tasks->params;
    uint64_t bf = (uint64_t)p->bf;
    uint64_t left = op->size;
    add_wait(task, p->c_lib + (file->has_buffer ? 0 : p->c_stream));
    if (op->offset != file->position) {
        add_flush(&tasks->cache, task, file);
        file->position = op->offset;
    }
    uint64_t filling = wio_smaller(left, file->has_buffer ? bf - file->pending : 0);
    file->pending += filling;
    file->position += filling;
    left -= filling;
    if (left == 0) {
        return;
    }
    uint64_t whole = left - left % bf;
    file->has_buffer = true;
    add_flush(&tasks->cache, task, file);
    if (whole > 0) {
        add_write(&tasks->cache, task, file, file->position, whole);
    }
    file->pending = left - whole;
    file->position += left;
}

static bool is_random(const struct wio_cache_file *file, const struct wio_model_op *op)
{
    if (op->random != WIO_MODEL_RANDOM_UNKNOWN) {
        return op->random == WIO_MODEL_RANDOM_YES;
    }
    return file->is_used && file->last_end != op->offset;
}

/* Write-back begins; what is clean may leave memory (rule 19). */
static enum wio_status add_write_out(struct wio_cache *cache, struct wio_task *task,
                                     struct wio_cache_file *file, const struct wio_model_op *op)
{
    bool forgets = op->method == WIO_MODEL_FORGET && wio_cache_is_clean(file);
    if (!op->is_inside) {
        add_wait(task, wio_copy_call_s(&file->device->params));
    }
    if (forgets) {
        file->folio = op->offset == 0 && op->size == 0 ? 0 : file->folio;
        wio_cache_forget(cache, file, op->offset,
                         op->size > 0 ? op->offset + op->size : WIO_MODEL_OFFSET_MAX);
        return WIO_OK;
    }
    return wio_cache_write_out(cache, file);
}

/* What goes past memory does not stay in it; pages that were written there take time to go (rule
 * 13). */
static void add_forget(struct wio_cache *cache, struct wio_task *task, struct wio_cache_file *file,
                       const struct wio_model_op *op)
{
    uint64_t before = file->resident.pages.count;
    wio_cache_forget(cache, file, op->offset, op->offset + op->size);
    uint64_t gone = before - file->resident.pages.count;
    double seconds = (double)gone * file->device->params.c_forget;
    if (seconds > 0 && file->folio > 0) {
        add_wait(task, seconds);
    }
}

/* The commit of a new length or of new blocks includes the file's time, even where no call asked
 * for it (rule 11). */
static bool commits_time(const struct wio_cache_file *file, const struct wio_model_op *op,
                         enum wio_cache_change change)
{
    bool has_grown = change != WIO_CACHE_NOTHING || op->offset + op->size > file->size;
    return wio_journal_commits_time(op) || (op->method != WIO_MODEL_DIRECT_NOSYNC && has_grown);
}

/* Direct and synchronous writes have the device to themselves (rule 13). */
static enum wio_status add_bypass(struct wio_cache *cache, struct wio_task *task,
                                  struct wio_cache_file *file, const struct wio_model_op *op)
{
    if (op->size == 0) {
        add_wait(task, wio_copy_call_s(&file->device->params));
        return WIO_OK;
    }
    const struct wio_task_step step = wio_wait_step(cache, file, op, is_random(file, op));
    uint64_t end = op->offset + op->size;
    uint64_t added;
    enum wio_cache_change change;
    wio_cache_clean(cache, file, op->offset, end);
    WIO_TRY(wio_cache_note_sent(cache, file, op->offset, end, &change));
    note_write(cache, file, end, commits_time(file, op, change));
    if (op->method != WIO_MODEL_DIRECT_NOSYNC) { /* commits by itself */
        file->safe_size = file->safe_size > end ? file->safe_size : end;
    } else if (change == WIO_CACHE_BLOCKS) {
        file->changed_s = file->device->changed_s = cache->time_s;
    } else if (change == WIO_CACHE_LENGTH) {
        wio_cache_note_longer(cache, file);
    }
    if (op->method != WIO_MODEL_SYNC) {
        add_forget(cache, task, file, op);
    }
    wio_task_add(task, step);
    if (op->method != WIO_MODEL_SYNC) {
        return WIO_OK;
    }
    wio_cache_note_folio(file, op->size);
    return wio_cache_use(cache, file, op->offset, end, &added);
}

/* What is in memory is copied, the rest comes from the device (rule 15). */
static void add_read(struct wio_task *task, struct wio_cache_file *file,
                     const struct wio_model_op *op)
{
    if (op->at_end) {
        file->known_end = op->offset + op->size;
    }
    add_wait(task, wio_copy_read_s(&file->device->params));
    wio_task_add(task, (struct wio_task_step){.kind = WIO_TASK_READ,
                                              .offset = op->offset,
                                              .end = op->offset + op->size,
                                              .is_random = is_random(file, op)});
}

/* O_DIRECT: what is dirty is written first. */
static void add_read_direct(struct wio_task *task, struct wio_cache_file *file,
                            const struct wio_model_op *op)
{
    const struct wio_model_params *p = &file->device->params;
    uint64_t end = op->offset + op->size;
    uint64_t pages = wio_holes_data(file, op->offset / WIO_CACHE_PAGE, wio_cache_page_behind(end));
    double seconds = (double)wio_smaller(op->size, pages * WIO_CACHE_PAGE) / p->bw_rdev;
    seconds += pages > 0 && is_random(file, op) ? p->c_sk : 0;
    add_wait(task, wio_copy_call_s(p));
    if (file->pages.count > 0) {
        wio_task_add(task, (struct wio_task_step){.kind = WIO_TASK_SYNC});
    }
    wio_task_add(task, (struct wio_task_step){.kind = WIO_TASK_DEVICE,
                                              .device_s = seconds,
                                              .seconds = seconds,
                                              .is_read = true});
}

/* What is dirty behind the end is never written; what the device has begun to write is waited for
 * (rule 17). A stream that writes a file anew is a new one (rule 12). */
static void add_truncate(struct wio_cache *cache, struct wio_task *task,
                         struct wio_cache_file *file, const struct wio_model_op *op)
{
    file->folio = op->offset > 0 ? file->folio : 0;
    file->has_buffer = file->has_buffer && op->offset > 0;
    wio_cache_cut(cache, file, op->offset, op->is_shared);
    wio_task_add(task, (struct wio_task_step){.kind = WIO_TASK_DRAIN});
}

static enum wio_status add_steps(const struct wio_model *model, struct wio_task *task,
                                 struct wio_cache_file *file, const struct wio_model_op *op)
{
    struct wio_tasks *tasks = model->state;
    struct wio_cache *cache = &tasks->cache;
    switch (op->method) {
    case WIO_MODEL_WRITE:
        add_write(cache, task, file, op->offset, op->size);
        return WIO_OK;
    case WIO_MODEL_FWRITE:
        add_fwrite(tasks, task, file, op);
        return WIO_OK;
    case WIO_MODEL_FFLUSH:
        add_flush(cache, task, file);
        return WIO_OK;
    case WIO_MODEL_FSYNC:
    case WIO_MODEL_FDATASYNC:
        wio_journal_fsync(task, file, op->method == WIO_MODEL_FDATASYNC);
        return WIO_OK;
    case WIO_MODEL_SYNCFS:
        wio_journal_syncfs(task, file);
        return WIO_OK;
    case WIO_MODEL_WRITE_OUT:
    case WIO_MODEL_FORGET:
        return add_write_out(cache, task, file, op);
    case WIO_MODEL_READ:
        add_read(task, file, op);
        return WIO_OK;
    case WIO_MODEL_READ_DIRECT:
        add_read_direct(task, file, op);
        return WIO_OK;
    case WIO_MODEL_TRUNCATE:
        add_truncate(cache, task, file, op);
        return WIO_OK;
    case WIO_MODEL_DIRECT:
    case WIO_MODEL_DIRECT_NOSYNC:
    case WIO_MODEL_SYNC:
        return add_bypass(cache, task, file, op);
    case WIO_MODEL_METHOD_COUNT:
        break;
    }
    return WIO_ERR_INTERNAL;
}

/* Where the file ends and where its next operation is sequential. */
static enum wio_status note_range(struct wio_cache *cache, struct wio_cache_file *file,
                                  const struct wio_model_op *op)
{
    enum wio_model_flow flow = wio_model_flow(op->method);
    if (flow == WIO_MODEL_MOVES_NOTHING) {
        return WIO_OK;
    }
    file->last_end = op->offset + op->size;
    file->is_used = true;
    if (op->size == 0) {
        return WIO_OK; /* as read(2) and write(2): no file becomes longer */
    }
    if (file->known_end < file->last_end) {
        file->known_end = file->last_end;
    }
    return flow == WIO_MODEL_MOVES_IN ? wio_holes_note_read(cache, file, op->offset, file->last_end)
                                      : WIO_OK;
}

static enum wio_status begin(struct wio_model *model, uint32_t id, const struct wio_model_op *op)
{
    struct wio_tasks *tasks = model->state;
    struct wio_task *task = wio_tasks_get(tasks, id);
    struct wio_cache_file *file = wio_cache_file(&tasks->cache, op->file, op->device);
    if (task == NULL || file == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (task->is_active) {
        return WIO_ERR_USAGE;
    }
    WIO_TRY(add_steps(model, task, file, op));
    WIO_TRY(note_range(&tasks->cache, file, op));
    wio_tasks_begin(tasks, task, file);
    return WIO_OK;
}

static enum wio_status run(struct wio_model *model, double until_s, struct wio_model_done *done)
{
    struct wio_tasks *tasks = model->state;
    const struct wio_cache *cache = &tasks->cache;
    struct wio_task *task;
    enum wio_status status = wio_tasks_run(tasks, until_s, &task);
    model->time_s = cache->time_s;
    if (task != NULL) {
        done->task = task->id;
    }
    if (status != WIO_OK) {
        return status;
    }
    WIO_PRE(task != NULL);
    done->is_asleep = task->is_active;
    done->result = (struct wio_model_result){
        .cost_s = cache->time_s - task->begin_s,
        .dirty_bytes =
            (double)wio_smaller(wio_cache_pages(cache) * WIO_CACHE_PAGE, cache->written_bytes),
        .time_s = cache->time_s,
        .device_s = task->device_s,
        .state = task->state,
    };
    return WIO_OK;
}

static double next(struct wio_model *model)
{
    return wio_tasks_next(model->state);
}

static void tell_sleep(struct wio_model *model)
{
    ((struct wio_tasks *)model->state)->tells_sleep = true;
}

static void limit_steps(struct wio_model *model, uint64_t steps)
{
    ((struct wio_tasks *)model->state)->cache.steps_max = steps;
}

static enum wio_status init(struct wio_model *model)
{
    struct wio_tasks *tasks = model->alloc.get(model->alloc.context, sizeof(*tasks));
    if (tasks == NULL) {
        return WIO_ERR_NOMEM;
    }
    model->state = tasks;
    return wio_tasks_init(tasks, &model->alloc, &model->params);
}

static enum wio_status add_device(struct wio_model *model, const struct wio_model_params *params)
{
    return wio_cache_add_device(&((struct wio_tasks *)model->state)->cache, params);
}

static void fini(struct wio_model *model)
{
    if (model->state != NULL) {
        wio_tasks_fini(model->state);
        model->alloc.put(model->alloc.context, model->state);
    }
}

/* Bytes and rates become whole numbers here. */
#define BYTES_MOST 1e16
#define HZ_MOST 1e5
/* A write into a part of a folio goes through all its pages: larger ones would take long. */
#define FOLIO_MOST 1073741824.0

static const struct wio_model_range ranges[] = {
    {offsetof(struct wio_model_params, bf), 1, BYTES_MOST},
    {offsetof(struct wio_model_params, hz), 1, HZ_MOST},
    {offsetof(struct wio_model_params, limit_hard), WIO_CACHE_PAGE, BYTES_MOST},
    {offsetof(struct wio_model_params, balance_step), 1, FOLIO_MOST},
    {offsetof(struct wio_model_params, request_max), 1, BYTES_MOST},
    {offsetof(struct wio_model_params, dirty_ratelimit0), 1, BYTES_MOST},
    {offsetof(struct wio_model_params, write_bw0), 1, BYTES_MOST},
    {offsetof(struct wio_model_params, mem_bytes), 0, BYTES_MOST},
    {offsetof(struct wio_model_params, group_limit), 0, BYTES_MOST},
    {offsetof(struct wio_model_params, group_used), 0, BYTES_MOST},
    {offsetof(struct wio_model_params, group_version), 1, 2},
    {offsetof(struct wio_model_params, read_ahead), 0, BYTES_MOST},
    {.place = WIO_MODEL_NO_PARAM},
};

const struct wio_model_class wio_model_kernel = {.name = "kernel",
                                                 .ranges = ranges,
                                                 .size_max = WIO_MODEL_SIZE_MAX,
                                                 .init = init,
                                                 .fini = fini,
                                                 .add_device = add_device,
                                                 .begin = begin,
                                                 .run = run,
                                                 .next = next,
                                                 .tell_sleep = tell_sleep,
                                                 .limit_steps = limit_steps};
