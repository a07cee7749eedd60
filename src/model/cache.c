/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/cache.h"

#include <math.h>

#include "base/cleanup.h"

/* A task that sleeps wakes this much after its tick, seconds: the scheduler. */
#define WAKE_S 5e-5
/* The smallest chunk of the flusher: 4 MiB. */
#define CHUNK_PAGES_MIN 1024

static int compare_files(const struct wio_cache_file *a, const struct wio_cache_file *b)
{
    return (a->id > b->id) - (a->id < b->id);
}

RB_GENERATE_STATIC(wio_cache_files, wio_cache_file, node, compare_files)

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void wio_cache_init(struct wio_cache *cache, const struct wio_alloc *alloc,
                    const struct wio_model_params *params)
{
    const struct wio_throttle_limits limits = {
        .hz = (int64_t)params->hz,
        .background = (int64_t)(params->limit_bg / WIO_CACHE_PAGE),
        .hard = (int64_t)(params->limit_hard / WIO_CACHE_PAGE),
    };
    *cache = (struct wio_cache){
        .alloc = *alloc,
        .hz = params->hz,
        .next_s = HUGE_VAL,
        .next_expiry_s = HUGE_VAL,
        .next_update_s = HUGE_VAL,
        .expire_s = params->dirty_expire,
        .interval_s = params->dirty_interval,
        .request_pages = (uint64_t)fmax(params->request_max / WIO_CACHE_PAGE, 1),
    };
    TAILQ_INIT(&cache->dirty);
    wio_chunk_pool_init(&cache->pool, alloc);
    const struct wio_queue_device device = {
        .page_s = WIO_CACHE_PAGE / params->bw_dev,
        .burst_page_s = WIO_CACHE_PAGE / fmax(params->bw_burst, params->bw_dev),
        .burst_pages = params->burst_size / WIO_CACHE_PAGE,
    };
    wio_queue_init(&cache->queue, alloc, &device);
    wio_resident_init(&cache->resident, alloc, (uint64_t)(params->cache_size / WIO_CACHE_PAGE));
    wio_throttle_init(&cache->throttle, &limits, params->dirty_ratelimit0 / WIO_CACHE_PAGE,
                      params->write_bw0 / WIO_CACHE_PAGE);
}

void wio_cache_fini(struct wio_cache *cache)
{
    struct wio_cache_file *file;
    while ((file = RB_MIN(wio_cache_files, &cache->files)) != NULL) {
        wio_pages_clear(&file->pages, &cache->pool);
        RB_REMOVE(wio_cache_files, &cache->files, file);
        cache->alloc.put(cache->alloc.context, file);
    }
    wio_chunk_pool_fini(&cache->pool);
    wio_queue_fini(&cache->queue);
    wio_resident_fini(&cache->resident);
}

struct wio_cache_file *wio_cache_file(struct wio_cache *cache, uint64_t id)
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
        RB_INSERT(wio_cache_files, &cache->files, file);
    }
    cache->last = file;
    return file;
}

static int64_t jiffy(const struct wio_cache *cache)
{
    return (int64_t)fmin(cache->time_s * cache->hz, 0x1p61);
}

static void plan(struct wio_cache *cache)
{
    cache->next_s =
        fmin(cache->queue.head_done_s, fmin(cache->next_expiry_s, cache->next_update_s));
}

/* The flusher is busy with an inode as long as the kernel would let it (rule 9). */
static uint64_t chunk_pages(const struct wio_cache *cache)
{
    const struct wio_throttle_device *device = &cache->throttle.device;
    uint64_t pages = least((uint64_t)device->bandwidth_mean / 2, (uint64_t)device->limit / 8);
    return (pages + CHUNK_PAGES_MIN) / CHUNK_PAGES_MIN * CHUNK_PAGES_MIN;
}

static void note_cleaned(struct wio_cache *cache, struct wio_cache_file *file, uint64_t pages)
{
    cache->dirty_pages -= pages;
    if (pages > 0 && file->pages.count == 0) {
        TAILQ_REMOVE(&cache->dirty, file, in_dirty);
    }
}

/* Hand up to `most` pages of a file to the device, in rising order from where it stopped, and from
 * the beginning after the end (rule 9). */
