/* SPDX-License-Identifier: Apache-2.0 */
/* HOST.json. docs/schema/host.json describes it. */
#include "calibrate/calibrate.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"

static void put_table(struct wio_json *json, const struct wio_calibration *calibration,
                      enum wio_calibrate_table which)
{
    const struct wio_model_table *table = wio_calibration_table(calibration, which);
    wio_json_array_begin(json, wio_calibrate_table_name(which));
    for (size_t i = 0; i < table->count; i++) {
        wio_json_array_begin(json, NULL);
        wio_json_double(json, NULL, table->points[i].bytes);
        wio_json_double(json, NULL, table->points[i].seconds);
        wio_json_array_end(json);
    }
    wio_json_array_end(json);
}

static void put_params(struct wio_json *json, const struct wio_calibration *calibration)
{
    for (size_t i = 0; i < WIO_PARAM_COUNT; i++) {
        wio_json_double(json, wio_param_name((enum wio_param)i), calibration->params[i].value);
    }
    for (int i = 0; i < WIO_CALIBRATE_TABLE_COUNT; i++) {
        put_table(json, calibration, (enum wio_calibrate_table)i);
    }
}

static void put_meta(struct wio_json *json, const struct wio_calibration *calibration)
{
    wio_json_object_begin(json, "meta");
    for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
        if (!isnan(calibration->meta[i].value)) {
            wio_json_double(json, wio_rig_meta_name((enum wio_rig_meta)i),
                            calibration->meta[i].value);
        }
    }
    wio_json_object_end(json);
}

static void put_spread(struct wio_json *json, const struct wio_calibration *calibration)
{
    wio_json_object_begin(json, "spread");
    for (size_t i = 0; i < WIO_PARAM_COUNT; i++) {
        if (!isnan(calibration->params[i].spread)) {
            wio_json_double(json, wio_param_name((enum wio_param)i), calibration->params[i].spread);
        }
    }
    for (int i = 0; i < WIO_CALIBRATE_TABLE_COUNT; i++) {
        enum wio_calibrate_table table = (enum wio_calibrate_table)i;
        double spread = wio_calibration_table_spread(calibration, table);
        if (!isnan(spread)) {
            wio_json_double(json, wio_calibrate_table_name(table), spread);
        }
    }
    for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
        if (!isnan(calibration->meta[i].spread)) {
            wio_json_double(json, wio_rig_meta_name((enum wio_rig_meta)i),
                            calibration->meta[i].spread);
        }
    }
    wio_json_object_end(json);
}

static void put_doubts(struct wio_json *json, const struct wio_calibration *calibration)
{
    wio_json_array_begin(json, "assumed");
    for (size_t i = 0; i < WIO_PARAM_COUNT; i++) {
        if (calibration->params[i].how == WIO_CALIBRATE_ASSUMED) {
            wio_json_string(json, NULL, wio_param_name((enum wio_param)i));
        }
    }
    wio_json_array_end(json);
    wio_json_array_begin(json, "better_with_root");
    for (size_t i = 0; i < WIO_PARAM_COUNT; i++) {
        if (calibration->params[i].is_better_with_root) {
            wio_json_string(json, NULL, wio_param_name((enum wio_param)i));
        }
    }
    wio_json_array_end(json);
    wio_json_array_begin(json, "better_with_bytes");
    for (size_t i = 0; i < WIO_PARAM_COUNT; i++) {
        if (calibration->params[i].is_better_with_bytes) {
            wio_json_string(json, NULL, wio_param_name((enum wio_param)i));
        }
    }
    wio_json_array_end(json);
    wio_json_bool(json, "o_direct", calibration->is_direct);
    wio_json_bool(json, "trusted", calibration->doubt_count == 0);
    wio_json_array_begin(json, "doubts");
    for (size_t i = 0; i < calibration->doubt_count && i < WIO_CALIBRATE_DOUBTS; i++) {
        wio_json_string(json, NULL, calibration->doubts[i]);
    }
    wio_json_array_end(json);
}

static void put_text(struct wio_json *json, const char *key, const char *text)
{
    if (text[0] == '\0') {
        wio_json_null(json, key);
    } else {
        wio_json_string(json, key, text);
    }
}

static void put_place(struct wio_json *json, const struct wio_calibration *calibration)
{
    char text[32] = "";
    struct tm when;
    if (gmtime_r(&calibration->measured_at, &when) != NULL) {
        (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &when);
    }
    put_text(json, "kernel", calibration->kernel);
    put_text(json, "filesystem", calibration->filesystem);
    put_text(json, "mount", calibration->mount);
    put_text(json, "device", calibration->device);
    put_text(json, "measured_at", text);
}

static enum wio_status write_file(const struct wio_calibration *calibration, const char *path,
                                  struct wio_error *err)
{
    struct wio_json json;
    FILE *file = fopen(path, "wxe");
    if (file == NULL) {
        return wio_error_sys(err, path, "cannot make the file");
    }
    wio_json_init(&json, file);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.host/1");
    put_params(&json, calibration);
    if (calibration->cpus > 0) {
        wio_json_u64(&json, "cpus", calibration->cpus);
    }
    put_meta(&json, calibration);
    put_spread(&json, calibration);
    put_doubts(&json, calibration);
    put_place(&json, calibration);
    wio_json_object_end(&json);
    wio_json_line(&json);
    bool is_bad = fflush(file) != 0 || fsync(fileno(file)) != 0;
    int cause = errno;
    if (fclose(file) != 0 || is_bad) {
        errno = is_bad ? cause : errno;
        return wio_error_sys(err, path, "cannot write");
    }
    return WIO_OK;
}

enum wio_status wio_calibration_write(const struct wio_calibration *calibration, const char *path,
                                      struct wio_error *err)
{
    char part[PATH_MAX];
    if ((size_t)snprintf(part, sizeof(part), "%s.part-%d", path, (int)getpid()) >= sizeof(part)) {
        return wio_error_set(err, WIO_ERR_USAGE, path, WIO_ERROR_NO_OFFSET, "the path is too long");
    }
    enum wio_status status = write_file(calibration, part, err);
    if (status == WIO_OK && rename(part, path) != 0) {
        status = wio_error_sys(err, path, "cannot write");
    }
    if (status != WIO_OK) {
        (void)unlink(part);
    }
    return status;
}
