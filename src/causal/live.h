/* SPDX-License-Identifier: Apache-2.0 */
/* From a key of two numbers to a value, for what comes and goes: entries can be removed, so that
 * memory follows what is under way, not what ever was. Pure, unlike base/map.h. */
#ifndef WIO_CAUSAL_LIVE_H
#define WIO_CAUSAL_LIVE_H

#include <stdbool.h>

#include "causal/memory.h"

struct wio_live_entry {
    uint64_t key[2];
    uint32_t value;
    bool is_used;
};

struct wio_live {
    struct wio_alloc alloc;
    struct wio_live_entry *entries;
    size_t room; /* a power of two */
    size_t count;
};

void wio_live_init(struct wio_live *live, const struct wio_alloc *alloc);
void wio_live_fini(struct wio_live *live);
/* WIO_CAUSAL_NONE where it is not there. */
uint32_t wio_live_get(const struct wio_live *live, uint64_t a, uint64_t b);
/* Add or overwrite. */
WIO_MUST_CHECK enum wio_status wio_live_put(struct wio_live *live, uint64_t a, uint64_t b,
                                            uint32_t value);
/* Nothing happens where it is not there. */
void wio_live_remove(struct wio_live *live, uint64_t a, uint64_t b);

#endif
