/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flusher: an actor that writes to SimGrid's disk what the model's write-back has handed to its
 * device, and grants what the disk has written. So other I/O on the disk slows the model's device,
 * and is slowed by it.
 */
#include "plugin.h"

#include <math.h>

#include <simgrid/engine.h>

#include "model/kernel/external_device.h"

static void grant(struct wio_simgrid *disk)
{
    unsigned waiting = disk->waiting;
    wio_model_outside_grant(disk->model, disk->written + wio_simgrid_ahead(disk));
    disk->waiting = 0;
    for (; waiting > 0; waiting--) {
        sg_sem_release(disk->granted);
    }
}

/* A chunk of what it was asked for. The model sees the grant when the disk has written. */
static enum wio_status write_chunk(struct wio_simgrid *disk, uint64_t left)
{
    uint64_t size = left < disk->chunk ? left : disk->chunk;
    (void)sg_disk_write(disk->disk, size);
    enum wio_status status = wio_simgrid_advance(disk, simgrid_get_clock(), NULL);
    disk->written += size;
    grant(disk);
    return status;
}

/* Until there is something to write; the model has come up to now then. */
static enum wio_status rest(struct wio_simgrid *disk, double until_s)
{
    double left_s = until_s - simgrid_get_clock();
    disk->rest_until_s = until_s;
    disk->is_resting = true;
    if (isinf(until_s)) {
        sg_sem_acquire(disk->work);
    } else if (left_s >= disk->precision_s) {
        (void)sg_sem_acquire_timeout(disk->work, left_s);
    }
    disk->is_resting = false;
    double now_s = simgrid_get_clock();
    bool is_time = until_s - now_s < disk->precision_s;
    return wio_simgrid_advance(disk, is_time ? fmax(now_s, until_s) : now_s, NULL);
}

static void flush(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct wio_simgrid *disk = sg_actor_self_get_data();
    while (disk->status == WIO_OK) {
        struct wio_model_outside asked = wio_model_outside_ask(disk->model);
        disk->status = asked.asked_bytes > disk->written
                           ? write_chunk(disk, asked.asked_bytes - disk->written)
                           : rest(disk, asked.look_s);
    }
}

/* With its host, or at the end of the simulation. */
static void note_end(int failed, void *data)
{
    (void)failed;
    struct wio_simgrid *disk = data;
    disk->is_down = true;
    grant(disk);
}

static void start(int argc, char **argv)
{
    sg_actor_on_exit(note_end, sg_actor_self_get_data());
    flush(argc, argv);
}

void wio_simgrid_flusher_start(struct wio_simgrid *disk)
{
    sg_actor_t actor = sg_actor_init("flusher", sg_disk_get_host(disk->disk));
    sg_actor_set_data(actor, disk);
    sg_actor_start(actor, start, 0, NULL);
    sg_actor_daemonize(actor);
}

void wio_simgrid_flusher_nudge(struct wio_simgrid *disk)
{
    struct wio_model_outside asked = wio_model_outside_ask(disk->model);
    bool has_work = asked.asked_bytes > disk->written || asked.look_s < disk->rest_until_s;
    if (disk->is_resting && has_work) {
        disk->is_resting = false;
        sg_sem_release(disk->work);
    }
}
