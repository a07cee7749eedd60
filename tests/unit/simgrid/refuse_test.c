/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input is an error that names it, and nothing else happens. */
#include "world.h"

#include "support/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>
#include <xbt/config.h>

struct fault {
    enum wio_status status;
    const char *text; /* in the message */
};

/* In the order of the faults. */
static void check_faults(const struct world *world, const struct fault *faults, size_t count)
{
    assert_int_equal(world->fault_count, count);
    for (size_t i = 0; i < count; i++) {
        if (world->faults[i].status != faults[i].status ||
            strstr(world->faults[i].message, faults[i].text) == NULL) {
            fail_msg("fault %zu: status %d, '%s': expected %d, '%s'", i,
                     (int)world->faults[i].status, world->faults[i].message, (int)faults[i].status,
                     faults[i].text);
        }
    }
}

static void create(struct world *world, const char *host, const char *disk,
                   const struct wio_simgrid_machine *machine)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_simgrid *made = NULL;
    world_fault(world, wio_simgrid_create(host, disk, machine, &made, &err), &err);
    wio_simgrid_destroy(made);
}

/* The machine of world_machine, one parameter otherwise; NULL: one missing. */
static void create_otherwise(struct world *world, const char *name, const double *value)
{
    struct wio_simgrid_param params[32];
    size_t count = 0;
    for (const struct wio_simgrid_param *given = world_machine; given->name != NULL; given++) {
        if (strcmp(given->name, name) != 0) {
            params[count++] = *given;
        }
    }
    if (value != NULL) {
        params[count++] = (struct wio_simgrid_param){name, *value};
    }
    params[count] = (struct wio_simgrid_param){NULL, 0};
    create(world, "h1", "d1",
           &(struct wio_simgrid_machine){.struct_size = sizeof(struct wio_simgrid_machine),
                                         .params = params});
}

static void create_badly(struct world *world, int number)
{
    (void)number;
    struct wio_simgrid_machine machine = {.struct_size = sizeof(machine), .params = world_machine};
    create(world, "nowhere", "d1", &machine);
    create(world, "h1", "nothing", &machine);
    create(world, "h2", "d1", &machine);
    create(world, "h1", "d1", &(struct wio_simgrid_machine){.params = world_machine});
    machine.host_json = "/nonexistent/HOST.json";
    create(world, "h1", "d1", &machine);
    create_otherwise(world, "bw_mem", NULL);
    create_otherwise(world, "bw_mem", &(double){NAN});
    create_otherwise(world, "sc_w", &(double){-1});
    create_otherwise(world, "limit_hard", &(double){64 * MIB});
    create_otherwise(world, "hz", &(double){0});
    create_otherwise(world, "speed", &(double){1});
    create_otherwise(world, "bw_dev", &(double){1e8});
    sg_cfg_set_int("contexts/nthreads", 2);
    machine.host_json = NULL;
    create(world, "h1", "d1", &machine);
    sg_cfg_set_int("contexts/nthreads", 1);
}

static void a_bad_machine_is_refused(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {WIO_ERR_USAGE, "'nowhere'"},      {WIO_ERR_USAGE, "'nothing'"},
        {WIO_ERR_USAGE, "'h2'"},           {WIO_ERR_USAGE, "struct_size"},
        {WIO_ERR_IO, "No such file"},      {WIO_ERR_USAGE, "'bw_mem' is missing"},
        {WIO_ERR_USAGE, "'bw_mem'"},       {WIO_ERR_USAGE, "'sc_w'"},
        {WIO_ERR_USAGE, "'limit_hard'"},   {WIO_ERR_USAGE, "'hz'"},
        {WIO_ERR_USAGE, "'speed'"},        {WIO_ERR_USAGE, "'bw_dev'"},
        {WIO_ERR_UNSUPPORTED, "nthreads"},
    };
    struct world *world = world_run_ok(&(struct world){.prepare = create_badly});
    check_faults(world, faults, sizeof(faults) / sizeof(faults[0]));
    free(world);
}

static void write_badly(struct world *world, int number)
{
    (void)number;
    struct wio_error err = WIO_ERROR_INIT;
    world_fault(world, wio_simgrid_write(world->disk, 0, 0, -1, &err), &err);
    world_fault(world, wio_simgrid_read(world->disk, 0, -7, 1, &err), &err);
    world_fault(world, wio_simgrid_fwrite(world->disk, 0, (int64_t)1 << 53, 1, &err), &err);
    world_note(world, simgrid_get_clock());
    world_note(world, wio_simgrid_dirty_bytes(world->disk));
    world_write(world, 0, 0, 4096);
    world_note(world, simgrid_get_clock());
}

