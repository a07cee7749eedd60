/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/task.h"

#include <math.h>

#include "base/cleanup.h"

static int compare_ids(const struct wio_task *a, const struct wio_task *b)
{
    return (a->id > b->id) - (a->id < b->id);
}

/* Of two that wake together the one with the lower number goes first. */
static int compare_wakes(const struct wio_task *a, const struct wio_task *b)
{
    int order = (a->wake_s > b->wake_s) - (a->wake_s < b->wake_s);
    return order != 0 ? order : compare_ids(a, b);
}

RB_GENERATE_STATIC(wio_tasks_by_id, wio_task, by_id, compare_ids)
RB_GENERATE_STATIC(wio_tasks_by_wake, wio_task, by_wake, compare_wakes)

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void wio_tasks_init(struct wio_tasks *tasks, const struct wio_alloc *alloc,
                    const struct wio_model_params *params)
{
    *tasks = (struct wio_tasks){.params = params};
    SLIST_INIT(&tasks->in_sync);
    wio_cache_init(&tasks->cache, alloc, params);
}

void wio_tasks_fini(struct wio_tasks *tasks)
{
    struct wio_task *task;
    while ((task = RB_MIN(wio_tasks_by_id, &tasks->by_id)) != NULL) {
        RB_REMOVE(wio_tasks_by_id, &tasks->by_id, task);
        tasks->cache.alloc.put(tasks->cache.alloc.context, task);
    }
    wio_cache_fini(&tasks->cache);
}

struct wio_task *wio_tasks_get(struct wio_tasks *tasks, uint32_t id)
{
    if (tasks->last != NULL && tasks->last->id == id) {
        return tasks->last;
    }
    struct wio_task key = {.id = id};
    struct wio_task *task = RB_FIND(wio_tasks_by_id, &tasks->by_id, &key);
    if (task == NULL) {
        task = tasks->cache.alloc.get(tasks->cache.alloc.context, sizeof(*task));
        if (task == NULL) {
            return NULL;
        }
        task->id = id;
        task->throttle = wio_throttle_task_new();
        RB_INSERT(wio_tasks_by_id, &tasks->by_id, task);
    }
    tasks->last = task;
    return task;
}

void wio_task_add(struct wio_task *task, struct wio_task_step step)
{
    WIO_PRE(task->step_count < WIO_TASK_STEPS);
    task->steps[task->step_count++] = step;
}

void wio_tasks_begin(struct wio_tasks *tasks, struct wio_task *task, struct wio_cache_file *file)
{
    task->file = file;
    task->step_at = 0;
    task->phase = WIO_TASK_BEGIN;
    task->state = WIO_MODEL_STATE_NONE;
    task->is_active = true;
    task->device_s = 0;
    task->begin_s = tasks->cache.time_s;
    task->wake_s = tasks->cache.time_s;
    RB_INSERT(wio_tasks_by_wake, &tasks->by_wake, task);
}

/* The throttling of the task that runs lies in the cache, as the kernel's does in `current`. */
static void make_current(struct wio_tasks *tasks, struct wio_task *task)
{
    if (tasks->current == task) {
        return;
    }
    if (tasks->current != NULL) {
        tasks->current->throttle = tasks->cache.throttle.task;
    }
    tasks->cache.throttle.task = task->throttle;
    tasks->current = task;
}

static void wait(struct wio_tasks *tasks, struct wio_task *task, double seconds,
                 enum wio_task_phase phase)
{
    task->wake_s = tasks->cache.time_s + seconds;
    task->phase = phase;
}

/* ---- write(2) ---- */

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

static enum wio_status write_begin(struct wio_tasks *tasks, struct wio_task *task,
                                   const struct wio_task_step *step)
{
    uint64_t hits;
    task->state = WIO_MODEL_STATE_FREE;
    if (tasks->params->cache_size > 0) {
        WIO_TRY(wio_cache_use(&tasks->cache, task->file, step->offset, step->end, &hits));
    }
    wait(tasks, task, tasks->params->sc_w, WIO_TASK_PIECE);
    return WIO_OK;
}

