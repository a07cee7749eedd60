/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/names.h"

#include "base/cleanup.h"

#define FRESH (UINT64_C(1) << 62)

void wio_names_fini(struct wio_names *names)
{
    wio_map_fini(&names->files);
}

uint64_t wio_names_file(const struct wio_names *names, uint64_t path)
{
    const uint64_t *value = wio_map_get(&names->files, path);
    return value != NULL ? *value >> 1 : path;
}

bool wio_names_is_there(const struct wio_names *names, uint64_t path)
{
    const uint64_t *value = wio_map_get(&names->files, path);
    return value != NULL && (*value & 1) != 0;
}

static enum wio_status put(struct wio_names *names, uint64_t path, uint64_t file, bool is_there)
{
    return wio_map_put(&names->files, path, file << 1 | is_there);
}

enum wio_status wio_names_use(struct wio_names *names, uint64_t path)
{
    return wio_names_is_there(names, path) ? WIO_OK
                                           : put(names, path, wio_names_file(names, path), true);
}

enum wio_status wio_names_remove(struct wio_names *names, uint64_t path)
{
    return put(names, path, FRESH + names->next++, false);
}

enum wio_status wio_names_rename(struct wio_names *names, uint64_t from, uint64_t to)
{
    if (from == to) {
        return WIO_OK;
    }
    WIO_TRY(put(names, to, wio_names_file(names, from), true));
    return wio_names_remove(names, from);
}
