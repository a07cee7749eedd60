/* SPDX-License-Identifier: Apache-2.0 */
/* docs/MODEL.md#kernel: rules are cited as (rule N). */
#include "model/kernel/flusher.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/pick.h"
#include "model/kernel/folio.h"

/* The smallest chunk of the flusher: 4 MiB. */
#define CHUNK_PAGES_MIN 1024

/* The kernel counts the interval in hundredths of a second. */
#define INTERVAL_MIN_S 0.01

/* The flusher is busy with an inode as long as the kernel would let it (rule 9). */
static uint64_t chunk_pages(const struct wio_cache_device *device)
{
    const struct wio_throttle_device *rates = &device->throttle.device;
    uint64_t pages = wio_smaller((uint64_t)rates->bandwidth_mean / 2, (uint64_t)rates->limit / 8);
    return (pages + CHUNK_PAGES_MIN) / CHUNK_PAGES_MIN * CHUNK_PAGES_MIN;
}

/* The longest request from a page on: new pages get their blocks in pieces that are aligned in the
 * file, those that were on the device before have them (rule 14). A folio of which only a part is
 * written is a request of its own. */
static uint64_t longest_request(struct wio_cache_file *file, uint64_t page)
{
    uint64_t piece = file->device->request_pages;
    uint64_t longest = page < file->mapped ? file->mapped - page : piece - page % piece;
    return wio_smaller(longest, wio_folio_alike(file, page));
}

/* Of [first, end) idle pages are not written: they are known from a read to have blocks, or need
 * none. */
static enum wio_status note_sent(struct wio_cache *cache, struct wio_cache_file *file,
                                 uint64_t first, uint64_t end, enum wio_cache_change *change_out)
{
    enum wio_cache_change change;
    *change_out = WIO_CACHE_NOTHING;
    for (uint64_t stop; wio_folio_skip_idle(file, &first, end, &stop); first = stop) {
        WIO_TRY(wio_cache_note_sent(cache, file, first * WIO_CACHE_PAGE,
                                    wio_smaller(stop * WIO_CACHE_PAGE, file->size), &change));
        *change_out = change > *change_out ? change : *change_out;
    }
    return WIO_OK;
}

/* The pages are in the file's set no more. */
static enum wio_status hand_over(struct wio_cache *cache, struct wio_cache_file *file,
                                 uint64_t first, uint64_t count)
{
    struct wio_cache_device *device = file->device;
    uint64_t end = first + count;
    enum wio_cache_change change;
    wio_cache_note_cleaned(cache, file, count);
    WIO_TRY(note_sent(cache, file, first, end, &change));
    uint64_t data = wio_folio_take_data(cache, file, first, count);
    WIO_TRY(wio_queue_submit(&device->queue, count, data, cache->time_s));
    if (change == WIO_CACHE_BLOCKS) {
        wio_cache_note_growing(file, count);
    } else if (change == WIO_CACHE_LENGTH) {
        wio_cache_note_longer(cache, file);
    }
    file->cursor = end;
    file->mapped = end > file->mapped ? end : file->mapped;
    file->queued = device->queue.submitted;
    return WIO_OK;
}

/* Hand up to `most` pages of a file to the device, in rising order from where it stopped, and from
 * the beginning after the end (rule 9). */
static enum wio_status submit(struct wio_cache *cache, struct wio_cache_file *file, uint64_t most)
{
    while (most > 0 && file->pages.count > 0) {
        uint64_t first = file->cursor;
        uint64_t count;
        if (!wio_pages_find(&file->pages, &first) ||
            !wio_pages_take_run(&file->pages, &cache->pool, first,
                                wio_smaller(most, longest_request(file, first)), &first, &count)) {
            file->cursor = 0;
            continue;
        }
        WIO_TRY(hand_over(cache, file, first, count));
        most -= count;
    }
    return WIO_OK;
}

/* One call of the flusher for one file: the bandwidth is estimated once in a while (rule 5). */
enum wio_status wio_flusher_write(struct wio_cache *cache, struct wio_cache_file *file,
                                  uint64_t most)
{
    struct wio_cache_device *device = file->device;
    struct wio_throttle *throttle = &device->throttle;
    if (device->queue.waiting == 0) {
        wio_throttle_wake(throttle, wio_cache_jiffy(cache));
    }
    enum wio_status status = submit(cache, file, most);
    throttle->device.written = (int64_t)device->queue.completed;
    if (wio_throttle_is_stale(throttle, wio_cache_jiffy(cache))) {
        wio_throttle_estimate(throttle, wio_cache_jiffy(cache));
    }
    return status;
}

/* When a file is old: to a jiffy, as the kernel counts, so that sums of seconds may be rounded. */
static double old_at(const struct wio_cache *cache, const struct wio_cache_file *file)
{
    return file->dirty_at_s + cache->expire_s - 0.5 / cache->hz;
}

