/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/core/table.h"

#include <stddef.h>

#include "base/cleanup.h"

static const struct wio_hash_shape shape = {sizeof(struct wio_table_entry), 3,
                                            offsetof(struct wio_table_entry, is_used)};

void wio_table_init(struct wio_table *table, const struct wio_alloc *alloc)
{
    *table = (struct wio_table){.alloc = *alloc};
}

void wio_table_fini(struct wio_table *table)
{
    table->alloc.put(table->alloc.context, table->hash.entries);
    *table = (struct wio_table){.alloc = table->alloc};
}

enum wio_status wio_table_find(struct wio_table *table, struct wio_table_key key,
                               uint32_t *number_out)
{
    void *place;
    size_t before = table->hash.count;
    if (before >= WIO_NO_INDEX - 1) {
        return WIO_ERR_UNSUPPORTED;
    }
    WIO_TRY(wio_hash_insert(&shape, &table->hash, &table->alloc, key.part, &place));
    struct wio_table_entry *entry = place;
    if (table->hash.count > before) {
        entry->number = (uint32_t)before;
    }
    *number_out = entry->number;
    return WIO_OK;
}

uint32_t wio_table_get(const struct wio_table *table, struct wio_table_key key)
{
    const struct wio_table_entry *entry = wio_hash_get(&shape, &table->hash, key.part);
    return entry != NULL ? entry->number : WIO_NO_INDEX;
}
