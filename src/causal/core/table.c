/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/core/table.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/mix.h"

#define SLOTS_FIRST 32

void wio_table_init(struct wio_table *table, const struct wio_alloc *alloc)
{
    *table = (struct wio_table){.alloc = *alloc};
}

void wio_table_fini(struct wio_table *table)
{
    table->alloc.put(table->alloc.context, table->keys);
    table->alloc.put(table->alloc.context, table->slots);
    *table = (struct wio_table){.alloc = table->alloc};
}

/* Keys are small numbers that differ in their low bits. */
static uint64_t hash(struct wio_table_key key)
{
    uint64_t h = 0;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(key.part); i++) {
        h = wio_mix(h + key.part[i] + WIO_MIX_STEP);
    }
    return h;
}

/* Where `key` is or would be; slot_count is a power of 2 and never full. */
static size_t place(const struct wio_table *table, struct wio_table_key key)
{
    size_t i = hash(key) & (table->slot_count - 1);
    while (table->slots[i] != 0 &&
           memcmp(&table->keys[table->slots[i] - 1], &key, sizeof(key)) != 0) {
        i = (i + 1) & (table->slot_count - 1);
    }
    return i;
}

static enum wio_status grow(struct wio_table *table)
{
    size_t count = table->slot_count > 0 ? table->slot_count * 2 : SLOTS_FIRST;
    uint32_t *slots = wio_alloc_array(&table->alloc, count, sizeof(*slots));
    if (slots == NULL) {
        return WIO_ERR_NOMEM;
    }
    table->alloc.put(table->alloc.context, table->slots);
    table->slots = slots;
    table->slot_count = count;
    for (uint32_t k = 0; k < table->count; k++) {
        slots[place(table, table->keys[k])] = k + 1;
    }
    return WIO_OK;
}

enum wio_status wio_table_find(struct wio_table *table, struct wio_table_key key,
                               uint32_t *number_out)
{
    if (((size_t)table->count + 1) * 2 > table->slot_count) {
        WIO_TRY(grow(table));
    }
    size_t i = place(table, key);
    if (table->slots[i] == 0) {
        if (table->count >= WIO_NO_INDEX - 1) {
            return WIO_ERR_UNSUPPORTED;
        }
        WIO_TRY(wio_alloc_room(&table->alloc, (void **)&table->keys, &table->key_room,
                               (size_t)table->count + 1, sizeof(*table->keys)));
        table->keys[table->count] = key;
        table->slots[i] = ++table->count;
    }
    *number_out = table->slots[i] - 1;
    return WIO_OK;
}

uint32_t wio_table_get(const struct wio_table *table, struct wio_table_key key)
{
    if (table->count == 0) {
        return WIO_NO_INDEX;
    }
    uint32_t slot = table->slots[place(table, key)];
    return slot == 0 ? WIO_NO_INDEX : slot - 1;
}
