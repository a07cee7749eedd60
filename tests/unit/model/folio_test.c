/* SPDX-License-Identifier: Apache-2.0 */
/* What counts as dirty where only a part of a folio is written (docs/MODEL.md#kernel, rule 1). */
#include "support/unit.h"

#include "machine.h"
#include "model/kernel/cache.h"
#include "model/kernel/folio.h"

#define KIB UINT64_C(1024)

static const struct wio_model_op fsync_op = {.method = WIO_MODEL_FSYNC};

/* A file of `count` times `size`, made by writes of that size, that is in memory and on the device.
 */
static struct wio_model *create_clean(uint64_t count, uint64_t size)
{
    struct wio_model_params params = machine();
    struct wio_model *model = create(&params);
    (void)write_many(model, count, size);
    (void)step(model, fsync_op);
    return model;
}

static double dirty_after(struct wio_model *model, uint64_t offset, uint64_t size)
{
    return step(model, (struct wio_model_op){.offset = offset, .size = size}).dirty_bytes;
}

static void a_part_of_a_clean_folio_counts_whole(void **state)
{
    (void)state;
    struct wio_model *model = create_clean(4, 16 * MIB_BYTES);
    assert_near(dirty_after(model, 100 * KIB, 4 * KIB), 2 * MIB, 0);
    assert_near(dirty_after(model, 0, 4 * KIB), 2 * MIB, 0);
    assert_near(dirty_after(model, 9 * MIB_BYTES, 64 * KIB), 4 * MIB, 0);
    assert_near(dirty_after(model, 8 * MIB_BYTES, 2 * MIB_BYTES), 4 * MIB, 0);
    assert_near(dirty_after(model, 12 * MIB_BYTES, 2 * MIB_BYTES), 6 * MIB, 0);
    wio_model_destroy(model);
}

/* The device gets what was written, and no more. */
static void only_what_was_written_goes_to_the_device(void **state)
{
    (void)state;
    struct wio_model *model = create_clean(4, 16 * MIB_BYTES);
    for (uint64_t i = 0; i < 32; i++) {
        (void)dirty_after(model, (i * 7 % 32) * 2 * MIB_BYTES + i * 4 * KIB, 4 * KIB);
    }
    struct wio_model_result result = step(model, fsync_op);
    assert_near(result.cost_s, 1.6e-4 + 32 * 4096 / (100 * MIB), 1e-9);
    assert_near(result.dirty_bytes, 0, 0);
    assert_near(step(model, fsync_op).cost_s, 1.6e-4, 1e-12);
    wio_model_destroy(model);
}

static void folios_are_as_large_as_the_writes_that_made_them(void **state)
{
    (void)state;
    struct wio_model *model = create_clean(64, 64 * KIB);
    assert_near(dirty_after(model, 0, 4 * KIB), 65536, 0);
    assert_near(dirty_after(model, 100 * KIB, 32 * KIB), 131072 + 65536, 0); /* over an edge */
    wio_model_destroy(model);
}

static void new_pages_are_folios_of_their_own(void **state)
{
    (void)state;
    struct wio_model *model = create_clean(1, 16 * MIB_BYTES);
    assert_near(dirty_after(model, 16 * MIB_BYTES, 4 * KIB), 4096, 0);
    assert_near(dirty_after(model, 16 * MIB_BYTES + 64 * KIB, 4 * KIB), 8192, 0);
    wio_model_destroy(model);
}

/* A task is charged for whole folios: 32 MiB in 512 places of 2 MiB are throttled as 1 GiB would
 * be, though it takes the device 0.32 s only. */
static void scattered_writes_are_throttled_by_folios(void **state)
{
    (void)state;
    struct wio_model *model = create_clean(64, 16 * MIB_BYTES);
    double cost_s = 0;
    int throttled = 0;
    for (uint64_t i = 0; i < 512; i++) {
        struct wio_model_result result =
            step(model,
                 (struct wio_model_op){.offset = (i * 37 % 512) * 2 * MIB_BYTES, .size = 64 * KIB});
        assert_true(result.dirty_bytes <= 512 * MIB);
        throttled += result.state == WIO_MODEL_STATE_THROTTLE;
        cost_s += result.cost_s;
    }
    assert_true(throttled > 10);
    assert_true(cost_s > 0.1 && cost_s < 0.5);
    wio_model_destroy(model);
}

