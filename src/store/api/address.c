/* SPDX-License-Identifier: Apache-2.0 */
/* Where a store is, and its key: what a program says, the environment, or a file of both. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/env.h"
#include "base/io.h"
#include "store/api/api_internal.h"
#include "store/link/address.h"

enum { FILE_MAX = 65536 };

/* The next line without its end; false: there is none. */
static bool next_line(char **at, char **line_out)
{
    char *line = *at;
    if (line == NULL || *line == '\0') {
        return false;
    }
    char *end = line + strcspn(line, "\r\n");
    *at = end + strspn(end, "\r\n");
    *end = '\0';
    *line_out = line;
    return true;
}

/* The file's text, ended by NUL. */
static enum wio_status read_text(const char *path, struct wio_blob *text, struct wio_error *err)
{
    WIO_TRY(wio_io_read_private(path, FILE_MAX, text, err));
    if (wio_blob_u8(text, 0) != WIO_OK) {
        return api_nomem(err);
    }
    return WIO_OK;
}

static enum wio_status take_key(const char *path, const char *line, struct api_where *where,
                                struct wio_error *err)
{
    if (wio_link_key_parse(line, &where->key, NULL) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                             "expected a key: %d hexadecimal digits", 2 * WIO_LINK_KEY_BYTES);
    }
    where->has_key = true;
    return WIO_OK;
}

static enum wio_status take_address(const char *text, struct api_where *where,
                                    struct wio_error *err)
{
    struct wio_link_address address;
    WIO_TRY(wio_link_address_parse(text, &address, err));
    (void)snprintf(where->address, sizeof(where->address), "%s", text);
    return WIO_OK;
}

/* An address in its first line; the key, where the store has one, in its second. */
static enum wio_status read_where(const char *path, struct api_where *where, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    char *line = NULL;
    WIO_TRY(read_text(path, &text, err));
    char *at = (char *)text.data;
    if (!next_line(&at, &line)) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, 0, "expected the address of a store");
    }
    WIO_TRY(take_address(line, where, err));
    return next_line(&at, &line) ? take_key(path, line, where, err) : WIO_OK;
}

static enum wio_status read_key(const char *path, struct api_where *where, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    char *line = NULL;
    WIO_TRY(read_text(path, &text, err));
    char *at = (char *)text.data;
    return take_key(path, next_line(&at, &line) ? line : "", where, err);
}

enum wio_status api_where_find(const struct wio_store_params *params, struct api_where *where_out,
                               struct wio_error *err)
{
    const char *address =
        params->address != NULL ? params->address : wio_env_get(WIO_ENV_STORE_SERVER);
    const char *key = params->key_file != NULL ? params->key_file : wio_env_get(WIO_ENV_STORE_KEY);
    *where_out = (struct api_where){.has_key = false};
    if (address == NULL || address[0] == '\0') {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "no store is named: expected an address, or WHYIO_SERVER");
    }
    WIO_TRY(address[0] == '@' ? read_where(address + 1, where_out, err)
                              : take_address(address, where_out, err));
    return key != NULL && key[0] != '\0' ? read_key(key, where_out, err) : WIO_OK;
}
