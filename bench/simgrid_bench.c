/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plug-in for SimGrid beside SimGrid's own disk.
 *
 *     simgrid_bench PLATFORM.xml HOST.json --speed
 *         lines of: what, writes, seconds of processor time with the plug-in, with SimGrid's disk
 *         and of the model alone; several rounds of each
 *     simgrid_bench PLATFORM.xml HOST.json --costs < OPS
 *         per line "METHOD FILE OFFSET SIZE DELAY" (write or fwrite) the seconds that it takes with
 *         the plug-in and with SimGrid's disk
 *
 * The platform has a host "node" with two disks: "disk" gets a page cache, "plain" does not.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <simgrid/actor.h>
#include <simgrid/disk.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <xbt/sysdep.h>

#include <whyio/simgrid.h>

#include "machine/host.h"
#include "model/model.h"

#define ROUNDS 7
#define ACTORS_MAX 16
#define LINES_MAX 4096

/* What is written: by each of the actors, one write behind the other. */
struct load {
    const char *name;
    unsigned actors;
    int64_t writes;
    int64_t size;
    bool is_limited; /* by the dirty limits of the machine; else by none */
};

static const struct load loads[] = {
    {"4 KiB, all in memory", 1, 200000, 4096, false},
    {"4 KiB, at the dirty limits", 1, 500000, 4096, true},
    {"16 MiB, at the dirty limits", 1, 500, 16 << 20, true},
    {"4 KiB, 16 actors, all in memory", 16, 10000, 4096, false},
};

/* What an actor is given. */
struct part {
    const struct load *load;
    struct wio_simgrid *cached; /* NULL: SimGrid's disk */
    sg_disk_t disk;
    uint64_t file;
};

static const char *host_json;

static void check(enum wio_status status, const struct wio_error *err)
{
    if (status != WIO_OK) {
        char text[2048];
        wio_error_format(err, text, sizeof(text));
        (void)fprintf(stderr, "simgrid_bench: %s\n", text);
        exit(wio_status_exit(status));
    }
}

static double processor_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static sg_disk_t find_disk(const char *name)
{
    sg_disk_t *disks;
    unsigned count;
    sg_host_get_disks(sg_host_by_name("node"), &count, &disks);
    sg_disk_t disk = disks[strcmp(sg_disk_get_name(disks[0]), name) == 0 ? 0 : 1];
    xbt_free(disks);
    return disk;
}

static void start(xbt_main_func_t act, void *data)
{
    sg_actor_t actor = sg_actor_init("writer", sg_host_by_name("node"));
    sg_actor_set_data(actor, data);
    sg_actor_start(actor, act, 0, NULL);
}

/* Limits that are never reached, where the load is to stay in memory. */
static const struct wio_simgrid_param unlimited[] = {
    {"limit_bg", 1e15}, {"limit_hard", 3e15}, {"dirty_expire", 1e9}, {NULL, 0}};

static struct wio_simgrid *create(bool is_limited)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_simgrid *disk;
    const struct wio_simgrid_machine machine = {.struct_size = sizeof(machine),
                                                .host_json = host_json,
                                                .params = is_limited ? NULL : unlimited};
    check(wio_simgrid_create("node", "disk", &machine, &disk, &err), &err);
    return disk;
}

/* ---- speed ---- */

static void write_part(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct part *part = sg_actor_self_get_data();
    struct wio_error err = WIO_ERROR_INIT;
    int64_t size = part->load->size;
    for (int64_t i = 0; i < part->load->writes; i++) {
        if (part->cached == NULL) {
            (void)sg_disk_write(part->disk, (sg_size_t)size);
        } else {
            check(wio_simgrid_write(part->cached, part->file, i * size, size, &err), &err);
        }
    }
}

static double simulate(const struct load *load, bool is_cached)
{
    struct part parts[ACTORS_MAX];
    struct wio_simgrid *cached = is_cached ? create(load->is_limited) : NULL;
    for (unsigned i = 0; i < load->actors; i++) {
        parts[i] = (struct part){load, cached, find_disk("plain"), i};
        start(write_part, &parts[i]);
    }
    double begin_s = processor_s();
    simgrid_run();
    double took_s = processor_s() - begin_s;
    wio_simgrid_destroy(cached);
    return took_s;
}

