/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WIO_CAPTURE_CORE_HASH_H
#define WIO_CAPTURE_CORE_HASH_H

#include <stdint.h>

/* Mix a number into an id; never 0. The same in all processes. Pure. */
static inline uint64_t cap_mix(uint64_t id, uint64_t number)
{
    uint64_t x = id ^ (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x != 0 ? x : 1;
}

/* One more number into a hash of several: cheaper, and may be 0. Pure. */
static inline uint64_t cap_hash_step(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

#endif
