/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/kernel/task.h"

#include <math.h>

#include "base/cleanup.h"
#include "model/kernel/task_step.h"

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

enum wio_status wio_tasks_init(struct wio_tasks *tasks, const struct wio_alloc *alloc,
                               const struct wio_model_params *params)
{
    *tasks = (struct wio_tasks){.params = params};
    SLIST_INIT(&tasks->in_sync);
    wio_cache_init(&tasks->cache, alloc, params);
    return wio_cache_add_device(&tasks->cache, params);
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
    task->is_idle = false;
    task->is_told = false;
    task->device_s = 0;
    task->begin_s = tasks->cache.time_s;
    task->wake_s = tasks->cache.time_s;
    RB_INSERT(wio_tasks_by_wake, &tasks->by_wake, task);
}

/* The throttling of the task that runs lies at its device, as the kernel's does in `current`. */
static void make_current(struct wio_tasks *tasks, struct wio_task *task)
{
    struct wio_cache_device *device = task->file->device;
    if (tasks->current == task && tasks->current_device == device) {
        return;
    }
    if (tasks->current != NULL) {
        tasks->current->throttle = tasks->current_device->throttle.task;
    }
    device->throttle.task = task->throttle;
    tasks->current = task;
    tasks->current_device = device;
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
        wio_cache_step(&tasks->cache);
        WIO_TRY(wio_task_step(tasks, task, step));
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
        if (task->file->device->queue.completed >= task->awaited) {
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

static bool is_to_tell(const struct wio_tasks *tasks, const struct wio_task *task)
{
    return tasks->tells_sleep && task->is_active && task->is_idle && !task->is_told;
}

/* Run a task on its own as long as no other task is due. */
static enum wio_status run_alone(struct wio_tasks *tasks, struct wio_task *task, double until_s)
{
    const struct wio_task *other = RB_MIN(wio_tasks_by_wake, &tasks->by_wake);
    bool has_others = !SLIST_EMPTY(&tasks->in_sync);
    do {
        wio_cache_wait_until(&tasks->cache, task->wake_s);
        WIO_TRY(advance(tasks, task));
    } while (task->is_active && !has_others && !is_to_tell(tasks, task) &&
             task->wake_s <= until_s && task->wake_s < HUGE_VAL &&
             (other == NULL || compare_wakes(task, other) < 0));
    if (task->is_active) {
        put_to_sleep(tasks, task);
    }
    return WIO_OK;
}

double wio_tasks_next(struct wio_tasks *tasks)
{
    const struct wio_task *task = RB_MIN(wio_tasks_by_wake, &tasks->by_wake);
    double next_s = task != NULL ? task->wake_s : HUGE_VAL;
    for (uint32_t i = 0; !SLIST_EMPTY(&tasks->in_sync) && i < tasks->cache.device_count; i++) {
        next_s = fmin(next_s, tasks->cache.devices[i]->queue.head_done_s);
    }
    return next_s;
}

enum wio_status wio_tasks_run(struct wio_tasks *tasks, double until_s, struct wio_task **task_out)
{
    *task_out = NULL;
    for (;;) {
        struct wio_task *task = RB_MIN(wio_tasks_by_wake, &tasks->by_wake);
        double next_s = wio_tasks_next(tasks);
        WIO_TRY(tasks->cache.status);
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
        *task_out = task;
        WIO_TRY(run_alone(tasks, task, until_s));
        wake_synced(tasks);
        if (!task->is_active || is_to_tell(tasks, task)) {
            task->is_told = true;
            return WIO_OK;
        }
    }
}