/* What is cut off, or written past memory, is not written once more. */
static void what_is_gone_is_not_written(void **state)
{
    (void)state;
    struct wio_model *model = create_clean(4, 16 * MIB_BYTES);
    (void)dirty_after(model, 4 * MIB_BYTES, 4 * KIB);
    assert_near(dirty_after(model, 1 * MIB_BYTES, 4 * KIB), 4 * MIB, 0);
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_TRUNCATE, .offset = 4 * MIB_BYTES});
    assert_near(dirty_after(model, 1 * MIB_BYTES, 4 * KIB), 2 * MIB, 0);
    (void)step(model, (struct wio_model_op){
                          .method = WIO_MODEL_DIRECT, .offset = MIB_BYTES, .size = 4 * KIB});
    struct wio_model_result result = step(model, fsync_op);
    assert_near(result.cost_s, 1.6e-4, 1e-9);
    assert_near(result.dirty_bytes, 0, 0);
    wio_model_destroy(model);
}

#define RANDOM_STEPS 3000
#define RANDOM_BYTES (32 * MIB_BYTES)

static uint64_t any(uint64_t *random, uint64_t below)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % below;
}

/* A write into a folio of one of several sizes, a flush, a range that is clean, an end that moves.
 */
static void do_any(struct wio_cache *cache, struct wio_cache_file *file, uint64_t *random)
{
    uint64_t offset = any(random, RANDOM_BYTES / 4096) * 4096;
    uint64_t end = offset + (any(random, 64) + 1) * 4096;
    uint64_t pages;
    switch (any(random, 32)) {
    case 0:
        assert_int_equal(wio_cache_write_out(cache, file), WIO_OK);
        break;
    case 1:
        wio_cache_clean(cache, file, offset, end);
        break;
    case 2:
        wio_cache_cut(cache, file, offset, false);
        break;
    case 3:
        wio_cache_wait(cache, 0.1);
        break;
    case 4:
        assert_int_equal(wio_cache_use(cache, file, 0, RANDOM_BYTES, &pages), WIO_OK);
        break;
    case 5:
        file->folio = UINT64_C(65536) << any(random, 6);
        break;
    default:
        assert_int_equal(wio_cache_dirty(cache, file, offset, end, &pages), WIO_OK);
        assert_true(pages <= end - offset);
        assert_int_equal(wio_cache_use(cache, file, offset, end, &pages), WIO_OK);
    }
}

/* What has nothing to write counts, and never more is asked of the device than was written. */
static void idle_pages_are_dirty_ones(void **state)
{
    (void)state;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_model_params params = machine();
    struct wio_cache cache;
    uint64_t random = 7;
    wio_cache_init(&cache, &heap, &params);
    assert_int_equal(wio_cache_add_device(&cache, &params), WIO_OK);
    struct wio_cache_file *file = wio_cache_file(&cache, 0, 0);
    for (int i = 0; i < RANDOM_STEPS; i++) {
        do_any(&cache, file, &random);
        for (uint64_t at = 0; wio_pages_find(&file->idle, &at); at++) {
            assert_int_equal(wio_pages_run(&file->pages, at, at + 1), 1);
        }
        assert_int_equal(cache.dirty_pages, file->pages.count);
        assert_true(file->device->queue.asked <= file->device->queue.submitted);
        assert_true(file->device->queue.asked * WIO_CACHE_PAGE <= cache.written_bytes);
    }
    assert_true(file->device->queue.asked < file->device->queue.submitted);
    wio_cache_fini(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_clean_folio_counts_whole),
        cmocka_unit_test(only_what_was_written_goes_to_the_device),
        cmocka_unit_test(folios_are_as_large_as_the_writes_that_made_them),
        cmocka_unit_test(new_pages_are_folios_of_their_own),
        cmocka_unit_test(scattered_writes_are_throttled_by_folios),
        cmocka_unit_test(what_is_gone_is_not_written),
        cmocka_unit_test(idle_pages_are_dirty_ones),
    };
    return WIO_RUN(tests);
}
