/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, by the keys of HOST.json (machine/host_write.h). */
#include "calibrate/calibrate.h"
#include "machine/host_write.h"

static struct wio_host_number number_of(const char *key, const struct wio_calibrate_value *value)
{
    return (struct wio_host_number){.key = key,
                                    .value = value->value,
                                    .spread = value->spread,
                                    .is_assumed = value->how == WIO_CALIBRATE_ASSUMED,
                                    .is_better_with_root = value->is_better_with_root,
                                    .is_better_with_bytes = value->is_better_with_bytes};
}

enum wio_status wio_calibration_write(const struct wio_calibration *calibration, const char *path,
                                      struct wio_error *err)
{
    struct wio_host_number params[WIO_PARAM_COUNT];
    struct wio_host_table tables[WIO_CALIBRATE_TABLE_COUNT];
    struct wio_host_number meta[WIO_RIG_META_COUNT];
    const char *doubts[WIO_CALIBRATE_DOUBTS];
    for (size_t i = 0; i < WIO_PARAM_COUNT; i++) {
        params[i] = number_of(wio_param_name((enum wio_param)i), &calibration->params[i]);
    }
    for (size_t i = 0; i < WIO_CALIBRATE_TABLE_COUNT; i++) {
        const enum wio_calibrate_table table = (enum wio_calibrate_table)i;
        tables[i] = (struct wio_host_table){wio_calibrate_table_name(table),
                                            wio_calibration_table(calibration, table),
                                            wio_calibration_table_spread(calibration, table)};
    }
    for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
        meta[i] = number_of(wio_rig_meta_name((enum wio_rig_meta)i), &calibration->meta[i]);
    }
    const size_t doubt_count = calibration->doubt_count < WIO_CALIBRATE_DOUBTS
                                   ? calibration->doubt_count
                                   : WIO_CALIBRATE_DOUBTS;
    for (size_t i = 0; i < doubt_count; i++) {
        doubts[i] = calibration->doubts[i];
    }
    const struct wio_host_measured measured = {.params = params,
                                               .param_count = WIO_PARAM_COUNT,
                                               .tables = tables,
                                               .table_count = WIO_CALIBRATE_TABLE_COUNT,
                                               .meta = meta,
                                               .meta_count = WIO_RIG_META_COUNT,
                                               .doubts = doubts,
                                               .doubt_count = doubt_count,
                                               .cpus = calibration->cpus,
                                               .is_direct = calibration->is_direct,
                                               .kernel = calibration->kernel,
                                               .filesystem = calibration->filesystem,
                                               .mount = calibration->mount,
                                               .device = calibration->device,
                                               .measured_at = calibration->measured_at};
    return wio_host_write(&measured, path, err);
}
