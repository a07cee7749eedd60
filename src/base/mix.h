/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for hash tables: neighbouring keys land far apart. Not for keys that a stranger may
 * choose where a full table hurts. Pure. */
#ifndef WIO_BASE_MIX_H
#define WIO_BASE_MIX_H

#include <stddef.h>
#include <stdint.h>

/* Between the parts of a key of several numbers. */
#define WIO_MIX_STEP UINT64_C(0x9e3779b97f4a7c15)

/* Finaliser of splitmix64. */
static inline uint64_t wio_mix(uint64_t key)
{
    key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
    return key ^ key >> 31;
}

#define WIO_MIX_TEXT UINT64_C(0xcbf29ce484222325)

/* FNV-1a, from `seed` (WIO_MIX_TEXT). */
static inline uint64_t wio_mix_text(uint64_t seed, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        seed = (seed ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    return seed;
}

#endif
