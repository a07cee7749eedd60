/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/kernel/cache.h"

#include <math.h>

#include "base/cleanup.h"
#include "model/kernel/flusher.h"
#include "model/kernel/group.h"

/* A task that sleeps wakes this much after its tick, seconds: the scheduler. */
#define WAKE_S 5e-5

static int compare_files(const struct wio_cache_file *a, const struct wio_cache_file *b)
{
    return (a->id > b->id) - (a->id < b->id);
}

RB_GENERATE_STATIC(wio_cache_files, wio_cache_file, node, compare_files)

/* ---- what there is ---- */

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

/* ---- time ---- */

int64_t wio_cache_jiffy(const struct wio_cache *cache)
{
    return (int64_t)fmin(cache->time_s * cache->hz, 0x1p61);
}

void wio_cache_plan(struct wio_cache *cache)
{
    cache->next_s = wio_flusher_next(cache->devices[0]);
    for (uint32_t i = 1; i < cache->device_count; i++) {
        cache->next_s = fmin(cache->next_s, wio_flusher_next(cache->devices[i]));
    }
}

static bool is_any_writing(const struct wio_cache *cache)
{
    uint32_t i = 0;
    while (i < cache->device_count && cache->devices[i]->queue.waiting == 0) {
        i++;
    }
    return i < cache->device_count;
}

/* With several devices flushers look in every interval. */
static void skip_looks(struct wio_cache *cache, double end_s)
{
    if (cache->device_count == 1 || is_any_writing(cache)) {
        return;
    }
    double until_s = end_s;
    for (uint32_t i = 0; i < cache->device_count; i++) {
        until_s = fmin(until_s, wio_flusher_rests_until(cache, cache->devices[i]));
    }
    for (uint32_t i = 0; i < cache->device_count; i++) {
        wio_flusher_skip(cache, cache->devices[i], until_s);
    }
    wio_cache_plan(cache);
}

void wio_cache_wait_until(struct wio_cache *cache, double end_s)
{
    while (cache->next_s <= end_s && cache->status == WIO_OK) {
        wio_cache_step(cache);
        cache->time_s = fmax(cache->time_s, cache->next_s);
        for (uint32_t i = 0; i < cache->device_count; i++) {
            if (wio_flusher_next(cache->devices[i]) <= cache->time_s) {
                wio_flusher_happen(cache, cache->devices[i]);
            }
        }
        wio_cache_plan(cache);
        skip_looks(cache, end_s);
    }
    cache->time_s = fmax(cache->time_s, end_s);
}

void wio_cache_wait(struct wio_cache *cache, double seconds)
{
    wio_cache_wait_until(cache, cache->time_s + seconds);
}

/* ---- dirty pages ---- */

double wio_cache_part(const struct wio_cache *cache, const struct wio_cache_device *device)
{
    double all = 0;
    for (uint32_t i = 0; cache->device_count > 1 && i < cache->device_count; i++) {
        all += wio_share_at(&cache->devices[i]->share, cache->time_s);
    }
    return all > 0 ? wio_share_at(&device->share, cache->time_s) / all : 1;
}

/* A timer of n jiffies ends at the tick after the n-th (rule 7). */
static double end_of_sleep(const struct wio_cache *cache, int64_t pause)
{
    double tick = (double)(wio_cache_jiffy(cache) + pause + 1);
    return fmax(tick / cache->hz + WAKE_S, cache->time_s);
}

/* A task waits for pages whose write-back has not begun: on other devices, whose flushers run
 * rarely, or never (rule 9). Its own device's has just run. */
static enum wio_status wake_flushers(struct wio_cache *cache)
{
    for (uint32_t i = 0; !is_any_writing(cache) && i < cache->device_count; i++) {
        WIO_TRY(wio_flusher_background(cache, cache->devices[i]));
    }
    return WIO_OK;
}

/* Hand all that is dirty to the devices. */
static enum wio_status write_all(struct wio_cache *cache)
{
    struct wio_cache_file *dirty;
    for (uint32_t i = 0; i < cache->device_count; i++) {
        while ((dirty = TAILQ_FIRST(&cache->devices[i]->dirty)) != NULL) {
            WIO_TRY(wio_flusher_write(cache, dirty, UINT64_MAX));
        }
    }
    wio_cache_plan(cache);
    return cache->status;
}