static enum wio_status submit(struct wio_cache *cache, struct wio_cache_file *file, uint64_t most)
{
    while (most > 0 && file->pages.count > 0) {
        uint64_t first;
        uint64_t count;
        if (!wio_pages_take_run(&file->pages, &cache->pool, file->cursor,
                                least(most, cache->request_pages), &first, &count)) {
            file->cursor = 0;
            continue;
        }
        note_cleaned(cache, file, count);
        WIO_TRY(wio_queue_submit(&cache->queue, count, cache->time_s));
        file->cursor = first + count;
        file->queued = cache->queue.submitted;
        most -= count;
    }
    return WIO_OK;
}

/* One call of the flusher for one file: the bandwidth is estimated once in a while (rule 5). */
static enum wio_status write_file(struct wio_cache *cache, struct wio_cache_file *file,
                                  uint64_t most)
{
    struct wio_throttle *throttle = &cache->throttle;
    if (cache->queue.waiting == 0) {
        wio_throttle_wake(throttle, jiffy(cache));
    }
    enum wio_status status = submit(cache, file, most);
    throttle->device.written = (int64_t)cache->queue.completed;
    if (wio_throttle_is_stale(throttle, jiffy(cache))) {
        wio_throttle_estimate(throttle, jiffy(cache));
    }
    return status;
}

/* The flusher looks for old files every interval; looks that cannot find one are left out. */
static void plan_expiry(struct wio_cache *cache)
{
    const struct wio_cache_file *oldest = TAILQ_FIRST(&cache->dirty);
    cache->next_expiry_s = HUGE_VAL;
    if (oldest != NULL && cache->interval_s > 0) {
        double wait_s = oldest->dirty_at_s + cache->expire_s - cache->time_s;
        double looks = fmax(ceil(wait_s / cache->interval_s), 1);
        cache->next_expiry_s = cache->time_s + looks * cache->interval_s;
    }
    plan(cache);
}

/* Files whose first dirty page is too old go to the device whole (rule 10). */
static enum wio_status flush_old(struct wio_cache *cache)
{
    struct wio_cache_file *file;
    while ((file = TAILQ_FIRST(&cache->dirty)) != NULL &&
           file->dirty_at_s + cache->expire_s <= cache->time_s + 0.5 / cache->hz) {
        WIO_TRY(write_file(cache, file, UINT64_MAX));
    }
    plan_expiry(cache);
    return WIO_OK;
}

/* Above the background limit every dirty file in turn gives a chunk, until it is below. */
static enum wio_status flush_background(struct wio_cache *cache)
{
    uint64_t limit = (uint64_t)cache->throttle.limits.background;
    while (cache->dirty_pages > limit) {
        struct wio_cache_file *end = TAILQ_LAST(&cache->dirty, wio_cache_dirty);
        struct wio_cache_file *file = TAILQ_FIRST(&cache->dirty);
        while (file != NULL) {
            struct wio_cache_file *next = file != end ? TAILQ_NEXT(file, in_dirty) : NULL;
            WIO_TRY(write_file(cache, file, chunk_pages(cache)));
            file = next;
        }
    }
    plan(cache);
    return WIO_OK;
}

/* The device has written a request. */
static void complete(struct wio_cache *cache)
{
    wio_queue_complete(&cache->queue);
    cache->throttle.device.written = (int64_t)cache->queue.completed;
    if (cache->queue.waiting == 0 && cache->next_update_s == HUGE_VAL) {
        cache->next_update_s = cache->time_s + 0.2;
    }
}

static void happen(struct wio_cache *cache)
{
    if (cache->queue.head_done_s <= cache->time_s) {
        complete(cache);
    } else if (cache->next_update_s <= cache->time_s) {
        cache->next_update_s = HUGE_VAL;
        wio_throttle_estimate(&cache->throttle, jiffy(cache));
    } else {
        enum wio_status status = flush_old(cache);
        if (status != WIO_OK) {
            cache->status = status;
            cache->next_expiry_s = HUGE_VAL;
        }
    }
    plan(cache);
}

void wio_cache_wait_until(struct wio_cache *cache, double end_s)
{
    while (cache->next_s <= end_s) {
        cache->time_s = fmax(cache->time_s, cache->next_s);
        happen(cache);
    }
    cache->time_s = fmax(cache->time_s, end_s);
}

