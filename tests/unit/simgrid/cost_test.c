/* SPDX-License-Identifier: Apache-2.0 */
/* What an actor pays, beside the model alone and SimGrid's disk alone. */
#include "world.h"

#include "support/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/disk.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <xbt/config.h>
#include <xbt/sysdep.h>

/* ---- one actor, and the model by itself ---- */

/* Any operations, some time apart: what the actor does and what the model is asked. */
static struct wio_model_op any_op(uint64_t *seed, const enum wio_model_method *methods)
{
    return (struct wio_model_op){
        .file = wio_test_random(seed) % 3,
        .offset = wio_test_random(seed) % 512 * (uint64_t)MIB_BYTES,
        .size = wio_test_random(seed) % (uint64_t)WRITE_BYTES,
        .delay_s = (double)(wio_test_random(seed) % 100) / 1000,
        .method = methods[wio_test_random(seed) % 4],
    };
}

static const enum wio_model_method cached_methods[] = {WIO_MODEL_WRITE, WIO_MODEL_FWRITE,
                                                       WIO_MODEL_FFLUSH, WIO_MODEL_FSYNC};
static const enum wio_model_method device_methods[] = {WIO_MODEL_READ, WIO_MODEL_DIRECT,
                                                       WIO_MODEL_SYNC, WIO_MODEL_READ};

static enum wio_status call(struct wio_simgrid *disk, const struct wio_model_op *op,
                            struct wio_error *err)
{
    int64_t offset = (int64_t)op->offset;
    int64_t size = (int64_t)op->size;
    switch ((int)op->method) {
    case WIO_MODEL_DIRECT:
        return wio_simgrid_write_direct(disk, op->file, offset, size, err);
    case WIO_MODEL_SYNC:
        return wio_simgrid_write_sync(disk, op->file, offset, size, err);
    case WIO_MODEL_READ:
        return wio_simgrid_read(disk, op->file, offset, size, err);
    case WIO_MODEL_FWRITE:
        return wio_simgrid_fwrite(disk, op->file, offset, size, err);
    case WIO_MODEL_FFLUSH:
        return wio_simgrid_fflush(disk, op->file, err);
    case WIO_MODEL_FSYNC:
        return wio_simgrid_fsync(disk, op->file, err);
    default:
        return wio_simgrid_write(disk, op->file, offset, size, err);
    }
}

static void perform(struct world *world, const struct wio_model_op *op)
{
    struct wio_error err = WIO_ERROR_INIT;
    sg_actor_sleep_for(op->delay_s);
    double begin_s = simgrid_get_clock();
    world_keep(world, call(world->disk, op, &err), &err);
    world_note(world, simgrid_get_clock() - begin_s);
}

#define ANY_OPS 400

static void do_cached_ops(struct world *world, int number)
{
    uint64_t seed = 11 + (uint64_t)number;
    for (int i = 0; i < ANY_OPS; i++) {
        struct wio_model_op op = any_op(&seed, cached_methods);
        perform(world, &op);
    }
}

static void do_device_ops(struct world *world, int number)
{
    uint64_t seed = 11 + (uint64_t)number;
    for (int i = 0; i < ANY_OPS; i++) {
        struct wio_model_op op = any_op(&seed, device_methods);
        perform(world, &op);
    }
}

#define SMALL_WRITES 20000

static struct wio_model_op small_write(int i)
{
    return (struct wio_model_op){.offset = (uint64_t)i * 4096, .size = 4096};
}

static void do_small_writes(struct world *world, int number)
{
    (void)number;
    for (int i = 0; i < SMALL_WRITES; i++) {
        struct wio_model_op op = small_write(i);
        perform(world, &op);
    }
}

static double step(struct wio_model *model, const struct wio_model_op *op)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_result result;
    assert_ok(wio_model_step(model, op, &result, &err), &err);
    return result.cost_s;
}

/* Each operation takes what the model says, and so does all of it. */
static void compare_with_model(world_act act, const enum wio_model_method *methods, int count)
{
    struct world *world = world_run_ok(&(struct world){.acts = {act}});
    struct wio_model *model = world_model();
    uint64_t seed = 11;
    assert_int_equal(world->count, count);
    for (int i = 0; i < count; i++) {
        struct wio_model_op op = methods != NULL ? any_op(&seed, methods) : small_write(i);
        double cost_s = step(model, &op);
        if (fabs(world->notes[i] - cost_s) > 1e-6) {
            fail_msg("operation %d: %.9f s, the model says %.9f", i, world->notes[i], cost_s);
        }
    }
    world_assert_near(world->ends[0], wio_model_time(model), 1e-6);
    wio_model_destroy(model);
    free(world);
}

static void cached_operations_cost_what_the_model_says(void **state)
{
    (void)state;
    compare_with_model(do_cached_ops, cached_methods, ANY_OPS);
}

static void operations_of_the_device_do(void **state)
{
    (void)state;
    compare_with_model(do_device_ops, device_methods, ANY_OPS);
}

static void small_writes_do(void **state)
{
    (void)state;
    compare_with_model(do_small_writes, NULL, SMALL_WRITES);
}

/* ---- beside SimGrid's own disk ---- */

static void write_2_gib_to_disk(struct world *world, int number)
{
    (void)world;
    (void)number;
    for (int i = 0; i < 128; i++) {
        (void)sg_disk_write(world_disk(), WRITE_BYTES);
    }
}

/* Into memory at its speed, until the limits are reached; from there on at the disk's, apart from
 * what is dirty at the end. */
static void a_page_cache_is_before_the_disk(void **state)
{
    (void)state;
    double disk_s =
        world_end_of(&(struct world){.acts = {write_2_gib_to_disk}, .has_no_disk = true});
    world_assert_near(disk_s, 2048 / 100.0, 1e-6);
    world_assert_near(world_end_of(&(struct world){.acts = {world_write_64_mib}}), 64 * MIB / 4e9,
                      0.1);
    double long_s = world_end_of(&(struct world){.acts = {world_write_2_gib}});
    assert_true(long_s > disk_s - 256 / 100.0 && long_s < disk_s - 64 / 100.0);
}

static void the_same_again_is_the_same_to_the_bit(void **state)
{
    (void)state;
    const struct world plan = {.acts = {do_cached_ops, do_device_ops, world_write_64_mib}};
    struct world *a = world_run_ok(&plan);
    struct world *b = world_run_ok(&plan);
    assert_true(a->count == 2 * ANY_OPS && a->end_s > 1);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->notes, b->notes, a->count * sizeof(a->notes[0]));
    assert_memory_equal(a->ends, b->ends, sizeof(a->ends));
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_operations_cost_what_the_model_says),
        cmocka_unit_test(operations_of_the_device_do),
        cmocka_unit_test(small_writes_do),
        cmocka_unit_test(a_page_cache_is_before_the_disk),
        cmocka_unit_test(the_same_again_is_the_same_to_the_bit),
    };
    return WIO_RUN(tests);
}