static void write_without_an_actor(struct world *world, int number)
{
    (void)number;
    struct wio_error err = WIO_ERROR_INIT;
    world_fault(world, wio_simgrid_write(world->disk, 0, 0, 1, &err), &err);
}

static void a_bad_operation_is_refused(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {WIO_ERR_USAGE, "'d1' can be used by actors only"},
        {WIO_ERR_USAGE, "size must not be negative, found -1"},
        {WIO_ERR_USAGE, "offset must not be negative, found -7"},
        {WIO_ERR_USAGE, "2^53"},
    };
    struct world *world =
        world_run_ok(&(struct world){.acts = {write_badly}, .prepare = write_without_an_actor});
    check_faults(world, faults, sizeof(faults) / sizeof(faults[0]));
    assert_true(world->notes[0] == 0 && world->notes[1] == 0);
    world_assert_near(world->notes[2], 2e-6 + 4096 / 4e9, 1e-9);
    free(world);
}

static const char host_json[] =
    "{\"bw_mem\": 8e9, \"bw_ramdisk\": 2e9, \"bw_reduced\": 3e9, \"bw_dev\": 5, \"bw_rdev\": 7,"
    " \"sc_w\": 0, \"sc_sw\": 0, \"c_sk\": 0, \"bs\": 4096, \"bf\": 4096, \"limit_bg\": 1e8,"
    " \"limit_hard\": 2e8, \"dirty_expire\": 30, \"c_flush\": 0.5, \"c_length\": 0.125,"
    " \"append_table\": [[4096, 0.75], [8192, 1]]}";

static char *json_path;

static void create_with(struct world *world, const char *name, double value)
{
    const struct wio_simgrid_param params[] = {{name, value}, {NULL, 0}};
    struct wio_simgrid_machine machine = {
        .struct_size = sizeof(machine), .host_json = json_path, .params = params};
    struct wio_error err = WIO_ERROR_INIT;
    world_keep(world, wio_simgrid_create("h1", "d1", &machine, &world->disk, &err), &err);
}

static void create_from_file(struct world *world, int number)
{
    (void)number;
    create_with(world, "bw_ramdisk", 1e9);
}

static void create_with_slow_syncs(struct world *world, int number)
{
    (void)number;
    create_with(world, "sc_sw", 0.25);
}

/* A file of a block, which then becomes longer within it. */
static void append_twice(struct world *world, int number)
{
    (void)number;
    struct wio_error err = WIO_ERROR_INIT;
    for (int64_t i = 0; i < 2; i++) {
        world_keep(world, wio_simgrid_write_sync(world->disk, 1, i * 100, 100, &err), &err);
        world_note(world, simgrid_get_clock());
    }
}

static void sync_nothing(struct world *world, int number)
{
    (void)number;
    struct wio_error err = WIO_ERROR_INIT;
    world_keep(world, wio_simgrid_fsync(world->disk, 1, &err), &err);
    world_note(world, simgrid_get_clock());
}

static void write_and_read(struct world *world, int number)
{
    (void)number;
    struct wio_error err = WIO_ERROR_INIT;
    world_write(world, 0, 0, 1000000);
    world_note(world, simgrid_get_clock());
    world_keep(world, wio_simgrid_read(world->disk, 1, 0, 100 * MIB_BYTES, &err), &err);
    world_note(world, simgrid_get_clock());
}

/* The file, a parameter that replaces one of it, and the disk, which is the platform's. */
static void the_machine_comes_from_a_file(void **state)
{
    (void)state;
    json_path = wio_test_path("HOST.json");
    wio_test_write(json_path, host_json, sizeof(host_json) - 1);
    struct world *world = world_run_ok(&(struct world){
        .acts = {write_and_read}, .prepare = create_from_file, .has_no_disk = true});
    world_assert_near(world->notes[0], 1e-3, 0.01);
    world_assert_near(world->notes[1] - world->notes[0], 1, 0.02); /* and a copy */
    free(world);
    free(json_path);
}

/* What the file says in detail of what the parameter stands for gives way, too. */
static void a_parameter_replaces_its_details(void **state)
{
    (void)state;
    json_path = wio_test_path("HOST.json");
    wio_test_write(json_path, host_json, sizeof(host_json) - 1);
    for (int is_replaced = 0; is_replaced <= 1; is_replaced++) {
        struct world *world = world_run_ok(
            &(struct world){.acts = {sync_nothing},
                            .prepare = is_replaced ? create_with_slow_syncs : create_from_file,
                            .has_no_disk = true});
        world_assert_near(world->notes[0], is_replaced ? 0.25 : 0.5, 1e-9);
        free(world);
    }
    free(json_path);
}