/* The flusher checks for old files every interval; checks that cannot find any are left out. It may
 * also find more than the device's part of the limits, where there are several. */
void wio_flusher_plan(const struct wio_cache *cache, struct wio_cache_device *device)
{
    const struct wio_cache_file *oldest = TAILQ_FIRST(&device->dirty);
    device->next_expiry_s = HUGE_VAL;
    if (oldest != NULL && cache->interval_s > 0) {
        double interval_s = fmax(cache->interval_s, INTERVAL_MIN_S);
        double wait_s = old_at(cache, oldest) - cache->time_s;
        double looks = cache->device_count > 1 ? 1 : fmax(ceil(wait_s / interval_s), 1);
        /* later, however far the clock has come */
        device->next_expiry_s =
            fmax(cache->time_s + looks * interval_s, nextafter(cache->time_s, HUGE_VAL));
    }
}

/* Above the background limit, or the device's part of it (rule 9)? The kernel starts a flusher for
 * the first only, but then it is busy for as long as the device, and so sees the second. */
static bool is_above(const struct wio_cache *cache, const struct wio_cache_device *device)
{
    double limit = (double)device->throttle.limits.background;
    return device->dirty_pages > 0 &&
           ((double)cache->dirty_pages > limit ||
            (double)device->dirty_pages > limit * wio_cache_part(cache, device));
}

/* What it has, and its part of the limits, stays as it is (all parts fade alike). */
double wio_flusher_rests_until(const struct wio_cache *cache, const struct wio_cache_device *device)
{
    const struct wio_cache_file *oldest = TAILQ_FIRST(&device->dirty);
    if (oldest == NULL) {
        return HUGE_VAL;
    }
    return is_above(cache, device) ? 0 : old_at(cache, oldest);
}

void wio_flusher_skip(const struct wio_cache *cache, struct wio_cache_device *device,
                      double until_s)
{
    double interval_s = fmax(cache->interval_s, INTERVAL_MIN_S);
    double looks = floor((until_s - device->next_expiry_s) / interval_s);
    if (looks > 0 && !TAILQ_EMPTY(&device->dirty)) { /* else the next one is the last */
        device->next_expiry_s += looks * interval_s;
    }
}

/* Every dirty file in turn gives a chunk, until it is below. */
static enum wio_status flush_above(struct wio_cache *cache, struct wio_cache_device *device)
{
    while (is_above(cache, device)) {
        struct wio_cache_file *end = TAILQ_LAST(&device->dirty, wio_cache_dirty_files);
        struct wio_cache_file *file = TAILQ_FIRST(&device->dirty);
        while (file != NULL) {
            struct wio_cache_file *next = file != end ? TAILQ_NEXT(file, in_dirty) : NULL;
            WIO_TRY(wio_flusher_write(cache, file, chunk_pages(device)));
            file = next;
        }
    }
    return WIO_OK;
}

enum wio_status wio_flusher_background(struct wio_cache *cache, struct wio_cache_device *device)
{
    if (!is_above(cache, device)) {
        return WIO_OK;
    }
    WIO_TRY(flush_above(cache, device));
    wio_cache_plan(cache);
    return WIO_OK;
}

/* Files whose first dirty page is too old go to the device whole (rule 10). */
static enum wio_status flush_old(struct wio_cache *cache, struct wio_cache_device *device)
{
    struct wio_cache_file *file;
    while ((file = TAILQ_FIRST(&device->dirty)) != NULL && old_at(cache, file) <= cache->time_s) {
        WIO_TRY(wio_flusher_write(cache, file, UINT64_MAX));
    }
    WIO_TRY(flush_above(cache, device));
    wio_flusher_plan(cache, device);
    return WIO_OK;
}

/* The device has written a request. */
static void complete(struct wio_cache *cache, struct wio_cache_device *device)
{
    uint64_t before = device->queue.completed;
    wio_queue_complete(&device->queue);
    device->throttle.device.written = (int64_t)device->queue.completed;
    wio_cache_note_written(cache, device);
    wio_share_add(&device->share, device->queue.completed - before, cache->time_s);
    if (device->queue.waiting == 0 && device->next_update_s == HUGE_VAL) {
        device->next_update_s = cache->time_s + 0.2;
    }
}

void wio_flusher_happen(struct wio_cache *cache, struct wio_cache_device *device)
{
    if (device->queue.head_done_s <= cache->time_s) {
        complete(cache, device);
    } else if (device->next_update_s <= cache->time_s) {
        device->next_update_s = HUGE_VAL;
        wio_throttle_estimate(&device->throttle, wio_cache_jiffy(cache));
    } else {
        enum wio_status status = flush_old(cache, device);
        if (status != WIO_OK) {
            cache->status = status;
            device->next_expiry_s = HUGE_VAL;
        }
    }
}
