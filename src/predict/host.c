/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/host.h"

#include <string.h>

#include <jansson.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"

#define SCHEMA "whyio.host/1"
#define FILE_MAX (16u << 20)

static void json_cleanup(json_t **json)
{
    json_decref(*json);
}

static void blob_cleanup(struct wio_blob *blob)
{
    wio_blob_fini(blob);
}

static enum wio_status refuse(const char *path, const char *name, const char *expected,
                              struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET, "parameter '%s' %s", name,
                         expected);
}

static enum wio_status parse(const char *path, const struct wio_blob *text, json_t **root_out,
                             struct wio_error *err)
{
    json_error_t where;
    *root_out = json_loadb((const char *)text->data, text->size, JSON_REJECT_DUPLICATES, &where);
    if (*root_out == NULL) {
        uint64_t offset = where.position < 0 ? WIO_ERROR_NO_OFFSET : (uint64_t)where.position;
        return wio_error_set(err, WIO_ERR_FORMAT, path, offset, "line %d: expected JSON: %s",
                             where.line, where.text);
    }
    if (!json_is_object(*root_out)) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, 0, "expected a JSON object");
    }
    const json_t *schema = json_object_get(*root_out, "schema");
    if (schema != NULL &&
        (!json_is_string(schema) || strcmp(json_string_value(schema), SCHEMA) != 0)) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                             "expected \"schema\": \"" SCHEMA "\", found \"%s\"",
                             json_is_string(schema) ? json_string_value(schema) : "no text");
    }
    return WIO_OK;
}

/* null is as good as not there. */
static const json_t *find(const json_t *root, const char *name)
{
    const json_t *value = json_object_get(root, name);
    return json_is_null(value) ? NULL : value;
}

static enum wio_status read_number(const char *path, const json_t *root, const char *name,
                                   double *out, struct wio_error *err)
{
    const json_t *value = find(root, name);
    if (value == NULL) {
        return WIO_OK;
    }
    if (!json_is_number(value)) {
        return refuse(path, name, "must be a number", err);
    }
    *out = json_number_value(value);
    return WIO_OK;
}

static enum wio_status read_table(const char *path, const json_t *root, const char *name,
                                  struct wio_model_table *out, struct wio_error *err)
{
    const json_t *rows = find(root, name);
    if (rows == NULL) {
        return WIO_OK;
    }
    size_t count = json_array_size(rows);
    if (!json_is_array(rows) || count > WIO_MODEL_TABLE_MAX) {
        return refuse(path, name, "must be a list of at most 32 pairs [bytes, seconds]", err);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *bytes = json_array_get(row, 0);
        const json_t *seconds = json_array_get(row, 1);
        if (json_array_size(row) != 2 || !json_is_number(bytes) || !json_is_number(seconds)) {
            return refuse(path, name, "must be a list of pairs [bytes, seconds]", err);
        }
        out->points[i].bytes = json_number_value(bytes);
        out->points[i].seconds = json_number_value(seconds);
    }
    out->count = count;
    return WIO_OK;
}

static enum wio_status read_tables(const char *path, const json_t *root,
                                   struct wio_model_params *params, struct wio_error *err)
{
    struct wio_model_table device = {0};
    WIO_TRY(read_table(path, root, "dev_table", &device, err));
    params->direct_table = device;
    params->sync_table = device;
    WIO_TRY(read_table(path, root, "direct_table", &params->direct_table, err));
    WIO_TRY(read_table(path, root, "sync_table", &params->sync_table, err));
    return read_table(path, root, "append_table", &params->append_table, err);
}

enum wio_status wio_host_read(const char *path, struct wio_model_params *params_out,
                              struct wio_error *err)
{
    WIO_CLEANUP(blob_cleanup) struct wio_blob text = {0};
    WIO_CLEANUP(json_cleanup) json_t *root = NULL;
    struct wio_model_params params = wio_model_params_default();

    WIO_TRY(wio_io_read_file(path, FILE_MAX, &text, err));
    WIO_TRY(parse(path, &text, &root, err));
#define READ_PARAM(name, unit, fallback) WIO_TRY(read_number(path, root, #name, &params.name, err));
    WIO_MODEL_PARAM_LIST(READ_PARAM)
#undef READ_PARAM
    WIO_TRY(read_tables(path, root, &params, err));
    struct wio_error wrong = WIO_ERROR_INIT;
    if (wio_model_params_check(&params, &wrong) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET, "%s", wrong.message);
    }
    *params_out = params;
    return WIO_OK;
}
