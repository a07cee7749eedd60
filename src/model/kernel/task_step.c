/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/kernel/task_step.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/pick.h"
#include "model/cost/copy_cost.h"

/* While it has a processor. */
static void wait(struct wio_tasks *tasks, struct wio_task *task, double seconds,
                 enum wio_task_phase phase)
{
    task->wake_s = tasks->cache.time_s + seconds;
    task->is_idle = false;
    task->phase = phase;
}

/* Until task->wake_s, for something else. */
static void sleep_until(const struct wio_tasks *tasks, struct wio_task *task,
                        enum wio_task_phase phase)
{
    task->is_idle = task->wake_s > tasks->cache.time_s;
    task->phase = phase;
}

static const struct wio_model_params *params_of(const struct wio_task *task)
{
    return &task->file->device->params;
}

/* ---- write(2) ---- */

/* Where the folio ends in which a write of [offset, end) goes on: a power of 2, aligned to itself,
 * not longer than what is left or than `step` (rule 8). */
static uint64_t piece_end(uint64_t offset, uint64_t end, uint64_t step)
{
    uint64_t page = offset / WIO_CACHE_PAGE;
    uint64_t pages = wio_smaller(end - offset, step) / WIO_CACHE_PAGE;
    uint64_t longest = pages > 1 ? UINT64_C(1) << (63 - __builtin_clzll(pages)) : 1;
    uint64_t aligned = page > 0 ? page & -page : longest;
    return wio_smaller(end, (page + wio_smaller(longest, aligned)) * WIO_CACHE_PAGE);
}

/* The pages of [offset, end) are dirty and in memory from now on; what they were is told. */
static enum wio_status take_pages(struct wio_cache *cache, struct wio_cache_file *file,
                                  uint64_t offset, uint64_t end, struct wio_copy *copy)
{
    uint64_t absent;
    WIO_TRY(wio_cache_dirty(cache, file, offset, end, &copy->fresh));
    if (copy->fresh == 0 && cache->resident.room == UINT64_MAX) {
        return WIO_OK; /* dirty pages are in memory */
    }
    WIO_TRY(wio_cache_use(cache, file, offset, end, &absent));
    copy->absent = wio_smaller(absent * WIO_CACHE_PAGE, copy->fresh);
    return WIO_OK;
}

static enum wio_status write_piece(struct wio_tasks *tasks, struct wio_task *task,
                                   struct wio_task_step *step)
{
    const struct wio_model_params *p = params_of(task);
    uint64_t stop = piece_end(step->offset, step->end, (uint64_t)p->balance_step);
    const struct wio_cache_file *file = task->file;
    uint64_t in_folio = file->folio > 0 ? step->offset % file->folio : 0;
    struct wio_copy copy = {.size = stop - step->offset,
                            .folio = file->folio / WIO_CACHE_PAGE,
                            .within = wio_smaller(step->end - step->offset, file->folio - in_folio),
                            .far = wio_copy_far(p, stop - step->offset, step->end - step->offset),
                            .goes_on = step->goes_on && in_folio != 0,
                            .is_writing = file->device->queue.waiting > 0};
    if (copy.is_writing && task->state == WIO_MODEL_STATE_FREE) {
        task->state = WIO_MODEL_STATE_ASYNC;
    }
    WIO_TRY(take_pages(&tasks->cache, task->file, step->offset, stop, &copy));
    if (copy.absent > 0) {
        wio_cache_note_folio(task->file, copy.size);
    }
    step->offset = stop;
    step->goes_on = true;
    wait(tasks, task, wio_copy_in_s(p, &copy), WIO_TASK_LOOK);
    return WIO_OK;
}

static enum wio_status write_look(struct wio_tasks *tasks, struct wio_task *task)
{
    enum wio_throttle_verdict verdict;
    WIO_TRY(wio_cache_look(&tasks->cache, task->file->device, &verdict, &task->wake_s));
    sleep_until(tasks, task, verdict == WIO_THROTTLE_AGAIN ? WIO_TASK_LOOK : WIO_TASK_PIECE);
    if (verdict >= WIO_THROTTLE_PAUSE) {
        task->state = WIO_MODEL_STATE_THROTTLE;
    }
    return WIO_OK;
}

/* The look comes before each folio, so the last one of a write is paid for by the next write (rule
 * 8). Ends in phase END where nothing is left to write. */
