/* SPDX-License-Identifier: Apache-2.0 */
#include "store/wire/entries.h"

#include <string.h>

#include "base/cleanup.h"
#include "store/wire/parts.h"

/* ---- entries: R-WIRE-15 -------------------------------------------------------------------- */

static bool is_name(const char *name, uint32_t size)
{
    bool is_dots = (size == 1 || size == 2) && memcmp(name, "..", size) == 0;
    return size > 0 && size <= WIO_WIRE_ENTRY_NAME_MAX && !is_dots &&
           memchr(name, '/', size) == NULL && memchr(name, '\0', size) == NULL;
}

enum wio_status wio_wire_put_entry(struct wio_blob *out, const struct wio_wire_entry *entry)
{
    if (entry->cookie == 0 || !is_name(entry->name, entry->name_size)) {
        return WIO_ERR_USAGE;
    }
    WIO_TRY(wio_blob_u64(out, entry->cookie));
    WIO_TRY(wio_wire_put_stat(out, &entry->stat));
    return wio_wire_put_text(out, entry->name, entry->name_size);
}

enum wio_status wio_wire_get_entry(struct wio_buf *data, struct wio_wire_entry *entry_out)
{
    *entry_out = (struct wio_wire_entry){0};
    if (wio_buf_left(data) == 0) {
        return WIO_END;
    }
    WIO_TRY(wio_buf_u64(data, &entry_out->cookie));
    WIO_TRY(wio_wire_get_stat(data, &entry_out->stat));
    WIO_TRY(
        wio_wire_get_text(data, WIO_WIRE_ENTRY_NAME_MAX, &entry_out->name, &entry_out->name_size));
    return entry_out->cookie != 0 && is_name(entry_out->name, entry_out->name_size)
               ? WIO_OK
               : WIO_ERR_FORMAT;
}

/* ---- addresses: R-WIRE-16 ------------------------------------------------------------------ */

enum wio_status wio_wire_put_targets(struct wio_blob *out, const char *const *addresses,
                                     uint16_t count)
{
    if (count == 0 || count > WIO_STORE_PARTICIPANTS_MAX) {
        return WIO_ERR_USAGE;
    }
    for (uint16_t i = 0; i < count; i++) {
        size_t size = strlen(addresses[i]);
        if (size == 0 || size > WIO_WIRE_ADDRESS_MAX) {
            return WIO_ERR_USAGE;
        }
        WIO_TRY(wio_blob_put(out, addresses[i], size + 1));
    }
    return WIO_OK;
}

enum wio_status wio_wire_get_targets(const void *data, size_t size,
                                     const char *addresses_out[WIO_STORE_PARTICIPANTS_MAX],
                                     uint16_t *count_out)
{
    const char *at = data;
    uint16_t count = 0;
    while (size > 0) {
        const char *end = memchr(at, '\0', size);
        size_t bytes = end != NULL ? (size_t)(end - at) : 0;
        if (bytes == 0 || bytes > WIO_WIRE_ADDRESS_MAX || count == WIO_STORE_PARTICIPANTS_MAX) {
            return WIO_ERR_FORMAT;
        }
        addresses_out[count++] = at;
        at += bytes + 1;
        size -= bytes + 1;
    }
    *count_out = count;
    return count > 0 ? WIO_OK : WIO_ERR_FORMAT;
}
