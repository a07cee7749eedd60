/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/cleanup.h"

void wio_strtab_fini(struct wio_strtab *table)
{
    free(table->bytes);
    free(table->offsets);
    wio_map_fini(&table->index);
    *table = (struct wio_strtab){0};
}

static uint64_t hash(const char *text, size_t bytes)
{
    return XXH3_64bits(bytes == 0 ? "" : text, bytes);
}

/* The id of the text, or 0 and the free key where it belongs. Texts whose hashes collide take the
 * keys that follow. */
static uint32_t probe(const struct wio_strtab *table, const char *text, size_t bytes,
                      uint64_t *key_out)
{
    for (uint64_t key = hash(text, bytes);; key++) {
        const uint64_t *id = wio_map_get(&table->index, key);
        if (id == NULL) {
            *key_out = key;
            return 0;
        }
        size_t have = 0;
        const char *other = wio_strtab_get(table, (uint32_t)*id, &have);
        if (have == bytes && memcmp(other, text, bytes) == 0) {
            return (uint32_t)*id;
        }
    }
}

/* Grow *array (of items of `item` bytes) so that `needed` items fit. */
static enum wio_status grow(void **array, size_t item, size_t *capacity, size_t needed)
{
    size_t fresh = *capacity < 64 ? 64 : *capacity;
    while (fresh < needed) {
        if (__builtin_mul_overflow(fresh, (size_t)2, &fresh)) {
            return WIO_ERR_NOMEM;
        }
    }
    if (fresh == *capacity) {
        return WIO_OK;
    }
    void *data = reallocarray(*array, fresh, item);
    if (data == NULL) {
        return WIO_ERR_NOMEM;
    }
    *array = data;
    *capacity = fresh;
    return WIO_OK;
}

static enum wio_status make_room(struct wio_strtab *table, size_t bytes)
{
    size_t needed = 0;
    if (table->count == UINT32_MAX - 1 || __builtin_add_overflow(table->size, bytes, &needed) ||
        __builtin_add_overflow(needed, (size_t)1, &needed)) {
        return WIO_ERR_NOMEM;
    }
    void *text = table->bytes;
    WIO_TRY(grow(&text, 1, &table->capacity, needed));
    table->bytes = text;
    void *offsets = table->offsets;
    WIO_TRY(grow(&offsets, sizeof(size_t), &table->offsets_capacity, (size_t)table->count + 2));
    table->offsets = offsets;
    return WIO_OK;
}

enum wio_status wio_strtab_add(struct wio_strtab *table, const char *text, size_t bytes,
                               uint32_t *id_out)
{
    uint64_t key = 0;
    *id_out = 0;
    if (bytes == 0) {
        return WIO_OK;
    }
    *id_out = probe(table, text, bytes, &key);
    if (*id_out != 0) {
        return WIO_OK;
    }
    WIO_TRY(make_room(table, bytes));
    uint32_t id = table->count + 1;
    WIO_TRY(wio_map_put(&table->index, key, id));
    table->offsets[0] = 0;
    table->offsets[id] = table->size;
    memcpy(table->bytes + table->size, text, bytes);
    table->bytes[table->size + bytes] = '\0';
    table->size += bytes + 1;
    table->count = id;
    *id_out = id;
    return WIO_OK;
}

const char *wio_strtab_get(const struct wio_strtab *table, uint32_t id, size_t *bytes_out)
{
    size_t ignored = 0;
    size_t *bytes = bytes_out != NULL ? bytes_out : &ignored;
    *bytes = 0;
    if (id == 0 || id > table->count) {
        return "";
    }
    size_t end = id == table->count ? table->size : table->offsets[id + 1];
    *bytes = end - table->offsets[id] - 1;
    return table->bytes + table->offsets[id];
}

uint32_t wio_strtab_find(const struct wio_strtab *table, const char *text, size_t bytes)
{
    uint64_t key = 0;
    return bytes == 0 ? 0 : probe(table, text, bytes, &key);
}