static enum wio_status go_on_writing(struct wio_tasks *tasks, struct wio_task *task,
                                     struct wio_task_step *step)
{
    if (task->phase == WIO_TASK_BEGIN) {
        task->state = WIO_MODEL_STATE_FREE;
        wait(tasks, task, wio_copy_call_s(params_of(task)) + step->seconds, WIO_TASK_LOOK);
        return WIO_OK;
    }
    if (step->offset >= step->end) {
        task->phase = WIO_TASK_END;
        return WIO_OK;
    }
    return task->phase == WIO_TASK_LOOK ? write_look(tasks, task) : write_piece(tasks, task, step);
}

/* ---- the device ---- */

/* A device outside serves by itself what it is asked for. Is there one? */
static bool leave_outside(const struct wio_tasks *tasks, struct wio_task *task, double seconds)
{
    if (tasks->has_device_outside) {
        task->device_s += seconds;
    }
    return tasks->has_device_outside;
}

/* The device serves one after the other; write-back waits meanwhile (rules 13 and 15). When it has
 * served this one. */
static double read_device(struct wio_tasks *tasks, struct wio_task *task, double seconds)
{
    return leave_outside(tasks, task, seconds)
               ? tasks->cache.time_s
               : wio_cache_device_take(&tasks->cache, task->file->device, seconds) + seconds;
}

static double write_device(struct wio_tasks *tasks, struct wio_task *task,
                           const struct wio_queue_write *write)
{
    return leave_outside(tasks, task, write->medium_s)
               ? tasks->cache.time_s
               : wio_cache_device_write(&tasks->cache, task->file->device, write);
}

static double write_journal(struct wio_tasks *tasks, struct wio_task *task, double seconds)
{
    return leave_outside(tasks, task, seconds)
               ? tasks->cache.time_s
               : wio_cache_device_commit(&tasks->cache, task->file->device, seconds);
}

/* What a limit, or a buffer, lets pass fast now is missing later: of those all counts (rule 14). */
static bool has_credit(const struct wio_tasks *tasks, const struct wio_model_params *params)
{
    return !tasks->has_device_outside && (params->slice > 0 || params->burst_size > 0);
}

/* A table says all of what passes a limit by slices; a device outside has none. */
static double rest_of(const struct wio_tasks *tasks, const struct wio_task_step *step,
                      double device_s, bool has_slices)
{
    if (tasks->has_device_outside) {
        return fmax(fmax(step->seconds, step->even_s) - device_s, 0);
    }
    return has_slices && step->least_s > 0 ? 0 : fmax(step->seconds - device_s, 0);
}

static void use_device(struct wio_tasks *tasks, struct wio_task *task,
                       const struct wio_task_step *step)
{
    bool is_counted = has_credit(tasks, params_of(task));
    bool has_slices = params_of(task)->slice > 0;
    /* tables know of no waits then, nor of a device outside */
    bool is_whole = is_counted || has_slices || tasks->has_device_outside;
    double device_s = is_whole ? step->device_s : fmin(step->device_s, step->seconds);
    const struct wio_queue_write write = {
        .medium_s = device_s, .fast_s = step->least_s, .request_pages = step->request_pages};
    double least_s = is_counted ? step->least_s : 0;
    double served_s =
        step->is_read ? read_device(tasks, task, device_s) : write_device(tasks, task, &write);
    if (step->journal_s > 0) {
        (void)write_journal(tasks, task, step->journal_s);
    }
    task->wake_s = fmax(served_s + rest_of(tasks, step, device_s, has_slices && !step->is_read),
                        tasks->cache.time_s + least_s);
    sleep_until(tasks, task, WIO_TASK_END);
}

/* Until the device has written what it was handed of the file; what others hand it later is not
 * waited for. */
static void drain(struct wio_tasks *tasks, struct wio_task *task)
{
    task->awaited = task->file->queued;
    task->wake_s = wio_cache_is_written(task->file) ? tasks->cache.time_s : HUGE_VAL;
    sleep_until(tasks, task, WIO_TASK_END);
}

/* Returns when the commit ends for the task that began it: an external device writes it then, and
 * other tasks wait for that. */
static double begin_commit(struct wio_tasks *tasks, struct wio_task *task,
                           const struct wio_task_step *step, bool has_blocks)
{
    struct wio_cache_device *device = task->file->device;
    double device_s = has_blocks ? step->device_s : step->inode_device_s;
    double beside_s = has_blocks ? step->seconds : step->inode_s;
    device->committed_s = device->commit_begin_s;
    device->commit_begin_s = tasks->cache.time_s;
    double end_s = write_journal(tasks, task, device_s) + beside_s;
    device->commit_end_s = end_s + (tasks->has_device_outside ? device_s : 0);
    return end_s;
}

/* When something changed last that the commit is for: blocks, length, time. */
static double changed_s(const struct wio_cache_file *file, const struct wio_task_step *step)
{
    if (step->is_all) {
        return file->device->changed_s;
    }
    double data_s = fmax(file->changed_s, file->longer_s);
    return step->is_data ? data_s : fmax(data_s, file->timed_s);
}

