/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that computes and writes checkpoints, simulated with SimGrid on two nodes at once: on
 * node1 to SimGrid's own disk, on node2 through a page cache in front of such a disk.
 *
 *     simgrid-checkpoint PLATFORM.xml [HOST.json]
 */
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/disk.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <xbt/sysdep.h>

#include <whyio/simgrid.h>

#define MB 1000000
#define WRITE (16 * MB)
#define WRITES 40 /* per checkpoint */
#define CHECKPOINTS 5
#define FLOPS 2e9 /* between two of them */

static struct wio_simgrid *scratch; /* of node2 */
static double plain_s[CHECKPOINTS];
static double cached_s[CHECKPOINTS];
static double dirty_bytes[CHECKPOINTS];

static void fail(const struct wio_error *err)
{
    char text[2048];
    wio_error_format(err, text, sizeof(text));
    (void)fprintf(stderr, "simgrid-checkpoint: %s\n", text);
    exit(wio_status_exit(err->status));
}

static void write_plain(int argc, char **argv)
{
    sg_disk_t *disks;
    unsigned count;
    (void)argc, (void)argv;
    sg_host_get_disks(sg_host_self(), &count, &disks);
    for (int i = 0; i < CHECKPOINTS; i++) {
        sg_actor_execute(FLOPS);
        double begin_s = simgrid_get_clock();
        for (int n = 0; n < WRITES; n++) {
            sg_disk_write(disks[0], WRITE);
        }
        plain_s[i] = simgrid_get_clock() - begin_s;
    }
    xbt_free(disks);
}

static void write_cached(int argc, char **argv)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)argc, (void)argv;
    for (int i = 0; i < CHECKPOINTS; i++) {
        sg_actor_execute(FLOPS);
        double begin_s = simgrid_get_clock();
        for (int64_t n = 0; n < WRITES; n++) {
            if (wio_simgrid_write(scratch, (uint64_t)i, n * WRITE, WRITE, &err) != WIO_OK) {
                fail(&err);
            }
        }
        cached_s[i] = simgrid_get_clock() - begin_s;
        dirty_bytes[i] = wio_simgrid_dirty_bytes(scratch);
    }
}

int main(int argc, char **argv)
{
    static const struct wio_simgrid_param server[] = {
        {"bw_mem", 8e9},      {"bw_ramdisk", 4e9}, {"bw_reduced", 3e9},   {"sc_w", 2e-6},
        {"sc_sw", 1e-4},      {"c_sk", 0},         {"bs", 4096},          {"bf", 4096},
        {"dirty_expire", 30}, {"limit_bg", 400e6}, {"limit_hard", 800e6}, {NULL, 0}};
    simgrid_init(&argc, argv);
    if (argc < 2 || argc > 3) {
        (void)fprintf(stderr, "usage: simgrid-checkpoint PLATFORM.xml [HOST.json]\n");
        return 2;
    }
    simgrid_load_platform(argv[1]);
    struct wio_simgrid_machine machine = {.struct_size = sizeof(machine),
                                          .host_json = argc == 3 ? argv[2] : NULL,
                                          .params = argc == 3 ? NULL : server};
    struct wio_error err = WIO_ERROR_INIT;
    if (wio_simgrid_create("node2", "scratch", &machine, &scratch, &err) != WIO_OK) {
        fail(&err);
    }
    sg_actor_create("plain", sg_host_by_name("node1"), write_plain, 0, NULL);
    sg_actor_create("cached", sg_host_by_name("node2"), write_cached, 0, NULL);
    simgrid_run();
    wio_simgrid_destroy(scratch);

    printf("checkpoint   SimGrid's disk, s   page cache, s   dirty after it, MB\n");
    for (int i = 0; i < CHECKPOINTS; i++) {
        printf("%10d %19.3f %15.3f %20.0f\n", i + 1, plain_s[i], cached_s[i], dirty_bytes[i] / MB);
    }
    return 0;
}
