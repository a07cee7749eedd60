/* SPDX-License-Identifier: Apache-2.0 */
/* From a key of three numbers to 0, 1, 2 .. in order of appearance; pure. */
#ifndef WIO_CAUSAL_CORE_TABLE_H
#define WIO_CAUSAL_CORE_TABLE_H

#include "base/hash.h"

struct wio_table_key {
    uint64_t part[3];
};

struct wio_table_entry {
    struct wio_table_key key;
    uint32_t number;
    bool is_used;
};

struct wio_table {
    struct wio_alloc alloc;
    struct wio_hash hash;
};

void wio_table_init(struct wio_table *table, const struct wio_alloc *alloc);
void wio_table_fini(struct wio_table *table);
/* The number of `key`; it is added where it is new. */
WIO_MUST_CHECK enum wio_status wio_table_find(struct wio_table *table, struct wio_table_key key,
                                              uint32_t *number_out);
/* The number of `key`, WIO_NO_INDEX where it is not there. */
uint32_t wio_table_get(const struct wio_table *table, struct wio_table_key key);

#endif
