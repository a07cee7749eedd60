/* SPDX-License-Identifier: Apache-2.0 */
/* The result: its names, and as parameters of a model. */
#include <math.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "calibrate/calibrate.h"
#include "calibrate/measure/estimate.h"

static const struct {
    const char *name;
    const char *unit;
} params[] = {
#define PARAM_ENTRY(name, unit, fallback) {#name, unit},
    WIO_MODEL_PARAM_LIST(PARAM_ENTRY)
#undef PARAM_ENTRY
};

const char *wio_param_name(enum wio_param param)
{
    return params[param].name;
}

const char *wio_param_unit(enum wio_param param)
{
    return params[param].unit;
}

const char *wio_rig_meta_name(enum wio_rig_meta meta)
{
    static const char *const names[] = {
#define META_NAME(name) #name,
        WIO_RIG_META_LIST(META_NAME)
#undef META_NAME
    };
    return names[meta];
}

const char *wio_calibrate_how_name(enum wio_calibrate_how how)
{
    static const char *const names[] = {"assumed", "read", "measured"};
    return names[how];
}

const char *wio_calibrate_table_name(enum wio_calibrate_table table)
{
    static const char *const names[] = {"dev_table",           "sync_table", "append_table",
                                        "direct_nosync_table", "new_table",  "clean_table",
                                        "dirty_table",         "hit_table"};
    return names[table];
}

static size_t offset_of(enum wio_calibrate_table table)
{
    static const size_t offsets[] = {
        offsetof(struct wio_calibration, direct_table),
        offsetof(struct wio_calibration, sync_table),
        offsetof(struct wio_calibration, append_table),
        offsetof(struct wio_calibration, direct_nosync_table),
        offsetof(struct wio_calibration, new_table),
        offsetof(struct wio_calibration, clean_table),
        offsetof(struct wio_calibration, dirty_table),
        offsetof(struct wio_calibration, hit_table),
    };
    return offsets[table];
}

struct wio_model_table *wio_calibration_table_of(struct wio_calibration *calibration,
                                                 enum wio_calibrate_table table)
{
    void *found = (char *)calibration + offset_of(table);
    return found;
}

const struct wio_model_table *wio_calibration_table(const struct wio_calibration *calibration,
                                                    enum wio_calibrate_table table)
{
    const void *found = (const char *)calibration + offset_of(table);
    return found;
}

double wio_calibration_table_spread(const struct wio_calibration *calibration,
                                    enum wio_calibrate_table table)
{
    double known[WIO_MODEL_TABLE_MAX];
    size_t count = 0;
    for (size_t i = 0; i < wio_calibration_table(calibration, table)->count; i++) {
        if (!isnan(calibration->table_spread[table][i])) {
            known[count++] = calibration->table_spread[table][i];
        }
    }
    return count > 0 ? wio_estimate_median(known, count) : (double)NAN;
}

struct wio_calibration wio_calibration_unknown(void)
{
    struct wio_calibration calibration = {.params = {
#define PARAM_UNKNOWN(name, unit, fallback) {.value = (fallback), .spread = (double)NAN},
                                              WIO_MODEL_PARAM_LIST(PARAM_UNKNOWN)
#undef PARAM_UNKNOWN
                                          }};
    for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
        calibration.meta[i].value = (double)NAN;
        calibration.meta[i].spread = (double)NAN;
    }
    for (size_t i = 0; i < WIO_CALIBRATE_TABLE_COUNT; i++) {
        for (size_t point = 0; point < WIO_MODEL_TABLE_MAX; point++) {
            calibration.table_spread[i][point] = (double)NAN;
        }
    }
    return calibration;
}

void wio_calibration_read(struct wio_calibration *calibration, enum wio_param param, double value)
{
    calibration->params[param] = (struct wio_calibrate_value){
        .value = value, .spread = (double)NAN, .how = WIO_CALIBRATE_READ};
}

struct wio_model_params wio_calibration_params(const struct wio_calibration *calibration)
{
    return (struct wio_model_params){
#define PARAM_VALUE(name, unit, fallback) .name = calibration->params[WIO_PARAM_##name].value,
        WIO_MODEL_PARAM_LIST(PARAM_VALUE)
#undef PARAM_VALUE
            .direct_table = calibration->direct_table,
        .sync_table = calibration->sync_table,
        .append_table = calibration->append_table,
        .direct_nosync_table = calibration->direct_nosync_table,
        .new_table = calibration->new_table,
        .clean_table = calibration->clean_table,
        .dirty_table = calibration->dirty_table,
        .hit_table = calibration->hit_table,
    };
}
