/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/kernel/cache.h"

#include <math.h>

#include "base/cleanup.h"
#include "model/kernel/flusher.h"
#include "model/kernel/folio.h"

/* A task that sleeps wakes this much after its tick, seconds: the scheduler. */
#define WAKE_S 5e-5

/* ---- time ---- */

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
            if (wio_cache_device_next(cache->devices[i]) <= cache->time_s) {
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

enum wio_status wio_cache_dirty(struct wio_cache *cache, struct wio_cache_file *file,
                                uint64_t offset, uint64_t end, uint64_t *fresh_out)
{
    struct wio_cache_device *device = file->device;
    bool was_clean = file->pages.count == 0;
    uint64_t added;
    WIO_TRY(wio_folio_dirty(cache, file, offset / WIO_CACHE_PAGE, wio_cache_page_behind(end),
                            fresh_out, &added));
    cache->written_bytes += end - offset;
    *fresh_out *= WIO_CACHE_PAGE;
    if (added == 0) {
        return WIO_OK; /* rewriting dirty pages is free (rule 1) */
    }
    if (was_clean) {
        file->dirty_at_s = cache->time_s;
        TAILQ_INSERT_TAIL(&device->dirty, file, in_dirty);
        if (device->next_expiry_s == HUGE_VAL) {
            wio_flusher_plan(cache, device);
            wio_cache_plan(cache);
        }
    }
    cache->dirty_pages += added;
    device->dirty_pages += added;
    device->throttle.device.dirtied += (int64_t)added;
    device->throttle.task.dirtied += (int64_t)added;
    return WIO_OK;
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