static enum wio_status write_piece(struct wio_tasks *tasks, struct wio_task *task,
                                   struct wio_task_step *step)
{
    const struct wio_model_params *p = tasks->params;
    uint64_t stop = piece_end(step->offset, step->end, (uint64_t)p->balance_step);
    uint64_t size = stop - step->offset;
    uint64_t fresh;
    task->is_writing = tasks->cache.queue.waiting > 0;
    WIO_TRY(wio_cache_dirty(&tasks->cache, task->file, step->offset, stop, &fresh));
    step->offset = stop;
    wait(tasks, task, copy_s(p, size, least(fresh, size), task->is_writing), WIO_TASK_LOOK);
    return WIO_OK;
}

static enum wio_status write_look(struct wio_tasks *tasks, struct wio_task *task)
{
    enum wio_throttle_verdict verdict;
    WIO_TRY(wio_cache_look(&tasks->cache, &verdict, &task->wake_s));
    task->phase = verdict == WIO_THROTTLE_AGAIN ? WIO_TASK_LOOK : WIO_TASK_PIECE;
    if (verdict >= WIO_THROTTLE_PAUSE) {
        task->state = WIO_MODEL_STATE_THROTTLE;
    } else if (task->is_writing && task->state == WIO_MODEL_STATE_FREE) {
        task->state = WIO_MODEL_STATE_ASYNC;
    }
    return WIO_OK;
}

/* Ends in phase END where nothing is left to write. */
static enum wio_status go_on_writing(struct wio_tasks *tasks, struct wio_task *task,
                                     struct wio_task_step *step)
{
    if (task->phase == WIO_TASK_BEGIN) {
        return write_begin(tasks, task, step);
    }
    if (task->phase == WIO_TASK_LOOK) {
        return write_look(tasks, task);
    }
    if (step->offset < step->end) {
        return write_piece(tasks, task, step);
    }
    task->phase = WIO_TASK_END;
    return WIO_OK;
}

/* ---- the other steps ---- */

/* The device serves one after the other; write-back waits meanwhile (rules 13 and 15). */
static void use_device(struct wio_tasks *tasks, struct wio_task *task,
                       const struct wio_task_step *step)
{
    if (tasks->has_device_outside) {
        task->device_s += step->device_s;
        wait(tasks, task, step->seconds - step->device_s, WIO_TASK_END);
        return;
    }
    double start_s = wio_cache_device_take(&tasks->cache, step->device_s);
    task->wake_s = start_s + step->seconds;
    task->phase = WIO_TASK_END;
}

static enum wio_status begin_sync(struct wio_tasks *tasks, struct wio_task *task)
{
    WIO_TRY(wio_cache_write_out(&tasks->cache, task->file));
    task->wake_s = wio_cache_is_written(&tasks->cache, task->file) ? tasks->cache.time_s : HUGE_VAL;
    task->phase = WIO_TASK_END;
    return WIO_OK;
}

static enum wio_status begin_step(struct wio_tasks *tasks, struct wio_task *task,
                                  const struct wio_task_step *step)
{
    switch (step->kind) {
    case WIO_TASK_WAIT:
        wait(tasks, task, step->seconds, WIO_TASK_END);
        return WIO_OK;
    case WIO_TASK_DEVICE:
        use_device(tasks, task, step);
        return WIO_OK;
    case WIO_TASK_SYNC:
        return begin_sync(tasks, task);
    case WIO_TASK_WRITE:
    default:
        return WIO_ERR_INTERNAL;
    }
}

/* ---- whose turn it is ---- */

