/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <xbt/sysdep.h>

static const char platform[] =
    "<?xml version='1.0'?>\n"
    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\">\n"
    "  <zone id=\"all\" routing=\"Full\">\n"
    "    <host id=\"h1\" speed=\"1Gf\">\n"
    "      <disk id=\"d1\" read_bw=\"100MiBps\" write_bw=\"100MiBps\"/>\n"
    "    </host>\n"
    "    <host id=\"h2\" speed=\"1Gf\"/>\n"
    "  </zone>\n"
    "</platform>\n";

const struct wio_simgrid_param world_machine[] = {
    {"bw_mem", 8e9},
    {"bw_ramdisk", 4e9},
    {"bw_reduced", 3e9},
    {"sc_w", 2e-6},
    {"sc_sw", 1e-4},
    {"c_sk", 0},
    {"bs", 4096},
    {"bf", 4096},
    {"limit_bg", 64 * MIB},
    {"limit_hard", 256 * MIB},
    {"dirty_expire", 30},
    {"c_lib", 5e-8},
    {"mem_bytes", 1024 * MIB},
    {"read_ahead", 0},
    {NULL, 0},
};

struct wio_model_params world_params(void)
{
    struct wio_model_params params = wio_model_params_default();
    for (const struct wio_simgrid_param *given = world_machine; given->name != NULL; given++) {
        *wio_model_param(&params, given->name) = given->value;
    }
    params.bw_dev = 100 * MIB;
    params.bw_rdev = 100 * MIB;
    return params;
}

struct wio_model *world_model(void)
{
    struct wio_model_params params = world_params();
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model;
    assert_ok(wio_model_create(WIO_MODEL_KERNEL, &params, &heap, &model, &err), &err);
    return model;
}

void world_note(struct world *world, double value)
{
    if (world->count < NOTES_MAX) {
        world->notes[world->count++] = value;
    }
}

void world_keep(struct world *world, enum wio_status status, const struct wio_error *err)
{
    if (status != WIO_OK) {
        world->status = status;
        world->err = *err;
    }
}

void world_fault(struct world *world, enum wio_status status, const struct wio_error *err)
{
    if (world->fault_count < FAULTS_MAX) {
        world->faults[world->fault_count] = *err;
        world->faults[world->fault_count].status = status;
    }
    world->fault_count++;
}

void world_write(struct world *world, uint64_t file, int64_t offset, int64_t size)
{
    struct wio_error err = WIO_ERROR_INIT;
    world_keep(world, wio_simgrid_write(world->disk, file, offset, size, &err), &err);
}

static void write_many(struct world *world, int64_t count, uint64_t file)
{
    for (int64_t i = 0; i < count; i++) {
        world_write(world, file, i * WRITE_BYTES, WRITE_BYTES);
    }
}

void world_write_64_mib(struct world *world, int number)
{
    write_many(world, 4, (uint64_t)number);
}

void world_write_2_gib(struct world *world, int number)
{
    write_many(world, 128, (uint64_t)number);
}

sg_disk_t world_disk(void)
{
    sg_disk_t *disks;
    unsigned count;
    sg_host_get_disks(sg_host_by_name("h1"), &count, &disks);
    sg_disk_t disk = disks[0];
    xbt_free(disks);
    return disk;
}

/* ---- in the child ---- */

struct role {
    struct world *world;
    world_act act;
    int number;
};

static void play(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    const struct role *role = sg_actor_self_get_data();
    role->act(role->world, role->number);
    role->world->ends[role->number] = simgrid_get_clock();
}

static void cast(struct role *role, const char *host)
{
    char name[16];
    if (role->act == NULL) {
        return;
    }
    (void)snprintf(name, sizeof(name), "actor%d", role->number);
    sg_actor_t actor = sg_actor_init(name, sg_host_by_name(host));
    sg_actor_set_data(actor, role);
    sg_actor_start(actor, play, 0, NULL);
}

static void simulate(struct world *world, const char *path)
{
    /* Threads: the sanitizers know what these are. */
    char *argv[] = {"test", "--cfg=contexts/factory:thread", "--log=root.thresh:critical", NULL};
    int argc = 3;
    struct role roles[ACTORS_MAX + REMOTES_MAX];
    struct wio_simgrid_machine machine = {.struct_size = sizeof(machine), .params = world_machine};
    struct wio_error err = WIO_ERROR_INIT;
    simgrid_init(&argc, argv);
    simgrid_load_platform(path);
    if (!world->has_no_disk) {
        world_keep(world, wio_simgrid_create("h1", "d1", &machine, &world->disk, &err), &err);
    }
    if (world->prepare != NULL) {
        world->prepare(world, 0);
    }
    for (int i = 0; i < ACTORS_MAX + REMOTES_MAX; i++) {
        bool is_remote = i >= ACTORS_MAX;
        world_act act = is_remote ? world->remotes[i - ACTORS_MAX] : world->acts[i];
        roles[i] = (struct role){world, act, i};
        cast(&roles[i], is_remote ? "h2" : "h1");
    }
    simgrid_run();
    world->end_s = simgrid_get_clock();
    wio_simgrid_destroy(world->disk);
    world->disk = NULL;
}

/* ---- in the parent ---- */

static struct world *share(const struct world *plan)
{
    struct world *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    *shared = *plan;
    return shared;
}

static void wait_for(pid_t child)
{
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0) {
        fail_msg("the simulation ended with wait status 0x%x", (unsigned)how);
    }
}

struct world *world_run(const struct world *plan)
{
    struct world *shared = share(plan);
    char *path = wio_test_path("platform.xml");
    wio_test_write(path, platform, sizeof(platform) - 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        simulate(shared, path);
        _exit(0);
    }
    wait_for(child);
    free(path);
    struct world *result = malloc(sizeof(*result));
    assert_non_null(result);
    *result = *shared;
    (void)munmap(shared, sizeof(*shared));
    return result;
}

struct world *world_run_ok(const struct world *plan)
{
    struct world *world = world_run(plan);
    assert_ok(world->status, &world->err);
    return world;
}

double world_end_of(const struct world *plan)
{
    struct world *world = world_run_ok(plan);
    double end_s = world->ends[0];
    free(world);
    return end_s;
}

void world_assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) {
        fail_msg("%.12g, expected %.12g", got, want);
    }
}