/* Tables, which it does not stand for, stay with what is a part of them. */
static void a_parameter_leaves_the_tables(void **state)
{
    (void)state;
    json_path = wio_test_path("HOST.json");
    wio_test_write(json_path, host_json, sizeof(host_json) - 1);
    struct world *world = world_run_ok(&(struct world){
        .acts = {append_twice}, .prepare = create_with_slow_syncs, .has_no_disk = true});
    world_assert_near(world->notes[0], 0.75, 1e-3);
    world_assert_near(world->notes[1] - world->notes[0], 0.125, 1e-3);
    free(world);
    free(json_path);
}

/* Of devices that let much pass at once: by slices, and from a buffer. */
#define JSON_OF(rest)                                                                              \
    "{\"bw_mem\": 8e9, \"bw_ramdisk\": 2e9, \"bw_reduced\": 3e9, \"bw_dev\": 4e7, \"bw_rdev\": 7," \
    " \"sc_w\": 0, \"sc_sw\": 0, \"c_sk\": 0, \"bs\": 4096, \"bf\": 4096, \"limit_bg\": 1e8,"      \
    " \"limit_hard\": 2e8, \"dirty_expire\": 30, \"bw_burst\": 2e9, \"burst_size\": 4e6, " rest    \
    "}"

static const char *const fast_jsons[] = {
    JSON_OF("\"slice\": 0.1, \"dev_table\": [[4096, 3e-5], [1048576, 5e-4]]"),
    JSON_OF("\"dev_table\": [[4096, 3e-5], [1048576, 5e-4]]"),
    JSON_OF("\"dev_table\": [[4096, 1e-3], [65536, 1.1e-3]]"), /* fast behind its end only */
};

static void create_with_seeks(struct world *world, int number)
{
    (void)number;
    create_with(world, "c_sk", 8e-3);
}

static void write_64_mib_directly(struct world *world, int64_t stride)
{
    struct wio_error err = WIO_ERROR_INIT;
    for (int64_t i = 0; i < 64; i++) {
        world_keep(world, wio_simgrid_write_direct(world->disk, 0, i * stride, MIB_BYTES, &err),
                   &err);
    }
    world_note(world, simgrid_get_clock());
}

static void write_in_a_row(struct world *world, int number)
{
    (void)number;
    write_64_mib_directly(world, MIB_BYTES);
}

static void write_here_and_there(struct world *world, int number)
{
    (void)number;
    write_64_mib_directly(world, 3 * MIB_BYTES);
}

/* What passed at once there does not here: the disk has the rate that it is given. */
static void tables_do_not_speed_up_the_disk(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(fast_jsons) / sizeof(fast_jsons[0]); i++) {
        json_path = wio_test_path("fast.json");
        wio_test_write(json_path, fast_jsons[i], strlen(fast_jsons[i]));
        struct world *world = world_run_ok(&(struct world){
            .acts = {write_in_a_row}, .prepare = create_from_file, .has_no_disk = true});
        world_assert_near(world->notes[0], 0.64, 0.01);
        free(world);
        free(json_path);
    }
}

/* Nor do they hide the seeks between 64 writes, which are beside its rate. */
static void tables_do_not_hide_seeks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(fast_jsons) / sizeof(fast_jsons[0]); i++) {
        json_path = wio_test_path("fast.json");
        wio_test_write(json_path, fast_jsons[i], strlen(fast_jsons[i]));
        struct world *world = world_run_ok(&(struct world){
            .acts = {write_here_and_there}, .prepare = create_with_seeks, .has_no_disk = true});
        world_assert_near(world->notes[0], 0.64 + 63 * 8e-3, 1e-3);
        free(world);
        free(json_path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_machine_is_refused),
        cmocka_unit_test(a_bad_operation_is_refused),
        cmocka_unit_test(the_machine_comes_from_a_file),
        cmocka_unit_test(a_parameter_replaces_its_details),
        cmocka_unit_test(a_parameter_leaves_the_tables),
        cmocka_unit_test(tables_do_not_speed_up_the_disk),
        cmocka_unit_test(tables_do_not_hide_seeks),
    };
    return WIO_RUN(tests);
}