/* Perform what can be done now: until the task has to wait, or has ended (is_active false). */
static enum wio_status advance(struct wio_tasks *tasks, struct wio_task *task)
{
    make_current(tasks, task);
    while (task->step_at < task->step_count) {
        struct wio_task_step *step = &task->steps[task->step_at];
        if (task->phase == WIO_TASK_END) {
            task->step_at++;
            task->phase = WIO_TASK_BEGIN;
            continue;
        }
        if (step->kind == WIO_TASK_WRITE) {
            WIO_TRY(go_on_writing(tasks, task, step));
        } else {
            WIO_TRY(begin_step(tasks, task, step));
        }
        if (task->wake_s > tasks->cache.time_s || tasks->cache.next_s <= tasks->cache.time_s) {
            return tasks->cache.status; /* others may be due now, however short the wait */
        }
    }
    task->is_active = false;
    task->step_count = 0;
    return tasks->cache.status;
}

/* Those that wait for the device and have what they wait for are woken. */
static void wake_synced(struct wio_tasks *tasks)
{
    struct wio_task *next;
    for (struct wio_task *task = SLIST_FIRST(&tasks->in_sync); task != NULL; task = next) {
        next = SLIST_NEXT(task, in_sync);
        if (wio_cache_is_written(&tasks->cache, task->file)) {
            SLIST_REMOVE(&tasks->in_sync, task, wio_task, in_sync);
            task->wake_s = tasks->cache.time_s;
            RB_INSERT(wio_tasks_by_wake, &tasks->by_wake, task);
        }
    }
}

static void put_to_sleep(struct wio_tasks *tasks, struct wio_task *task)
{
    if (task->wake_s < HUGE_VAL) {
        RB_INSERT(wio_tasks_by_wake, &tasks->by_wake, task);
    } else {
        SLIST_INSERT_HEAD(&tasks->in_sync, task, in_sync);
    }
}

/* Run a task on its own as long as nobody else has anything to do. */
static enum wio_status run_alone(struct wio_tasks *tasks, struct wio_task *task, double until_s)
{
    const struct wio_task *other = RB_MIN(wio_tasks_by_wake, &tasks->by_wake);
    double limit_s = other != NULL ? fmin(other->wake_s, until_s) : until_s;
    bool has_others = !SLIST_EMPTY(&tasks->in_sync);
    do {
        wio_cache_wait_until(&tasks->cache, task->wake_s);
        WIO_TRY(advance(tasks, task));
    } while (task->is_active && !has_others && task->wake_s <= limit_s && task->wake_s < HUGE_VAL);
    if (task->is_active) {
        put_to_sleep(tasks, task);
    }
    return WIO_OK;
}

double wio_tasks_next(struct wio_tasks *tasks)
{
    const struct wio_task *task = RB_MIN(wio_tasks_by_wake, &tasks->by_wake);
    double next_s = task != NULL ? task->wake_s : HUGE_VAL;
    return SLIST_EMPTY(&tasks->in_sync) ? next_s : fmin(next_s, tasks->cache.queue.head_done_s);
}

enum wio_status wio_tasks_run(struct wio_tasks *tasks, double until_s, struct wio_task **ended_out)
{
    for (;;) {
        struct wio_task *task = RB_MIN(wio_tasks_by_wake, &tasks->by_wake);
        double next_s = wio_tasks_next(tasks);
        if (next_s > until_s || next_s == HUGE_VAL) {
            if (until_s < HUGE_VAL) {
                wio_cache_wait_until(&tasks->cache, until_s);
            }
            return WIO_END;
        }
        if (task == NULL || next_s < task->wake_s) {
            wio_cache_wait_until(&tasks->cache, next_s);
            wake_synced(tasks);
            continue;
        }
        RB_REMOVE(wio_tasks_by_wake, &tasks->by_wake, task);
        WIO_TRY(run_alone(tasks, task, until_s));
        wake_synced(tasks);
        if (!task->is_active) {
            *ended_out = task;
            return WIO_OK;
        }
    }
}
