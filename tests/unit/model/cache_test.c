/* SPDX-License-Identifier: Apache-2.0 */
/* The flusher and the device below the kernel model. */
#include "support/unit.h"

#include <math.h>
#include <stdbool.h>

#include "model/kernel/cache.h"

#define MIB 1048576.0
#define MIB_BYTES (UINT64_C(1) << 20)
#define MIB_PAGES 256

static void open_cache(struct wio_cache *cache)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_model_params params = wio_model_params_default();
    params.bw_dev = 100 * MIB;
    params.limit_bg = 128 * MIB;
    params.limit_hard = 512 * MIB;
    params.dirty_expire = 30;
    params.dirty_ratelimit0 = 90 * MIB;
    params.write_bw0 = 95 * MIB;
    wio_cache_init(cache, &heap, &params);
    assert_int_equal(wio_cache_add_device(cache, &params), WIO_OK);
}

/* Make [offset, offset + size) of a file dirty, in MiB, and look at the limits. */
static void dirty(struct wio_cache *cache, uint64_t id, uint64_t offset, uint64_t size)
{
    struct wio_cache_file *file = wio_cache_file(cache, id, 0);
    enum wio_throttle_verdict verdict;
    double until_s;
    uint64_t fresh;
    assert_non_null(file);
    assert_int_equal(
        wio_cache_dirty(cache, file, offset * MIB_BYTES, (offset + size) * MIB_BYTES, &fresh),
        WIO_OK);
    assert_int_equal(wio_cache_look(cache, file->device, &verdict, &until_s), WIO_OK);
    assert_true(verdict < WIO_THROTTLE_PAUSE);
    assert_true(until_s == cache->time_s);
}

/* min(95 MiB / 2, 512 MiB / 8) + 4 MiB, down to 4 MiB: 48 MiB, which fall in steps of 8. */
static void the_flusher_takes_chunks(void **state)
{
    (void)state;
    struct wio_cache cache;
    open_cache(&cache);
    dirty(&cache, 0, 0, 128);
    assert_int_equal(cache.dirty_pages, 128 * MIB_PAGES);
    dirty(&cache, 0, 128, 2);
    assert_int_equal(cache.dirty_pages, (130 - 48) * MIB_PAGES);
    assert_int_equal(wio_queue_pages(&cache.devices[0]->queue), 48 * MIB_PAGES);
    wio_cache_wait(&cache, 0.079);
    assert_int_equal(wio_queue_pages(&cache.devices[0]->queue), 48 * MIB_PAGES);
    wio_cache_wait(&cache, 0.002);
    assert_int_equal(wio_queue_pages(&cache.devices[0]->queue), 40 * MIB_PAGES);
    wio_cache_fini(&cache);
}

/* Every dirty file gives a chunk, the one that became dirty first before the others. */
static void files_take_turns(void **state)
{
    (void)state;
    struct wio_cache cache;
    open_cache(&cache);
    dirty(&cache, 7, 0, 60);
    dirty(&cache, 3, 0, 60);
    dirty(&cache, 5, 0, 10);
    assert_int_equal(wio_cache_file(&cache, 7, 0)->pages.count, 12 * MIB_PAGES);
    assert_int_equal(wio_cache_file(&cache, 3, 0)->pages.count, 12 * MIB_PAGES);
    assert_int_equal(wio_cache_file(&cache, 5, 0)->pages.count, 0);
    assert_true(wio_cache_file(&cache, 7, 0)->queued < wio_cache_file(&cache, 3, 0)->queued);
    assert_true(wio_cache_file(&cache, 3, 0)->queued < wio_cache_file(&cache, 5, 0)->queued);
    wio_cache_fini(&cache);
}

/* After the end of a file the flusher goes on at its beginning. */
static void the_flusher_goes_round(void **state)
{
    (void)state;
    struct wio_cache cache;
    uint64_t first;
    uint64_t count;
    open_cache(&cache);
    dirty(&cache, 0, 100, 130); /* 100 to 148 go */
    dirty(&cache, 0, 0, 47);    /* 148 to 196 go */
    dirty(&cache, 0, 47, 48);   /* 196 to 230 and 0 to 14 go */
    struct wio_cache_file *file = wio_cache_file(&cache, 0, 0);
    assert_int_equal(file->cursor, 14 * MIB_PAGES);
    assert_true(wio_pages_take_run(&file->pages, &cache.pool, 0, 1, &first, &count));
    assert_int_equal(first, 14 * MIB_PAGES);
    wio_cache_note_cleaned(&cache, file, 1);
    wio_cache_fini(&cache);
}

