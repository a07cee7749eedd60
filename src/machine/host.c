/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/host.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/utf8.h"
#include "machine/host_json.h"
#include "machine/host_keys.h"

#define SCHEMA "whyio.host/1"
#define FILE_MAX (16u << 20)
#define KEY_SHOWN_MAX 64
#define NET_MOST 1e15

static void json_cleanup(json_t **json)
{
    json_decref(*json);
}

static void blob_cleanup(struct wio_blob *blob)
{
    wio_blob_fini(blob);
}

void wio_host_fini(struct wio_host *host)
{
    for (uint32_t i = 0; i < host->device_count; i++) {
        free(host->devices[i].path);
    }
    free(host->devices);
    *host = (struct wio_host){0};
}

/* The key whose value, or a part of it, stands in front of `at`: '"key" :' before it. Its length,
 * 0 where there is none. */
static size_t key_before(const char *text, size_t at, const char **key_out)
{
    for (const char *colon = text + at; colon > text; colon--) {
        const char *close = colon - 1;
        while (*colon == ':' && close > text && isspace((unsigned char)*close)) {
            close--;
        }
        if (*colon != ':' || *close != '"' || close == text) {
            continue;
        }
        const char *open = memrchr(text, '"', (size_t)(close - text));
        *key_out = open == NULL ? close : open + 1;
        return (size_t)(close - *key_out);
    }
    return 0;
}

/* jansson tells where it stopped, but not in which parameter. */
static enum wio_status refuse_text(const char *path, const struct wio_blob *text,
                                   const json_error_t *where, struct wio_error *err)
{
    enum json_error_code code = json_error_code(where);
    bool is_value = code == json_error_invalid_syntax || code == json_error_numeric_overflow;
    uint64_t offset = where->position < 0 ? WIO_ERROR_NO_OFFSET : (uint64_t)where->position;
    const char *key;
    size_t length = 0;
    if (is_value && offset < text->size) {
        length = key_before((const char *)text->data, (size_t)offset, &key);
    }
    if (length > 0) {
        return wio_error_set(
            err, WIO_ERR_FORMAT, path, offset, "line %d: parameter '%.*s': expected JSON: %s",
            where->line, (int)(length < KEY_SHOWN_MAX ? length : KEY_SHOWN_MAX), key, where->text);
    }
    return wio_error_set(err, WIO_ERR_FORMAT, path, offset, "line %d: expected JSON: %s",
                         where->line, where->text);
}

