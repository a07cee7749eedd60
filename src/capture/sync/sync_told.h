/* SPDX-License-Identifier: Apache-2.0 */
/* Of which locks events have been written, lately: one pushes another one out. */
#ifndef WIO_CAPTURE_SYNC_SYNC_TOLD_H
#define WIO_CAPTURE_SYNC_SYNC_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/core/attributes.h"

#define CAP_TOLD_MAX 8192u
extern int64_t cap_told[CAP_TOLD_MAX] CAP_HIDDEN;

static inline int64_t *cap_told_place(int64_t id)
{
    return &cap_told[((uint32_t)((uint64_t)id >> 3) * 0x9e3779b1u) >> 19];
}

_Static_assert(CAP_TOLD_MAX == 1u << 13, "the hash has 13 bits");

static inline void cap_tell(int64_t id)
{
    __atomic_store_n(cap_told_place(id), id, __ATOMIC_RELAXED);
}

static inline bool cap_is_told(int64_t id)
{
    return __atomic_load_n(cap_told_place(id), __ATOMIC_RELAXED) == id;
}

#endif
