/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kernel/external_device.h"

#include "base/cleanup.h"
#include "model/kernel/task.h"
#include "model/model_internal.h"

enum wio_status wio_model_outside_init(struct wio_model *model, struct wio_error *err)
{
    if (model->class != &wio_model_kernel) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                             "model '%s' cannot have its device outside", model->class->name);
    }
    struct wio_tasks *tasks = model->state;
    WIO_PRE(tasks->cache.device_count == 1 && tasks->cache.devices[0]->queue.submitted == 0);
    tasks->has_device_outside = true;
    tasks->cache.devices[0]->params.read_ahead = 0;
    wio_cache_device_grant(&tasks->cache, tasks->cache.devices[0], 0);
    return WIO_OK;
}

static struct wio_tasks *tasks_of(const struct wio_model *model)
{
    struct wio_tasks *tasks = model->state;
    WIO_PRE(model->class == &wio_model_kernel && tasks->has_device_outside);
    return tasks;
}

struct wio_model_outside wio_model_outside_ask(const struct wio_model *model)
{
    const struct wio_cache *cache = &tasks_of(model)->cache;
    return (struct wio_model_outside){
        .asked_bytes = cache->devices[0]->queue.asked * WIO_CACHE_PAGE,
        .look_s = cache->devices[0]->next_expiry_s,
        .dirty_bytes = (double)(wio_cache_pages(cache) * WIO_CACHE_PAGE),
    };
}

void wio_model_outside_grant(struct wio_model *model, uint64_t bytes)
{
    struct wio_cache *cache = &tasks_of(model)->cache;
    wio_cache_device_grant(cache, cache->devices[0], bytes / WIO_CACHE_PAGE);
}

double wio_model_outside_wake(struct wio_model *model, uint32_t task)
{
    struct wio_tasks *tasks = tasks_of(model);
    const struct wio_task *found = wio_tasks_get(tasks, task);
    if (found == NULL || !found->is_active) {
        return HUGE_VAL;
    }
    return found->wake_s < HUGE_VAL ? found->wake_s : tasks->cache.devices[0]->queue.head_done_s;
}