static enum wio_status parse(const char *path, const struct wio_blob *text, json_t **root_out,
                             struct wio_error *err)
{
    const char *begin = text->size > 0 ? (const char *)text->data : ""; /* no data: NULL */
    size_t mark = wio_utf8_mark(begin, text->size);
    json_error_t where;
    /* whole numbers may be as long as any: those of 64 bits are the reader's limit, not JSON's */
    *root_out = json_loadb(begin + mark, text->size - mark,
                           JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &where);
    if (*root_out == NULL) {
        where.position += where.position < 0 ? 0 : (int)mark;
        return refuse_text(path, text, &where, err);
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

static enum wio_status check(const struct wio_host_json *json,
                             const struct wio_model_params *params)
{
    struct wio_error wrong = WIO_ERROR_INIT;
    if (wio_model_params_check(params, &wrong) == WIO_OK) {
        return WIO_OK;
    }
    return wio_host_refuse_as(json, &wrong);
}

/* A table of memory stands in for numbers of the machine; those of the device are not in it. */
static void drop_tables(const struct wio_host_json *json, struct wio_model_params *params)
{
    static const struct {
        size_t table;
        const char *stands_for[3];
    } cases[] = {
        {offsetof(struct wio_model_params, new_table), {"c_folio", "bw_ramdisk"}},
        {offsetof(struct wio_model_params, clean_table), {"c_clean", "bw_clean", "bw_ramdisk"}},
        {offsetof(struct wio_model_params, dirty_table), {0}}, /* for bw_mem, the machine's */
        {offsetof(struct wio_model_params, hit_table), {"bw_hit"}},
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(cases); i++) {
        bool is_other = wio_host_find(json, "sc_w") != NULL;
        for (size_t k = 0; k < 3 && cases[i].stands_for[k] != NULL; k++) {
            is_other |= wio_host_find(json, cases[i].stands_for[k]) != NULL;
        }
        if (is_other) {
            *(struct wio_model_table *)(void *)((char *)params + cases[i].table) =
                (struct wio_model_table){0};
        }
    }
}

/* What goes with a figure that a device has of its own is not the first one's: a description that
 * does not tell it holds it in that figure, as all did once. */
static void drop_details(const struct wio_host_json *json, struct wio_model_params *params)
{
    if (wio_host_find(json, "sc_w") != NULL) {
        params->c_call = params->c_folio = params->c_clean = params->c_walk = 0;
        params->bw_clean = params->sc_r = params->bw_hit = 0;
    }
    drop_tables(json, params);
    params->c_length = 0; /* beside tables that no further device inherits */
    if (wio_host_find(json, "sc_sw") != NULL) {
        params->c_flush = 0;
    }
    if (wio_host_find(json, "bw_dev") == NULL) {
        return;
    }
    params->c_page_sync = params->c_forget = params->c_flush = 0;
    params->commit_bytes = 0;
    if (params->slice > 0) { /* what passes at once is a part of that limit, and no buffer */
        params->slice = params->bw_burst = params->burst_size = 0;
    }
}

/* The next device of the host; the first has everything from the file, the others what they say
 * and otherwise what the first has. */
static enum wio_status add_device(struct wio_host *host, const struct wio_host_json *json,
                                  const char *path)
{
    struct wio_host_device *device = &host->devices[host->device_count];
    if (host->device_count > 0) {
        *device = host->devices[0];
        drop_details(json, &device->params);
    } else {
        device->params = wio_model_params_default();
        wio_meta_init(&device->meta);
    }
    device->path = strdup(path);
    if (device->path == NULL) {
        return WIO_ERR_NOMEM;
    }
    host->device_count++;
    wio_host_note_misspelt(json, &host->misspelt);
    WIO_TRY(wio_host_params(json, &device->params));
    WIO_TRY(wio_host_meta(json, &device->meta));
    WIO_TRY(wio_host_store_read(json, &device->store));
    double spread = json_number_value(json_object_get(wio_host_find(json, "spread"), "bw_dev"));
    device->spread_bw_dev = spread > 0 && isfinite(spread) ? spread : 0;
    return check(json, &device->params);
}

/* "/scratch/" is "/scratch", and "/" what the first device would be. */
static enum wio_status add_further(struct wio_host *host, const char *file, const json_t *object,
                                   struct wio_error *err)
{
    const char *path = json_string_value(json_object_get(object, "path"));
    if (path == NULL || path[0] != '/') {
        return wio_error_set(err, WIO_ERR_FORMAT, file, WIO_ERROR_NO_OFFSET,
                             "devices[%u]: expected \"path\" to be an absolute path",
                             host->device_count - 1);
    }
    const struct wio_host_json json = {file, path, object, err};
    WIO_TRY(add_device(host, &json, path));
    char *own = host->devices[host->device_count - 1].path;
    size_t length = strlen(own);
    while (length > 1 && own[length - 1] == '/') {
        own[--length] = '\0';
    }
    for (uint32_t i = 0; i + 1 < host->device_count; i++) {
        if (strcmp(host->devices[i].path, own) == 0) {
            return wio_host_refuse(&json, "path", "is another device's, too");
        }
    }
    return WIO_OK;
}

static enum wio_status read_cpus(struct wio_host *host, const struct wio_host_json *json)
{
    const json_t *value = wio_host_find(json, "cpus");
    double cpus = json_number_value(value);
    if (value == NULL) {
        return WIO_OK;
    }
    if (!json_is_number(value) || cpus < 1 || cpus > WIO_HOST_CPUS_MAX || floor(cpus) != cpus) {
        return wio_host_refuse(json, "cpus", "must be a number of processors from 1 to 1048576");
    }
    host->cpus = (uint32_t)cpus;
    return WIO_OK;
}

/* Of the network: NaN where it is not said. */
static enum wio_status read_net(const struct wio_host_json *json, const char *name, double least,
                                double *out)
{
    const json_t *value = wio_host_find(json, name);
    *out = (double)NAN;
    if (value == NULL) {
        return WIO_OK;
    }
    *out = json_number_value(value);
    if (!json_is_number(value) || !(*out >= least && *out <= NET_MOST)) {
        return wio_host_refuse(json, name,
                               least > 0 ? "must be bytes per second from 1 to 1e15"
                                         : "must be seconds from 0 to 1e15");
    }
    return WIO_OK;
}

static enum wio_status add_devices(struct wio_host *host, const struct wio_host_json *json)
{
    const json_t *list = wio_host_find(json, "devices");
    size_t count = json_array_size(list);
    if (list != NULL && (!json_is_array(list) || count >= WIO_MODEL_DEVICES_MAX)) {
        return wio_host_refuse(json, "devices", "must be a list of at most 63 objects");
    }
    host->devices = calloc(count + 1, sizeof(*host->devices));
    if (host->devices == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(add_device(host, json, ""));
    WIO_TRY(read_cpus(host, json));
    WIO_TRY(wio_host_trust_read(json, &host->trust));
    WIO_TRY(read_net(json, "net_bw", 1, &host->net_bw));
    WIO_TRY(read_net(json, "net_lat", 0, &host->net_lat));
    for (size_t i = 0; i < count; i++) {
        WIO_TRY(add_further(host, json->file, json_array_get(list, i), json->err));
    }
    return WIO_OK;
}

enum wio_status wio_host_parse(const struct wio_blob *text, const char *path,
                               struct wio_host *host_out, struct wio_error *err)
{
    WIO_CLEANUP(json_cleanup) json_t *root = NULL;
    WIO_CLEANUP(wio_host_fini) struct wio_host host = {0};

    WIO_TRY(parse(path, text, &root, err));
    const struct wio_host_json json = {path, NULL, root, err};
    enum wio_status status = add_devices(&host, &json);
    if (status == WIO_ERR_NOMEM) {
        (void)wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    WIO_TRY(status);
    *host_out = host;
    host = (struct wio_host){0};
    return WIO_OK;
}

enum wio_status wio_host_load(const char *path, struct wio_host *host_out, struct wio_error *err)
{
    WIO_CLEANUP(blob_cleanup) struct wio_blob text = {0};
    WIO_TRY(wio_io_read_file(path, FILE_MAX, &text, err));
    return wio_host_parse(&text, path, host_out, err);
}

enum wio_status wio_host_read(const char *path, struct wio_model_params *params_out,
                              struct wio_error *err)
{
    WIO_CLEANUP(wio_host_fini) struct wio_host host = {0};
    WIO_TRY(wio_host_load(path, &host, err));
    WIO_PRE(host.devices != NULL); /* the machine's own is always there */
    *params_out = host.devices[0].params;
    return WIO_OK;
}

static bool is_below(const char *file, const char *path, size_t length)
{
    return strncmp(file, path, length) == 0 &&
           (file[length] == '\0' || file[length] == '/' || (length > 0 && path[length - 1] == '/'));
}

uint32_t wio_host_device_of(const struct wio_host *host, const char *file)
{
    uint32_t found = 0;
    size_t longest = 0;
    for (uint32_t i = 1; i < host->device_count; i++) {
        size_t length = strlen(host->devices[i].path);
        if (length > longest && is_below(file, host->devices[i].path, length)) {
            found = i;
            longest = length;
        }
    }
    return found;
}
