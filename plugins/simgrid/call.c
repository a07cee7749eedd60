/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operation of an actor: begun in the model at SimGrid's clock, slept for until the model says
 * that it has ended, and what it has to do with the device itself done on SimGrid's disk.
 */
#include "plugin.h"

#include <math.h>

#include <simgrid/engine.h>

#include "base/cleanup.h"
#include "model/kernel/external_device.h"

/* Also when the actor is killed: the stack that `call` lies on is gone then. */
static void call_cleanup(struct wio_simgrid_call *call)
{
    if (call->disk != NULL) {
        (void)wio_map_remove(&call->disk->calls, call->task);
    }
}

static enum wio_status check_state(const struct wio_simgrid *disk, struct wio_error *err)
{
    if (disk->status != WIO_OK) {
        return wio_error_set(err, disk->status, NULL, WIO_ERROR_NO_OFFSET, "%s",
                             wio_status_text(disk->status));
    }
    if (disk->is_down) {
        return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                             "the host of disk '%s' is or was down", disk->name);
    }
    return WIO_OK;
}

static enum wio_status begin(struct wio_simgrid *disk, struct wio_simgrid_call *call,
                             const struct wio_model_op *op, struct wio_error *err)
{
    uint32_t task = (uint32_t)sg_actor_self_get_pid();
    WIO_TRY(wio_simgrid_advance(disk, simgrid_get_clock(), err));
    WIO_TRY(wio_model_begin(disk->model, task, op, err));
    if (wio_map_put(&disk->calls, task, (uintptr_t)call) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    call->task = task;
    call->disk = disk;
    wio_simgrid_flusher_nudge(disk);
    return WIO_OK;
}

static void sleep_until(const struct wio_simgrid *disk, double time_s)
{
    double left_s = time_s - simgrid_get_clock();
    if (left_s >= disk->precision_s) {
        sg_actor_sleep_for(left_s);
    }
}

/* The model may be ahead of the clock by less than what the clock can tell apart. */
static enum wio_status finish(struct wio_simgrid *disk, const struct wio_simgrid_call *call,
                              struct wio_error *err)
{
    while (!call->is_done) {
        double wake_s = wio_model_outside_wake(disk->model, call->task);
        if (wake_s < HUGE_VAL) {
            sleep_until(disk, wake_s);
        } else {
            disk->waiting++;
            sg_sem_acquire(disk->granted);
            wake_s = 0;
        }
        WIO_TRY(check_state(disk, err));
        WIO_TRY(wio_simgrid_advance(disk, fmax(simgrid_get_clock(), wake_s), err));
        wio_simgrid_flusher_nudge(disk);
    }
    return WIO_OK;
}

/* Reads of what is not in memory, direct and synchronous writes. */
static void use_device(const struct wio_simgrid *disk, enum wio_model_method method, double seconds)
{
    if (seconds <= 0) {
        return;
    }
    if (method == WIO_MODEL_READ) {
        (void)sg_disk_read(disk->disk, (sg_size_t)llrint(seconds * disk->params.bw_rdev));
    } else {
        (void)sg_disk_write(disk->disk, (sg_size_t)llrint(seconds * disk->params.bw_dev));
    }
}

static enum wio_status refuse(struct wio_error *err, const char *what, int64_t value)
{
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                         "%s must not be negative, found %lld", what, (long long)value);
}

static enum wio_status perform(struct wio_simgrid *disk, enum wio_model_method method,
                               uint64_t file, const int64_t range[2], struct wio_error *err)
{
    WIO_CLEANUP(call_cleanup) struct wio_simgrid_call call = {0};
    if (range[0] < 0) {
        return refuse(err, "offset", range[0]);
    }
    if (range[1] < 0) {
        return refuse(err, "size", range[1]);
    }
    if (sg_actor_self_get_pid() <= 0) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "disk '%s' can be used by actors only", disk->name);
    }
    const struct wio_model_op op = {
        .method = method, .file = file, .offset = (uint64_t)range[0], .size = (uint64_t)range[1]};
    WIO_TRY(check_state(disk, err));
    WIO_TRY(begin(disk, &call, &op, err));
    WIO_TRY(finish(disk, &call, err));
    use_device(disk, method, call.result.device_s);
    return WIO_OK;
}

#define RANGE(offset, size) ((const int64_t[2]){(offset), (size)})

enum wio_status wio_simgrid_write(struct wio_simgrid *disk, uint64_t file, int64_t offset,
                                  int64_t size, struct wio_error *err)
{
    return perform(disk, WIO_MODEL_WRITE, file, RANGE(offset, size), err);
}

enum wio_status wio_simgrid_write_sync(struct wio_simgrid *disk, uint64_t file, int64_t offset,
                                       int64_t size, struct wio_error *err)
{
    return perform(disk, WIO_MODEL_SYNC, file, RANGE(offset, size), err);
}

enum wio_status wio_simgrid_write_direct(struct wio_simgrid *disk, uint64_t file, int64_t offset,
                                         int64_t size, struct wio_error *err)
{
    return perform(disk, WIO_MODEL_DIRECT, file, RANGE(offset, size), err);
}

enum wio_status wio_simgrid_read(struct wio_simgrid *disk, uint64_t file, int64_t offset,
                                 int64_t size, struct wio_error *err)
{
    return perform(disk, WIO_MODEL_READ, file, RANGE(offset, size), err);
}

enum wio_status wio_simgrid_fsync(struct wio_simgrid *disk, uint64_t file, struct wio_error *err)
{
    return perform(disk, WIO_MODEL_FSYNC, file, RANGE(0, 0), err);
}

enum wio_status wio_simgrid_fwrite(struct wio_simgrid *disk, uint64_t file, int64_t offset,
                                   int64_t size, struct wio_error *err)
{
    return perform(disk, WIO_MODEL_FWRITE, file, RANGE(offset, size), err);
}

enum wio_status wio_simgrid_fflush(struct wio_simgrid *disk, uint64_t file, struct wio_error *err)
{
    return perform(disk, WIO_MODEL_FFLUSH, file, RANGE(0, 0), err);
}
