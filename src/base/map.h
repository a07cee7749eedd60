/* SPDX-License-Identifier: Apache-2.0 */
/* Containers: an open-addressing map from 64-bit key to 64-bit value, and a string interner. */
#ifndef WIO_BASE_MAP_H
#define WIO_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/hash.h"

/* Zero-initialise. Keys are any 64-bit value. Memory is the C library's heap. Not thread safe. */
struct wio_map {
    struct wio_hash hash; /* hash.count: entries */
};

struct wio_map_entry {
    uint64_t key;
    uint64_t value;
    bool is_used;
};

void wio_map_fini(struct wio_map *map);
/* The value's place, valid until the next put or remove; NULL if absent. */
uint64_t *wio_map_get(const struct wio_map *map, uint64_t key);
/* Insert or overwrite. */
WIO_MUST_CHECK enum wio_status wio_map_put(struct wio_map *map, uint64_t key, uint64_t value);
bool wio_map_remove(struct wio_map *map, uint64_t key);
/* Iterate: start with *i = 0, ends with NULL. An entry may be removed before the next one is asked
 * for; another one may be left out then. */
struct wio_map_entry *wio_map_each(const struct wio_map *map, size_t *i);

/* Strings to dense ids 1, 2, 3 .. in order of appearance; id 0 is "". Zero-initialise. What is
 * added is copied, and must not lie in the table itself, which may move. */
struct wio_strtab {
    char *bytes; /* all texts, each ended by NUL */
    size_t size;
    size_t capacity;
    size_t *offsets; /* offsets[id] into bytes, count + 1 of them with id 0 */
    size_t offsets_capacity;
    uint32_t count;
    struct wio_map index; /* hash of the text -> id, chained by probing on equal hashes */
};

void wio_strtab_fini(struct wio_strtab *table);
WIO_MUST_CHECK enum wio_status wio_strtab_add(struct wio_strtab *table, const char *text,
                                              size_t bytes, uint32_t *id_out);
/* "" for unknown ids. Valid until the next add. */
const char *wio_strtab_get(const struct wio_strtab *table, uint32_t id, size_t *bytes_out);
/* 0 where it is not there. */
uint32_t wio_strtab_find(const struct wio_strtab *table, const char *text, size_t bytes);

#endif
