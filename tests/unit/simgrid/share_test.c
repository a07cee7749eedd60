/* SPDX-License-Identifier: Apache-2.0 */
/* Several on one page cache, others on its disk, and those that end early. */
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

/* ---- several on one page cache ---- */

/* The model's own tasks: each writes 2 GiB in a file of its own. */
static void run_tasks(uint32_t tasks, double *ends)
{
    struct wio_model *model = world_model();
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_done done;
    uint64_t written[ACTORS_MAX] = {0};
    for (uint32_t i = 0; i < tasks; i++) {
        const struct wio_model_op op = {.file = i, .size = (uint64_t)WRITE_BYTES};
        assert_ok(wio_model_begin(model, i, &op, &err), &err);
    }
    while (wio_model_run(model, HUGE_VAL, &done, &err) == WIO_OK) {
        written[done.task] += (uint64_t)WRITE_BYTES;
        ends[done.task] = done.result.time_s;
        const struct wio_model_op op = {
            .file = done.task, .offset = written[done.task], .size = (uint64_t)WRITE_BYTES};
        if (written[done.task] < 128 * (uint64_t)WRITE_BYTES) {
            assert_ok(wio_model_begin(model, done.task, &op, &err), &err);
        }
    }
    wio_model_destroy(model);
}

static void two_actors_share_as_two_tasks_do(void **state)
{
    (void)state;
    double ends[ACTORS_MAX] = {0};
    struct world *world =
        world_run_ok(&(struct world){.acts = {world_write_2_gib, world_write_2_gib}});
    run_tasks(2, ends);
    world_assert_near(world->ends[0], ends[0], 1e-6);
    world_assert_near(world->ends[1], ends[1], 1e-6);
    assert_true(world->end_s > (4096 - 256) / 100.0);
    free(world);
}

/* ---- others on the disk ---- */

static void read_disk(struct world *world, int number)
{
    (void)number;
    sg_actor_sleep_for(2); /* write-back is under way */
    double begin_s = simgrid_get_clock();
    (void)sg_disk_read(world_disk(), 500 * (sg_size_t)MIB_BYTES);
    world_note(world, simgrid_get_clock() - begin_s);
}

/* 500 MiB of another host's reads and write-back have the disk together: both get half of it. */
static void write_back_and_reads_slow_each_other(void **state)
{
    (void)state;
    double alone_s = world_end_of(&(struct world){.acts = {world_write_2_gib}});
    struct world *idle = world_run_ok(&(struct world){.remotes = {read_disk}});
    struct world *world =
        world_run_ok(&(struct world){.acts = {world_write_2_gib}, .remotes = {read_disk}});
    world_assert_near(idle->notes[0], 5, 1e-6);
    world_assert_near(world->notes[0], 10, 1e-3);
    world_assert_near(world->ends[0], alone_s + 5, 0.02);
    free(idle);
    free(world);
}

/* A read through the page cache waits for the disk, too, but not where it hits. */
static void read_back(struct world *world, int number)
{
    struct wio_error err = WIO_ERROR_INIT;
    for (int64_t i = 0; i < 9; i++) { /* write-back begins */
        world_write(world, (uint64_t)number, i * WRITE_BYTES, WRITE_BYTES);
    }
    for (uint64_t file = 0; file < 2; file++) {
        double begin_s = simgrid_get_clock();
        world_keep(world, wio_simgrid_read(world->disk, file, 0, WRITE_BYTES, &err), &err);
        world_note(world, simgrid_get_clock() - begin_s);
    }
}

static void reads_hit_what_was_written(void **state)
{
    (void)state;
    struct world *world = world_run_ok(&(struct world){.acts = {read_back}});
    world_assert_near(world->notes[0], 16 * MIB / 8e9 + 2e-6, 1e-6);
    world_assert_near(world->notes[1], 2 * 0.16 + 2e-6, 0.02);
    free(world);
}

/* fsync waits for SimGrid's disk. */
static void sync_64_mib(struct world *world, int number)
{
    struct wio_error err = WIO_ERROR_INIT;
    world_write_64_mib(world, number);
    double begin_s = simgrid_get_clock();
    world_keep(world, wio_simgrid_fsync(world->disk, (uint64_t)number, &err), &err);
    world_note(world, simgrid_get_clock() - begin_s);
}

static void read_disk_now(struct world *world, int number)
{
    (void)world;
    (void)number;
    (void)sg_disk_read(world_disk(), 500 * (sg_size_t)MIB_BYTES);
}

