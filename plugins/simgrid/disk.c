/* SPDX-License-Identifier: Apache-2.0 */
/* The object's life, and how the model keeps up with SimGrid's clock. */
#include "plugin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xbt/config.h>
#include <xbt/sysdep.h>

#include "base/cleanup.h"
#include "model/kernel/external_device.h"

static void disks_cleanup(sg_disk_t **disks)
{
    xbt_free(*disks);
}

static enum wio_status find(const char *host_name, const char *name, sg_disk_t *disk_out,
                            struct wio_error *err)
{
    WIO_CLEANUP(disks_cleanup) sg_disk_t *disks = NULL;
    unsigned count = 0;
    sg_host_t host = sg_host_by_name(host_name);
    if (host == NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "there is no host '%s' in the platform", host_name);
    }
    sg_host_get_disks(host, &count, &disks);
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(sg_disk_get_name(disks[i]), name) == 0) {
            *disk_out = disks[i];
            return WIO_OK;
        }
    }
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                         "host '%s' has no disk '%s'", host_name, name);
}

void wio_simgrid_destroy(struct wio_simgrid *disk)
{
    if (disk == NULL) {
        return;
    }
    if (disk->work != NULL) {
        sg_sem_destroy(disk->work);
    }
    if (disk->granted != NULL) {
        sg_sem_destroy(disk->granted);
    }
    wio_map_fini(&disk->calls);
    wio_model_destroy(disk->model);
    free(disk->name);
    free(disk);
}

static void disk_cleanup(struct wio_simgrid **disk)
{
    wio_simgrid_destroy(*disk);
}

static enum wio_status create_model(struct wio_simgrid *disk, struct wio_error *err)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    WIO_TRY(wio_model_create(WIO_MODEL_KERNEL, &disk->params, &heap, &disk->model, err));
    WIO_TRY(wio_model_outside_init(disk->model, err));
    uint64_t chunk = (uint64_t)fmin(disk->params.bw_dev * WIO_SIMGRID_CHUNK_S, 1e15);
    disk->chunk = chunk > WIO_SIMGRID_CHUNK_MIN ? chunk : WIO_SIMGRID_CHUNK_MIN;
    wio_model_outside_grant(disk->model, wio_simgrid_ahead(disk));
    return WIO_OK;
}

enum wio_status wio_simgrid_create(const char *host, const char *name,
                                   const struct wio_simgrid_machine *machine,
                                   struct wio_simgrid **disk_out, struct wio_error *err)
{
    if (sg_cfg_get_int("contexts/nthreads") > 1) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                             "actors that run in parallel (contexts/nthreads above 1)");
    }
    WIO_CLEANUP(disk_cleanup) struct wio_simgrid *disk = calloc(1, sizeof(*disk));
    if (disk == NULL || (disk->name = strdup(name)) == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    WIO_TRY(find(host, name, &disk->disk, err));
    WIO_TRY(wio_simgrid_params(machine, disk->disk, &disk->params, err));
    WIO_TRY(create_model(disk, err));
    disk->precision_s = sg_cfg_get_double("surf/precision");
    disk->work = sg_sem_init(0);
    disk->granted = sg_sem_init(0);
    wio_simgrid_flusher_start(disk);
    *disk_out = disk;
    disk = NULL;
    return WIO_OK;
}

enum wio_status wio_simgrid_advance(struct wio_simgrid *disk, double time_s, struct wio_error *err)
{
    struct wio_model_done done;
    enum wio_status status;
    while ((status = wio_model_run(disk->model, time_s, &done, err)) == WIO_OK) {
        const uint64_t *place = wio_map_get(&disk->calls, done.task);
        if (place != NULL) { /* else its actor was killed */
            struct wio_simgrid_call *call = (struct wio_simgrid_call *)(uintptr_t)*place;
            call->result = done.result;
            call->is_done = true;
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

double wio_simgrid_dirty_bytes(const struct wio_simgrid *disk)
{
    return wio_model_outside_ask(disk->model).dirty_bytes;
}
