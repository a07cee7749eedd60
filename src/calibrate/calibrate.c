/* SPDX-License-Identifier: Apache-2.0 */
/* The whole: what the system says, a private directory, a guard that undoes, the measurement. */
#include "calibrate/calibrate.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "calibrate/backend/files.h"
#include "calibrate/backend/undo_process.h"
#include "calibrate/measure/measure.h"
#include "calibrate/system/dirty_limits.h"
#include "calibrate/system/folio.h"
#include "calibrate/system/system_info.h"
#include "calibrate/trust.h"

/* No more than this part of the free space is written. */
#define SPACE_PART UINT64_C(10)
/* With less nothing can be said. */
#define BYTES_LEAST (WIO_FOLIO_BYTES + 4 * WIO_MEASURE_BYTES_LEAST)

struct scene {
    char dir[PATH_MAX]; /* the private directory */
    struct wio_limits limits;
};

struct wio_calibrate_params wio_calibrate_params_default(void)
{
    return (struct wio_calibrate_params){.max_bytes = UINT64_C(4) << 30, .budget_s = 60};
}

static enum wio_status undo(void *arg, struct wio_error *err)
{
    const struct scene *scene = arg;
    enum wio_status restored = wio_limits_restore(&scene->limits, err);
    enum wio_status removed = wio_io_remove_tree(scene->dir, restored == WIO_OK ? err : NULL);
    return restored == WIO_OK ? removed : restored;
}

/* How much may be written. */
static enum wio_status find_bytes(const struct wio_calibrate_params *params, uint64_t *bytes_out,
                                  struct wio_error *err)
{
    struct statvfs fs;
    char least_text[WIO_TEXT_MAX];
    char free_text[WIO_TEXT_MAX];
    if (statvfs(params->dir, &fs) != 0) {
        return wio_error_sys(err, params->dir, "cannot look at the file system");
    }
    uint64_t free_bytes = (uint64_t)fs.f_bavail * (fs.f_frsize > 0 ? fs.f_frsize : fs.f_bsize);
    *bytes_out = params->max_bytes;
    if (*bytes_out > free_bytes / SPACE_PART) {
        *bytes_out = free_bytes / SPACE_PART;
    }
    if (*bytes_out >= BYTES_LEAST) {
        return WIO_OK;
    }
    if (params->max_bytes < BYTES_LEAST) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "at least %s must be written to measure anything",
                             wio_format_size(least_text, BYTES_LEAST));
    }
    return wio_error_set(err, WIO_ERR_IO, params->dir, WIO_ERROR_NO_OFFSET,
                         "%s are free, expected %s: a tenth of it is used",
                         wio_format_size(free_text, free_bytes),
                         wio_format_size(least_text, SPACE_PART * BYTES_LEAST));
}

static enum wio_status set_scene(const struct wio_calibrate_params *params, struct scene *scene,
                                 struct wio_error *err)
{
    int length = snprintf(scene->dir, sizeof(scene->dir), "%s/.whyio-calibrate.%d.%" PRIu64,
                          params->dir, (int)getpid(), wio_clock_mono_ns());
    if (length < 0 || (size_t)length + (size_t)2 * NAME_MAX >= sizeof(scene->dir)) {
        return wio_error_set(err, WIO_ERR_USAGE, params->dir, WIO_ERROR_NO_OFFSET,
                             "the path is too long");
    }
    scene->limits = wio_limits_of(WIO_LIMITS_DIR);
    scene->limits.may_lower = scene->limits.may_lower && !params->keep_limits;
    return WIO_OK;
}

static enum wio_status measure(const struct wio_calibrate_params *params, const struct scene *scene,
                               struct wio_calibration *calibration, struct wio_error *err)
{
    WIO_CLEANUP(wio_files_fini) struct wio_files files;
    const struct wio_limits *limits = scene->limits.may_lower ? &scene->limits : NULL;
    uint64_t dirty = wio_facts_vmstat_bytes("nr_dirty") + wio_facts_vmstat_bytes("nr_writeback");
    double waited_s = wio_trust_wait_s();
    WIO_TRY(wio_files_init(&files, scene->dir, limits, err));
    const struct wio_rig rig = wio_files_rig(&files);
    WIO_TRY(wio_measure(&rig, params, dirty, calibration, err));
    calibration->params[WIO_PARAM_bw_reduced].is_better_with_root = files.flush.limits == NULL;
    calibration->cpu_wait_s = wio_trust_wait_s() - waited_s;
    return WIO_OK;
}

/* All that leaves traces in the directory. */
static enum wio_status work(const struct wio_calibrate_params *params, const struct scene *scene,
                            struct wio_calibration *calibration, struct wio_error *err)
{
    struct wio_calibrate_params rest = *params;
    if (mkdir(scene->dir, 0700) != 0) {
        return wio_error_sys(err, params->dir, "cannot make a directory in it");
    }
    WIO_TRY(wio_facts_files(scene->dir, calibration, err));
    rest.max_bytes -= WIO_FOLIO_BYTES;
    WIO_TRY(measure(&rest, scene, calibration, err));
    calibration->written_bytes += WIO_FOLIO_BYTES;
    wio_trust_judge(calibration);
    return WIO_OK;
}

enum wio_status wio_calibrate(const struct wio_calibrate_params *params,
                              struct wio_calibration *calibration_out, struct wio_error *err)
{
    struct wio_calibrate_params bounded = *params;
    struct wio_guard guard;
    struct scene scene;
    struct wio_calibration calibration = wio_calibration_unknown();
    calibration.measured_at = (time_t)(wio_clock_unix_ns() / UINT64_C(1000000000));
    WIO_TRY(wio_facts_system(params->dir, &calibration, err));
    WIO_TRY(find_bytes(params, &bounded.max_bytes, err));
    WIO_TRY(set_scene(params, &scene, err));
    WIO_TRY(wio_guard_start(&guard, undo, &scene, err));
    enum wio_status status = work(&bounded, &scene, &calibration, err);
    enum wio_status undone = wio_guard_end(&guard, status == WIO_OK ? err : NULL);
    if (status == WIO_OK && undone == WIO_OK) {
        *calibration_out = calibration;
    }
    return status != WIO_OK ? status : undone;
}
