/* SPDX-License-Identifier: Apache-2.0 */
/* docs/schema/host.json describes the file. */
#include "machine/host_write.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"

static void put_table(struct wio_json *json, const struct wio_host_table *one)
{
    wio_json_array_begin(json, one->key);
    for (size_t i = 0; i < one->table->count; i++) {
        wio_json_array_begin(json, NULL);
        wio_json_double(json, NULL, one->table->points[i].bytes);
        wio_json_double(json, NULL, one->table->points[i].seconds);
        wio_json_array_end(json);
    }
    wio_json_array_end(json);
}

static void put_known(struct wio_json *json, const char *key, double value)
{
    if (!isnan(value)) {
        wio_json_double(json, key, value);
    }
}

static void put_values(struct wio_json *json, const struct wio_host_measured *measured)
{
    for (size_t i = 0; i < measured->param_count; i++) {
        wio_json_double(json, measured->params[i].key, measured->params[i].value);
    }
    for (size_t i = 0; i < measured->table_count; i++) {
        put_table(json, &measured->tables[i]);
    }
    if (measured->cpus > 0) {
        wio_json_u64(json, "cpus", measured->cpus);
    }
    wio_json_object_begin(json, "meta");
    for (size_t i = 0; i < measured->meta_count; i++) {
        put_known(json, measured->meta[i].key, measured->meta[i].value);
    }
    wio_json_object_end(json);
}

static void put_spread(struct wio_json *json, const struct wio_host_measured *measured)
{
    wio_json_object_begin(json, "spread");
    for (size_t i = 0; i < measured->param_count; i++) {
        put_known(json, measured->params[i].key, measured->params[i].spread);
    }
    for (size_t i = 0; i < measured->table_count; i++) {
        put_known(json, measured->tables[i].key, measured->tables[i].spread);
    }
    for (size_t i = 0; i < measured->meta_count; i++) {
        put_known(json, measured->meta[i].key, measured->meta[i].spread);
    }
    wio_json_object_end(json);
}

static bool is_assumed(const struct wio_host_number *number)
{
    return number->is_assumed;
}

static bool is_better_with_root(const struct wio_host_number *number)
{
    return number->is_better_with_root;
}

static bool is_better_with_bytes(const struct wio_host_number *number)
{
    return number->is_better_with_bytes;
}

/* The keys of the parameters that are so. */
static void put_keys(struct wio_json *json, const char *key,
                     const struct wio_host_measured *measured,
                     bool (*is_so)(const struct wio_host_number *number))
{
    wio_json_array_begin(json, key);
    for (size_t i = 0; i < measured->param_count; i++) {
        if (is_so(&measured->params[i])) {
            wio_json_string(json, NULL, measured->params[i].key);
        }
    }
    wio_json_array_end(json);
}

static void put_doubts(struct wio_json *json, const struct wio_host_measured *measured)
{
    put_keys(json, "assumed", measured, is_assumed);
    put_keys(json, "better_with_root", measured, is_better_with_root);
    put_keys(json, "better_with_bytes", measured, is_better_with_bytes);
    wio_json_bool(json, "o_direct", measured->is_direct);
    wio_json_bool(json, "trusted", measured->doubt_count == 0);
    wio_json_array_begin(json, "doubts");
    for (size_t i = 0; i < measured->doubt_count; i++) {
        wio_json_string(json, NULL, measured->doubts[i]);
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

static void put_place(struct wio_json *json, const struct wio_host_measured *measured)
{
    char text[32] = "";
    struct tm when;
    if (gmtime_r(&measured->measured_at, &when) != NULL) {
        (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &when);
    }
    put_text(json, "kernel", measured->kernel);
    put_text(json, "filesystem", measured->filesystem);
    put_text(json, "mount", measured->mount);
    put_text(json, "device", measured->device);
    put_text(json, "measured_at", text);
}

static enum wio_status write_file(const struct wio_host_measured *measured, const char *path,
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
    put_values(&json, measured);
    put_spread(&json, measured);
    put_doubts(&json, measured);
    put_place(&json, measured);
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

enum wio_status wio_host_write(const struct wio_host_measured *measured, const char *path,
                               struct wio_error *err)
{
    char part[PATH_MAX];
    if ((size_t)snprintf(part, sizeof(part), "%s.part-%d", path, (int)getpid()) >= sizeof(part)) {
        return wio_error_set(err, WIO_ERR_USAGE, path, WIO_ERROR_NO_OFFSET, "the path is too long");
    }
    enum wio_status status = write_file(measured, part, err);
    if (status == WIO_OK && rename(part, path) != 0) {
        status = wio_error_sys(err, path, "cannot write");
    }
    if (status != WIO_OK) {
        (void)unlink(part);
    }
    return status;
}