static struct wio_model *create_model(bool is_limited)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_params params;
    struct wio_model *model;
    check(wio_host_read(host_json, &params, &err), &err);
    for (size_t i = 0; !is_limited && unlimited[i].name != NULL; i++) {
        *wio_model_param(&params, unlimited[i].name) = unlimited[i].value;
    }
    check(wio_model_create(WIO_MODEL_KERNEL, &params, &heap, &model, &err), &err);
    return model;
}

static void begin_write(struct wio_model *model, const struct load *load, uint32_t task, int64_t i)
{
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_model_op op = {
        .file = task, .offset = (uint64_t)(i * load->size), .size = (uint64_t)load->size};
    check(wio_model_begin(model, task, &op, &err), &err);
}

static double model_alone(const struct load *load)
{
    struct wio_model *model = create_model(load->is_limited);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_done done;
    int64_t written[ACTORS_MAX] = {0};
    double begin_s = processor_s();
    for (uint32_t task = 0; task < load->actors; task++) {
        begin_write(model, load, task, 0);
    }
    while (wio_model_run(model, HUGE_VAL, &done, &err) == WIO_OK) {
        if (++written[done.task] < load->writes) {
            begin_write(model, load, done.task, written[done.task]);
        }
    }
    double took_s = processor_s() - begin_s;
    wio_model_destroy(model);
    return took_s;
}

static void measure_speed(void)
{
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        for (int round = 0; round < ROUNDS; round++) {
            double cached_s = simulate(&loads[i], true);
            double disk_s = simulate(&loads[i], false);
            printf("%s\t%" PRId64 "\t%.6f\t%.6f\t%.6f\n", loads[i].name,
                   loads[i].writes * loads[i].actors, cached_s, disk_s, model_alone(&loads[i]));
        }
    }
}

/* ---- costs ---- */

struct line {
    char method[16];
    uint64_t file;
    int64_t offset;
    int64_t size;
    double delay_s;
    double cached_s; /* what it took */
    double disk_s;
};

struct list {
    struct wio_simgrid *cached;
    struct line lines[LINES_MAX];
    size_t count;
};

static void read_list(struct list *list)
{
    struct line *line = &list->lines[0];
    while (list->count < LINES_MAX &&
           scanf("%15s %" SCNu64 " %" SCNd64 " %" SCNd64 " %lf", line->method, &line->file,
                 &line->offset, &line->size, &line->delay_s) == 5) {
        line = &list->lines[++list->count];
    }
}

static void follow_with_cache(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct list *list = sg_actor_self_get_data();
    struct wio_error err = WIO_ERROR_INIT;
    for (struct line *at = list->lines; at < list->lines + list->count; at++) {
        sg_actor_sleep_for(at->delay_s);
        double begin_s = simgrid_get_clock();
        bool is_fwrite = strcmp(at->method, "fwrite") == 0;
        check((is_fwrite ? wio_simgrid_fwrite : wio_simgrid_write)(list->cached, at->file,
                                                                   at->offset, at->size, &err),
              &err);
        at->cached_s = simgrid_get_clock() - begin_s;
    }
}

static void follow_on_disk(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct list *list = sg_actor_self_get_data();
    sg_disk_t disk = find_disk("plain");
    for (struct line *at = list->lines; at < list->lines + list->count; at++) {
        sg_actor_sleep_for(at->delay_s);
        double begin_s = simgrid_get_clock();
        (void)sg_disk_write(disk, (sg_size_t)at->size);
        at->disk_s = simgrid_get_clock() - begin_s;
    }
}

static void measure_costs(void)
{
    static struct list list;
    read_list(&list);
    list.cached = create(true);
    start(follow_with_cache, &list);
    start(follow_on_disk, &list);
    simgrid_run();
    wio_simgrid_destroy(list.cached);
    for (size_t i = 0; i < list.count; i++) {
        printf("%.9f %.9f\n", list.lines[i].cached_s, list.lines[i].disk_s);
    }
}

int main(int argc, char **argv)
{
    simgrid_init(&argc, argv);
    if (argc != 4 || (strcmp(argv[3], "--speed") != 0 && strcmp(argv[3], "--costs") != 0)) {
        (void)fprintf(stderr, "usage: simgrid_bench PLATFORM.xml HOST.json --speed|--costs\n");
        return 2;
    }
    simgrid_load_platform(argv[1]);
    host_json = argv[2];
    if (strcmp(argv[3], "--speed") == 0) {
        measure_speed();
    } else {
        measure_costs();
    }
    return 0;
}
