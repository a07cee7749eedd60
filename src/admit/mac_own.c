/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/mac.h"

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t load(const uint8_t *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

static void mix(uint64_t v[4], unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[0] = rotate(v[0], 32);
        v[2] += v[3];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, 2);
    v[0] ^= word;
}

uint64_t wio_mac64(const uint8_t key[16], const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint64_t k0 = load(key, 8);
    uint64_t k1 = load(key + 8, 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                     k1 ^ 0x7465646279746573};
    size_t whole = size / 8 * 8;
    for (size_t i = 0; i < whole; i += 8) {
        absorb(v, load(bytes + i, 8));
    }
    absorb(v, load(bytes + whole, size - whole) | (uint64_t)(size & 0xff) << 56);
    v[2] ^= 0xff;
    mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