/* A group of version 1 that is full of dirty pages: the task waits until the first of them is
 * written (rule 21). *until_s_out is now where it need not, or a device outside writes them. */
static enum wio_status look_at_group(struct wio_cache *cache, double *until_s_out)
{
    *until_s_out = cache->time_s;
    if (wio_cache_pages(cache) < cache->dirty_room) {
        return WIO_OK;
    }
    double until_s = HUGE_VAL;
    WIO_TRY(write_all(cache));
    for (uint32_t i = 0; i < cache->device_count; i++) {
        until_s = fmin(until_s, cache->devices[i]->queue.head_done_s);
    }
    *until_s_out = until_s < HUGE_VAL ? fmax(until_s, cache->time_s) : cache->time_s;
    return WIO_OK;
}

enum wio_status wio_cache_look(struct wio_cache *cache, struct wio_cache_device *device,
                               enum wio_throttle_verdict *verdict_out, double *until_s_out)
{
    struct wio_throttle *throttle = &device->throttle;
    int64_t pause;
    *verdict_out = WIO_THROTTLE_FREE;
    *until_s_out = cache->time_s;
    WIO_TRY(look_at_group(cache, until_s_out));
    if (*until_s_out > cache->time_s) {
        *verdict_out = WIO_THROTTLE_AGAIN;
        return cache->status;
    }
    if (!wio_throttle_is_due(throttle)) {
        return cache->status;
    }
    WIO_TRY(wio_flusher_background(cache, device));
    const struct wio_throttle_dirty dirty = {
        .all = (int64_t)wio_cache_pages(cache),
        .device = (int64_t)wio_cache_device_pages(device),
        .share = (int64_t)((double)throttle->limits.hard * wio_cache_part(cache, device)),
    };
    *verdict_out = wio_throttle_balance(throttle, &dirty, wio_cache_jiffy(cache), &pause);
    if (*verdict_out >= WIO_THROTTLE_PAUSE) {
        *until_s_out = end_of_sleep(cache, pause);
    }
    if (*verdict_out == WIO_THROTTLE_AGAIN) {
        WIO_TRY(wake_flushers(cache));
    }
    return cache->status;
}

enum wio_status wio_cache_write_out(struct wio_cache *cache, struct wio_cache_file *file)
{
    WIO_TRY(wio_flusher_write(cache, file, UINT64_MAX));
    wio_cache_plan(cache);
    return cache->status;
}

enum wio_status wio_cache_write_out_all(struct wio_cache *cache, struct wio_cache_file *file)
{
    struct wio_cache_device *device = file->device;
    struct wio_cache_file *dirty;
    while ((dirty = TAILQ_FIRST(&device->dirty)) != NULL) {
        dirty->safe_size = dirty->size;
        WIO_TRY(wio_flusher_write(cache, dirty, UINT64_MAX));
    }
    file->queued = device->queue.submitted;
    wio_cache_plan(cache);
    return cache->status;
}

/* ---- the device ---- */

double wio_cache_device_take(struct wio_cache *cache, struct wio_cache_device *device,
                             double seconds)
{
    double start_s = wio_queue_take(&device->queue, seconds, cache->time_s);
    wio_cache_plan(cache);
    return start_s;
}

double wio_cache_device_write(struct wio_cache *cache, struct wio_cache_device *device,
                              const struct wio_queue_write *write)
{
    double end_s = wio_queue_pass(&device->queue, write, cache->time_s);
    wio_cache_plan(cache);
    return end_s;
}

double wio_cache_device_commit(struct wio_cache *cache, struct wio_cache_device *device,
                               double seconds)
{
    double end_s = wio_queue_owe(&device->queue, seconds, cache->time_s);
    wio_cache_plan(cache);
    return end_s;
}

void wio_cache_device_grant(struct wio_cache *cache, struct wio_cache_device *device,
                            uint64_t pages)
{
    wio_queue_grant(&device->queue, pages, cache->time_s);
    wio_cache_plan(cache);
}
