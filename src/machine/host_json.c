/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/host_json.h"

#include "base/cleanup.h"

#define SECONDS_MAX 1e9

enum wio_status wio_host_refuse(const struct wio_host_json *json, const char *name,
                                const char *expected)
{
    if (json->device != NULL) {
        return wio_error_set(json->err, WIO_ERR_FORMAT, json->file, WIO_ERROR_NO_OFFSET,
                             "device '%s': parameter '%s' %s", json->device, name, expected);
    }
    return wio_error_set(json->err, WIO_ERR_FORMAT, json->file, WIO_ERROR_NO_OFFSET,
                         "parameter '%s' %s", name, expected);
}

enum wio_status wio_host_refuse_as(const struct wio_host_json *json, const struct wio_error *wrong)
{
    if (json->device != NULL) {
        return wio_error_set(json->err, WIO_ERR_FORMAT, json->file, WIO_ERROR_NO_OFFSET,
                             "device '%s': %s", json->device, wrong->message);
    }
    return wio_error_set(json->err, WIO_ERR_FORMAT, json->file, WIO_ERROR_NO_OFFSET, "%s",
                         wrong->message);
}

const json_t *wio_host_find(const struct wio_host_json *json, const char *name)
{
    const json_t *value = json_object_get(json->object, name);
    return json_is_null(value) ? NULL : value;
}

static enum wio_status read_number(const struct wio_host_json *json, const char *name, double *out)
{
    const json_t *value = wio_host_find(json, name);
    if (value == NULL) {
        return WIO_OK;
    }
    if (json->device != NULL && !wio_model_is_device_param(name)) {
        return wio_host_refuse(json, name, "is of the machine, not of a device");
    }
    if (!json_is_number(value)) {
        return wio_host_refuse(json, name, "must be a number");
    }
    *out = json_number_value(value);
    return WIO_OK;
}

static enum wio_status read_table(const struct wio_host_json *json, const char *name,
                                  struct wio_model_table *out)
{
    const json_t *rows = wio_host_find(json, name);
    if (rows == NULL) {
        return WIO_OK;
    }
    size_t count = json_array_size(rows);
    if (!json_is_array(rows) || count > WIO_MODEL_TABLE_MAX) {
        return wio_host_refuse(json, name, "must be a list of at most 32 pairs [bytes, seconds]");
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *bytes = json_array_get(row, 0);
        const json_t *seconds = json_array_get(row, 1);
        if (json_array_size(row) != 2 || !json_is_number(bytes) || !json_is_number(seconds)) {
            return wio_host_refuse(json, name, "must be a list of pairs [bytes, seconds]");
        }
        out->points[i].bytes = json_number_value(bytes);
        out->points[i].seconds = json_number_value(seconds);
    }
    out->count = count;
    return WIO_OK;
}

static enum wio_status read_tables(const struct wio_host_json *json,
                                   struct wio_model_params *params)
{
    struct wio_model_table device = {0};
    struct wio_error wrong = WIO_ERROR_INIT;
    WIO_TRY(read_table(json, "dev_table", &device));
    /* here, since it goes on under the names of the two that it stands for */
    if (wio_model_table_check(&device, "dev_table", &wrong) != WIO_OK) {
        return wio_host_refuse_as(json, &wrong);
    }
    params->direct_table = device;
    params->sync_table = device;
    params->append_table = (struct wio_model_table){0};
    params->direct_nosync_table = (struct wio_model_table){0};
    WIO_TRY(read_table(json, "direct_table", &params->direct_table));
    WIO_TRY(read_table(json, "sync_table", &params->sync_table));
    WIO_TRY(read_table(json, "append_table", &params->append_table));
    WIO_TRY(read_table(json, "direct_nosync_table", &params->direct_nosync_table));
    WIO_TRY(read_table(json, "new_table", &params->new_table));
    WIO_TRY(read_table(json, "clean_table", &params->clean_table));
    WIO_TRY(read_table(json, "dirty_table", &params->dirty_table));
    return read_table(json, "hit_table", &params->hit_table);
}

enum wio_status wio_host_params(const struct wio_host_json *json, struct wio_model_params *params)
{
#define NAME(name, unit, fallback) #name,
    static const char *const names[] = {WIO_MODEL_PARAM_LIST(NAME)};
#undef NAME
    for (size_t i = 0; i < WIO_ARRAY_SIZE(names); i++) {
        WIO_TRY(read_number(json, names[i], wio_model_param(params, names[i])));
    }
    return read_tables(json, params);
}

enum wio_status wio_host_meta(const struct wio_host_json *json, struct wio_meta *meta)
{
    const json_t *object = wio_host_find(json, "meta");
    const char *name;
    json_t *value;
    if (object == NULL) {
        return WIO_OK;
    }
    if (!json_is_object(object)) {
        return wio_host_refuse(json, "meta", "must be an object of seconds by operation");
    }
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        char label[64];
        double seconds = json_number_value(value);
        bool is_time = json_is_number(value) && seconds >= 0 && seconds <= SECONDS_MAX;
        if (json_is_null(value)) {
            continue;
        }
        (void)snprintf(label, sizeof(label), "meta.%s", name);
        if (!is_time) {
            return wio_host_refuse(json, label, "must be seconds from 0 to 1e9");
        }
        (void)wio_meta_set(meta, name, seconds);
    }
    return WIO_OK;
}

static void note_doubt(const json_t *list, struct wio_host_trust *out)
{
    const char *text = json_string_value(json_array_get(list, 0));
    out->doubts = (uint32_t)json_array_size(list);
    for (size_t i = 0; text != NULL && text[i] != '\0' && i + 1 < sizeof(out->doubt); i++) {
        bool is_plain = text[i] >= ' ' && text[i] <= '~';
        out->doubt[i] = is_plain ? text[i] : '?';
    }
}

enum wio_status wio_host_trust_read(const struct wio_host_json *json, struct wio_host_trust *out)
{
    const json_t *value = wio_host_find(json, "trusted");
    *out = (struct wio_host_trust){.file = json->file, .is = WIO_HOST_TRUST_NOT_TOLD};
    if (value == NULL) {
        return WIO_OK;
    }
    out->is = json_is_true(value) ? WIO_HOST_TRUSTED : WIO_HOST_DOUBTED;
    if (out->is == WIO_HOST_TRUSTED) {
        return WIO_OK;
    }
    if (!json_is_false(value)) {
        return wio_host_refuse(json, "trusted", "must be true or false");
    }
    note_doubt(wio_host_find(json, "doubts"), out);
    return WIO_OK;
}
