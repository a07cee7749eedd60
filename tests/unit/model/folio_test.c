/* SPDX-License-Identifier: Apache-2.0 */
/* What counts as dirty where only a part of a folio is written (docs/MODEL.md#kernel, rule 1). */
#include "support/unit.h"

#include "machine.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_clean_folio_counts_whole),
        cmocka_unit_test(only_what_was_written_goes_to_the_device),
        cmocka_unit_test(folios_are_as_large_as_the_writes_that_made_them),
        cmocka_unit_test(new_pages_are_folios_of_their_own),
        cmocka_unit_test(scattered_writes_are_throttled_by_folios),
        cmocka_unit_test(what_is_gone_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