/* A commit takes in all that changed before it began; a later task waits for it, and then for the
 * next one, which serves all that wait (rule 11). */
static void commit(struct wio_tasks *tasks, struct wio_task *task, const struct wio_task_step *step)
{
    struct wio_cache_device *device = task->file->device;
    double now_s = tasks->cache.time_s;
    double since_s = changed_s(task->file, step);
    bool is_running = device->commit_end_s > now_s;
    double ended_s = is_running ? device->committed_s : device->commit_begin_s;
    enum wio_task_phase phase = WIO_TASK_END;
    if (ended_s >= since_s) {
        task->wake_s = now_s + step->clean_s;
    } else if (!is_running) {
        bool has_blocks = step->is_all || task->file->changed_s > ended_s;
        task->wake_s = begin_commit(tasks, task, step, has_blocks);
    } else {
        phase = device->commit_begin_s < since_s ? WIO_TASK_BEGIN : WIO_TASK_END;
        task->wake_s = device->commit_end_s;
    }
    sleep_until(tasks, task, phase);
}

/* ---- read(2) ---- */

/* When the pages that the reader fetches are there. */
static double fetch(struct wio_tasks *tasks, struct wio_task *task, struct wio_task_step *step,
                    const struct wio_read_piece *piece)
{
    const struct wio_model_params *p = params_of(task);
    double seconds = (double)(piece->fetch * WIO_CACHE_PAGE) / p->bw_rdev;
    if (piece->is_waited_for && step->is_random) {
        seconds += p->c_sk;
        step->is_random = false;
    }
    return read_device(tasks, task, seconds);
}

/* What is there is copied, up to where more has to be fetched (rule 15). */
static enum wio_status read_piece(struct wio_tasks *tasks, struct wio_task *task,
                                  struct wio_task_step *step)
{
    uint64_t first = step->offset / WIO_CACHE_PAGE;
    struct wio_read_piece piece;
    WIO_TRY(wio_reader_next(&tasks->cache, task->file, step->reader, first,
                            wio_cache_page_behind(step->end), &piece));
    if (piece.fetch > 0) {
        wio_reader_fetches(task->file, step->reader, &piece, fetch(tasks, task, step, &piece));
    }
    uint64_t stop = wio_smaller(step->end, piece.stop * WIO_CACHE_PAGE);
    task->wake_s = wio_reader_there(&tasks->cache, task->file, first, piece.stop);
    sleep_until(tasks, task, WIO_TASK_PIECE);
    const struct wio_model_params *p = params_of(task);
    uint64_t size = stop - step->offset;
    uint64_t far = wio_copy_far(p, size, step->end - step->offset);
    task->wake_s += wio_copy_out_s(p, size, task->file->folio, far);
    step->offset = stop;
    return WIO_OK;
}

static enum wio_status go_on_reading(struct wio_tasks *tasks, struct wio_task *task,
                                     struct wio_task_step *step)
{
    if (task->phase == WIO_TASK_BEGIN) {
        step->reader = wio_reader_find(&tasks->cache, task->file, step->offset / WIO_CACHE_PAGE);
        task->phase = WIO_TASK_PIECE;
    }
    if (step->reader == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (step->offset < step->end) {
        return read_piece(tasks, task, step);
    }
    task->phase = WIO_TASK_END;
    return WIO_OK;
}

/* ---- all ---- */

enum wio_status wio_task_step(struct wio_tasks *tasks, struct wio_task *task,
                              struct wio_task_step *step)
{
    switch (step->kind) {
    case WIO_TASK_WAIT:
        wait(tasks, task, step->seconds, WIO_TASK_END);
        task->is_idle = step->is_idle;
        return WIO_OK;
    case WIO_TASK_WRITE:
        return go_on_writing(tasks, task, step);
    case WIO_TASK_READ:
        return go_on_reading(tasks, task, step);
    case WIO_TASK_DEVICE:
        use_device(tasks, task, step);
        return WIO_OK;
    case WIO_TASK_SYNC:
        WIO_TRY(step->is_all ? wio_cache_write_out_all(&tasks->cache, task->file)
                             : wio_cache_write_out(&tasks->cache, task->file));
        drain(tasks, task);
        return WIO_OK;
    case WIO_TASK_DRAIN:
        drain(tasks, task);
        return WIO_OK;
    case WIO_TASK_COMMIT:
        commit(tasks, task, step);
        return WIO_OK;
    default:
        return WIO_ERR_INTERNAL;
    }
}
