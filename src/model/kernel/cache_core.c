/* SPDX-License-Identifier: Apache-2.0 */
/* The page cache: its devices and files, and what their clocks say. Rules of docs/MODEL.md#kernel.
 */
#include "model/kernel/cache.h"

#include <math.h>

#include "base/cleanup.h"
#include "model/kernel/group.h"

static int compare_files(const struct wio_cache_file *a, const struct wio_cache_file *b)
{
    return (a->id > b->id) - (a->id < b->id);
}

RB_GENERATE_STATIC(wio_cache_files, wio_cache_file, node, compare_files)

static uint64_t pages_of(double bytes)
{
    return bytes >= WIO_MODEL_UNLIMITED ? UINT64_MAX : (uint64_t)(bytes / WIO_CACHE_PAGE);
}

void wio_cache_init(struct wio_cache *cache, const struct wio_alloc *alloc,
                    const struct wio_model_params *params)
{
    *cache = (struct wio_cache){
        .alloc = *alloc,
        .hz = params->hz,
        .next_s = HUGE_VAL,
        .expire_s = params->dirty_expire,
        .interval_s = params->dirty_interval,
        .steps_max = UINT64_MAX,
        .dirty_room = pages_of(wio_group_dirty_room(params)),
    };
    wio_chunk_pool_init(&cache->pool, alloc);
    wio_resident_init(&cache->resident, alloc, &cache->pool, pages_of(wio_group_room(params)));
}

enum wio_status wio_cache_add_device(struct wio_cache *cache, const struct wio_model_params *params)
{
    WIO_PRE(cache->device_count < WIO_MODEL_DEVICES_MAX);
    struct wio_cache_device *device = cache->alloc.get(cache->alloc.context, sizeof(*device));
    const struct wio_group_limits dirty = wio_group_limits(params);
    const struct wio_throttle_limits limits = {
        .hz = (int64_t)params->hz,
        .background = (int64_t)(dirty.background / WIO_CACHE_PAGE),
        .hard = (int64_t)(dirty.hard / WIO_CACHE_PAGE),
    };
    const double slice_s = params->slice < WIO_SLICES_LEAST_S ? 0 : params->slice;
    const struct wio_queue_device speed = {
        .page_s = WIO_CACHE_PAGE / params->bw_dev,
        .burst_page_s = WIO_CACHE_PAGE / fmax(params->bw_burst, params->bw_dev),
        .burst_pages = params->burst_size / WIO_CACHE_PAGE,
        .slice_s = slice_s,
    };
    if (device == NULL) {
        return WIO_ERR_NOMEM;
    }
    *device = (struct wio_cache_device){
        .params = *params,
        .request_pages = (uint64_t)fmax(params->request_max / WIO_CACHE_PAGE, 1),
        .next_expiry_s = HUGE_VAL,
        .next_update_s = HUGE_VAL,
        .changed_s = -1,
        .commit_begin_s = -1,
        .committed_s = -1,
    };
    device->params.slice = slice_s;
    TAILQ_INIT(&device->dirty);
    TAILQ_INIT(&device->growing);
    wio_queue_init(&device->queue, &cache->alloc, &speed);
    wio_throttle_init(&device->throttle, &limits, params->dirty_ratelimit0 / WIO_CACHE_PAGE,
                      params->write_bw0 / WIO_CACHE_PAGE);
    cache->devices[cache->device_count++] = device;
    return WIO_OK;
}

void wio_cache_fini(struct wio_cache *cache)
{
    struct wio_cache_file *file;
    while ((file = RB_MIN(wio_cache_files, &cache->files)) != NULL) {
        wio_pages_clear(&file->pages, &cache->pool);
        wio_pages_clear(&file->blocks, &cache->pool);
        wio_pages_clear(&file->idle, &cache->pool);
        wio_pages_clear(&file->resident.pages, &cache->pool);
        cache->alloc.put(cache->alloc.context, file->readers);
        RB_REMOVE(wio_cache_files, &cache->files, file);
        cache->alloc.put(cache->alloc.context, file);
    }
    for (uint32_t i = 0; i < cache->device_count; i++) {
        wio_queue_fini(&cache->devices[i]->queue);
        cache->alloc.put(cache->alloc.context, cache->devices[i]);
    }
    wio_resident_fini(&cache->resident);
    wio_chunk_pool_fini(&cache->pool);
}

struct wio_cache_file *wio_cache_file(struct wio_cache *cache, uint64_t id, uint32_t device)
{
    if (cache->last != NULL && cache->last->id == id) {
        return cache->last;
    }
    struct wio_cache_file key = {.id = id};
    struct wio_cache_file *file = RB_FIND(wio_cache_files, &cache->files, &key);
    if (file == NULL) {
        file = cache->alloc.get(cache->alloc.context, sizeof(*file));
        if (file == NULL) {
            return NULL;
        }
        file->id = id;
        file->device = cache->devices[device];
        file->known_end = UINT64_MAX;
        file->hole_from = UINT64_MAX;
        file->changed_s = file->longer_s = file->timed_s = -1;
        file->tick = -1;
        file->resident.id = id;
        RB_INSERT(wio_cache_files, &cache->files, file);
    }
    cache->last = file;
    return file;
}

int64_t wio_cache_jiffy(const struct wio_cache *cache)
{
    return (int64_t)fmin(cache->time_s * cache->hz, 0x1p61);
}

double wio_cache_device_next(const struct wio_cache_device *device)
{
    return fmin(device->queue.head_done_s, fmin(device->next_expiry_s, device->next_update_s));
}

void wio_cache_plan(struct wio_cache *cache)
{
    cache->next_s = wio_cache_device_next(cache->devices[0]);
    for (uint32_t i = 1; i < cache->device_count; i++) {
        cache->next_s = fmin(cache->next_s, wio_cache_device_next(cache->devices[i]));
    }
}

double wio_cache_part(const struct wio_cache *cache, const struct wio_cache_device *device)
{
    double all = 0;
    for (uint32_t i = 0; cache->device_count > 1 && i < cache->device_count; i++) {
        all += wio_share_at(&cache->devices[i]->share, cache->time_s);
    }
    return all > 0 ? wio_share_at(&device->share, cache->time_s) / all : 1;
}