static void fsync_waits_for_a_disk_that_others_use(void **state)
{
    (void)state;
    struct world *alone = world_run_ok(&(struct world){.acts = {sync_64_mib}});
    struct world *shared =
        world_run_ok(&(struct world){.acts = {sync_64_mib}, .remotes = {read_disk_now}});
    world_assert_near(alone->notes[0], 0.64, 0.001);
    world_assert_near(shared->notes[0], 1.28, 0.05); /* 2 MiB ahead */
    free(alone);
    free(shared);
}

/* Old data goes to the disk though no actor does anything. */
static void write_and_sleep(struct world *world, int number)
{
    world_write(world, (uint64_t)number, 0, WRITE_BYTES);
    sg_actor_sleep_for(20);
    world_note(world, wio_simgrid_dirty_bytes(world->disk));
    sg_actor_sleep_for(20);
    world_note(world, wio_simgrid_dirty_bytes(world->disk));
}

static void old_data_is_written(void **state)
{
    (void)state;
    struct world *world = world_run_ok(&(struct world){.acts = {write_and_sleep}});
    assert_true(world->notes[0] == 16 * MIB);
    assert_true(world->notes[1] == 0);
    free(world);
}

/* ---- what ends early ---- */

static void kill(const char *name)
{
    size_t count = sg_actor_count();
    sg_actor_t *actors = sg_actor_list();
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sg_actor_get_name(actors[i]), name) == 0) {
            sg_actor_kill(actors[i]);
        }
    }
    xbt_free(actors);
}

#define CANARY 0x5a

/* Its stack is that of the killed actor: the operation that goes on must not write there. */
static void inherit(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct world *world = sg_actor_self_get_data();
    volatile unsigned char canaries[8192];
    int dead = 0;
    for (size_t i = 0; i < sizeof(canaries); i++) {
        canaries[i] = CANARY;
    }
    sg_actor_sleep_for(5);
    for (size_t i = 0; i < sizeof(canaries); i++) {
        dead += canaries[i] != CANARY;
    }
    world_note(world, dead);
}

static void kill_after_a_second(struct world *world, int number)
{
    (void)number;
    sg_actor_sleep_for(1);
    kill("actor0");
    sg_actor_sleep_for(1e-3); /* its stack is free then */
    sg_actor_t heir = sg_actor_init("heir", sg_host_by_name("h1"));
    sg_actor_set_data(heir, world);
    sg_actor_start(heir, inherit, 0, NULL);
}

static void a_killed_actor_leaves_the_others_alone(void **state)
{
    (void)state;
    double alone_s = world_end_of(&(struct world){.acts = {world_write_2_gib}});
    const struct world plan = {.acts = {world_write_2_gib, world_write_2_gib, kill_after_a_second}};
    struct world *world = world_run_ok(&plan);
    assert_true(world->ends[0] == 0);
    assert_true(world->ends[1] > alone_s && world->ends[1] < alone_s + 3);
    assert_int_equal(world->count, 1);
    assert_true(world->notes[0] == 0);
    free(world);
}

static void turn_off(struct world *world, int number)
{
    (void)world;
    (void)number;
    sg_actor_sleep_for(3);
    sg_host_turn_off(sg_host_by_name("h1"));
}

static void write_later(struct world *world, int number)
{
    sg_actor_sleep_for(5);
    world_write(world, (uint64_t)number, 0, 4096);
}

static void sync_meanwhile(struct world *world, int number)
{
    struct wio_error err = WIO_ERROR_INIT;
    sg_actor_sleep_for(2.9);
    world_write(world, (uint64_t)number, 0, WRITE_BYTES);
    world_keep(world, wio_simgrid_fsync(world->disk, (uint64_t)number, &err), &err);
}

static void a_host_that_is_down_is_an_error(void **state)
{
    (void)state;
    static const world_act acts[] = {write_later, sync_meanwhile};
    for (size_t i = 0; i < 2; i++) {
        struct world *world =
            world_run(&(struct world){.acts = {world_write_2_gib}, .remotes = {acts[i], turn_off}});
        assert_status(world->status, WIO_ERR_IO, &world->err);
        assert_non_null(strstr(world->err.message, "'d1'"));
        assert_true(world->ends[ACTORS_MAX] >= 3 && world->ends[ACTORS_MAX] < 6);
        free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_actors_share_as_two_tasks_do),
        cmocka_unit_test(write_back_and_reads_slow_each_other),
        cmocka_unit_test(reads_hit_what_was_written),
        cmocka_unit_test(fsync_waits_for_a_disk_that_others_use),
        cmocka_unit_test(old_data_is_written),
        cmocka_unit_test(a_killed_actor_leaves_the_others_alone),
        cmocka_unit_test(a_host_that_is_down_is_an_error),
    };
    return WIO_RUN(tests);
}