void wio_cache_wait(struct wio_cache *cache, double seconds)
{
    wio_cache_wait_until(cache, cache->time_s + seconds);
}

enum wio_status wio_cache_dirty(struct wio_cache *cache, struct wio_cache_file *file,
                                uint64_t offset, uint64_t end, uint64_t *fresh_out)
{
    uint64_t first = offset / WIO_CACHE_PAGE;
    uint64_t last = (end + WIO_CACHE_PAGE - 1) / WIO_CACHE_PAGE;
    bool was_clean = file->pages.count == 0;
    uint64_t added;
    WIO_TRY(wio_pages_add(&file->pages, &cache->pool, first, last, &added));
    cache->written_bytes += end - offset;
    *fresh_out = added * WIO_CACHE_PAGE;
    if (added == 0) {
        return WIO_OK; /* rewriting dirty pages is free (rule 1) */
    }
    if (was_clean) {
        file->dirty_at_s = cache->time_s;
        TAILQ_INSERT_TAIL(&cache->dirty, file, in_dirty);
        if (cache->next_expiry_s == HUGE_VAL) {
            plan_expiry(cache);
        }
    }
    cache->dirty_pages += added;
    cache->throttle.device.dirtied += (int64_t)added;
    cache->throttle.task.dirtied += (int64_t)added;
    return WIO_OK;
}

/* A timer of n jiffies ends at the tick after the n-th (rule 7). */
static double end_of_sleep(const struct wio_cache *cache, int64_t pause)
{
    return fmax((double)(jiffy(cache) + pause + 1) / cache->hz + WAKE_S, cache->time_s);
}

enum wio_status wio_cache_look(struct wio_cache *cache, enum wio_throttle_verdict *verdict_out,
                               double *until_s_out)
{
    struct wio_throttle *throttle = &cache->throttle;
    int64_t pause;
    *verdict_out = WIO_THROTTLE_FREE;
    *until_s_out = cache->time_s;
    if (!wio_throttle_is_due(throttle)) {
        return cache->status;
    }
    WIO_TRY(flush_background(cache));
    *verdict_out =
        wio_throttle_balance(throttle, (int64_t)wio_cache_pages(cache), jiffy(cache), &pause);
    if (*verdict_out >= WIO_THROTTLE_PAUSE) {
        *until_s_out = end_of_sleep(cache, pause);
    }
    return cache->status;
}

enum wio_status wio_cache_write_out(struct wio_cache *cache, struct wio_cache_file *file)
{
    WIO_TRY(write_file(cache, file, UINT64_MAX));
    plan(cache);
    return cache->status;
}

void wio_cache_clean(struct wio_cache *cache, struct wio_cache_file *file, uint64_t offset,
                     uint64_t end)
{
    uint64_t first = offset / WIO_CACHE_PAGE;
    uint64_t last = (end + WIO_CACHE_PAGE - 1) / WIO_CACHE_PAGE;
    note_cleaned(cache, file, wio_pages_remove(&file->pages, &cache->pool, first, last));
}

enum wio_status wio_cache_use(struct wio_cache *cache, const struct wio_cache_file *file,
                              uint64_t offset, uint64_t end, uint64_t *hits_out)
{
    uint64_t first = offset / WIO_CACHE_PAGE;
    uint64_t last = (end + WIO_CACHE_PAGE - 1) / WIO_CACHE_PAGE;
    uint64_t hits;
    WIO_TRY(wio_resident_use(&cache->resident, file->id, first, last, &hits));
    *hits_out = hits == last - first ? end - offset : least(hits * WIO_CACHE_PAGE, end - offset);
    return WIO_OK;
}

double wio_cache_device_take(struct wio_cache *cache, double seconds)
{
    double start_s = fmax(cache->time_s, cache->device_free_s);
    cache->device_free_s = start_s + seconds;
    wio_queue_delay(&cache->queue, seconds);
    plan(cache);
    return start_s;
}

void wio_cache_device_grant(struct wio_cache *cache, uint64_t pages)
{
    wio_queue_grant(&cache->queue, pages, cache->time_s);
    plan(cache);
}