/* A task that is never throttled: the flusher learns how fast the device is. */
static void the_flusher_estimates_the_bandwidth(void **state)
{
    (void)state;
    struct wio_cache cache;
    open_cache(&cache);
    cache.devices[0]->throttle.device.bandwidth = 20 * MIB_PAGES;
    cache.devices[0]->throttle.device.bandwidth_mean = 20 * MIB_PAGES;
    int64_t ratelimit = cache.devices[0]->throttle.device.ratelimit;
    dirty(&cache, 0, 0, 130);
    for (uint64_t i = 0; i < 200; i++) {
        wio_cache_wait(&cache, 0.1);
        dirty(&cache, 0, 130 + i * 10, 10);
    }
    assert_in_range(cache.devices[0]->throttle.device.bandwidth, 90 * MIB_PAGES, 105 * MIB_PAGES);
    assert_int_equal(cache.devices[0]->throttle.device.ratelimit, ratelimit);
    wio_cache_fini(&cache);
}

/* 0.2 s after the last request the bandwidth is estimated once more; after a second of rest
 * writing starts a new interval. */
static void rest_is_no_bandwidth(void **state)
{
    (void)state;
    struct wio_cache cache;
    open_cache(&cache);
    dirty(&cache, 0, 0, 130);
    wio_cache_wait(&cache, 0.48 + 0.21);
    int64_t mean = cache.devices[0]->throttle.device.bandwidth_mean;
    assert_int_equal(wio_queue_pages(&cache.devices[0]->queue), 0);
    assert_int_equal(cache.devices[0]->throttle.device.stamp, 170);
    assert_int_equal(cache.devices[0]->throttle.device.written_stamp, 48 * MIB_PAGES);
    wio_cache_wait(&cache, 20);
    assert_int_equal(cache.devices[0]->throttle.device.bandwidth_mean, mean);
    dirty(&cache, 1, 0, 130);
    assert_int_equal(cache.devices[0]->throttle.device.stamp, (int64_t)(cache.time_s * 250));
    assert_int_equal(cache.devices[0]->throttle.device.bandwidth_mean, mean);
    wio_cache_fini(&cache);
}

/* Scattered pages become few requests, but the one being served takes no more. */
static void small_requests_are_merged(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    const struct wio_queue_device device = {.page_s = 1};
    struct wio_queue queue;
    wio_queue_init(&queue, &heap, &device);
    for (int i = 0; i < 301; i++) {
        assert_int_equal(wio_queue_submit(&queue, 1, 1, 0), WIO_OK);
    }
    assert_int_equal(queue.waiting, 3); /* 1, 256 and 44 */
    assert_true(fabs(queue.head_done_s - 1) < 1e-9);
    wio_queue_complete(&queue);
    assert_int_equal(queue.completed, 1);
    assert_true(fabs(queue.head_done_s - 257) < 1e-9);
    wio_queue_complete(&queue);
    wio_queue_complete(&queue);
    assert_int_equal(wio_queue_pages(&queue), 0);
    assert_true(queue.head_done_s > 1e300);
    for (int i = 0; i < 3; i++) { /* 200 and 200 are too many for one */
        assert_int_equal(wio_queue_submit(&queue, 200, 200, 0), WIO_OK);
    }
    assert_int_equal(queue.waiting, 3);
    wio_queue_fini(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_flusher_takes_chunks),
        cmocka_unit_test(files_take_turns),
        cmocka_unit_test(the_flusher_goes_round),
        cmocka_unit_test(the_flusher_estimates_the_bandwidth),
        cmocka_unit_test(rest_is_no_bandwidth),
        cmocka_unit_test(small_requests_are_merged),
    };
    return WIO_RUN(tests);
}
