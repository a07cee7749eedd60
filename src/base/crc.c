/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crc.h"

#include <string.h>

#include "base/cpu.h"
#include "base/crc_table.h" /* made by scripts/gen_crc.py */

/*
 * Eight tables, eight bytes per step ("slicing by 8"): crc_table[k][b] is the CRC of byte b
 * followed by k zero bytes.
 */
static uint32_t update_by_table(uint32_t crc, const uint8_t *data, size_t size)
{
    for (; size >= 8; data += 8, size -= 8) {
        uint32_t low = crc ^ ((uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                              (uint32_t)data[3] << 24);
        crc = crc_table[7][low & 0xff] ^ crc_table[6][low >> 8 & 0xff] ^
              crc_table[5][low >> 16 & 0xff] ^ crc_table[4][low >> 24] ^ crc_table[3][data[4]] ^
              crc_table[2][data[5]] ^ crc_table[1][data[6]] ^ crc_table[0][data[7]];
    }
    for (; size > 0; data++, size--) {
        crc = crc >> 8 ^ crc_table[0][(crc ^ *data) & 0xff];
    }
    return crc;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

static inline uint64_t word_at(const uint8_t *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof(word));
    return word;
}

/* The register behind CRC_LANE zero bytes. */
static inline uint32_t past_lane(uint64_t crc)
{
    return crc_past_lane[0][crc & 0xff] ^ crc_past_lane[1][crc >> 8 & 0xff] ^
           crc_past_lane[2][crc >> 16 & 0xff] ^ crc_past_lane[3][crc >> 24 & 0xff];
}

/* The instruction takes three cycles and can begin in each: three lanes, one behind the other in
 * the data, side by side. The register is linear: what a lane makes of 0 is added to what the ones
 * before it would be behind as many zeros. */
__attribute__((target("sse4.2"))) static uint32_t update_lanes(uint32_t crc, const uint8_t *data)
{
    uint64_t a = crc;
    uint64_t b = 0;
    uint64_t c = 0;
    for (size_t at = 0; at < CRC_LANE; at += 8) {
        a = _mm_crc32_u64(a, word_at(data + at));
        b = _mm_crc32_u64(b, word_at(data + CRC_LANE + at));
        c = _mm_crc32_u64(c, word_at(data + (size_t)2 * CRC_LANE + at));
    }
    b ^= past_lane(a);
    return past_lane(b) ^ (uint32_t)c;
}

__attribute__((target("sse4.2"))) static uint32_t update_by_cpu(uint32_t crc, const uint8_t *data,
                                                                size_t size)
{
    const size_t lanes = (size_t)3 * CRC_LANE;
    for (; size >= lanes; data += lanes, size -= lanes) {
        crc = update_lanes(crc, data);
    }
    uint64_t wide = crc;
    for (; size >= 8; data += 8, size -= 8) {
        wide = _mm_crc32_u64(wide, word_at(data));
    }
    crc = (uint32_t)wide;
    if (size >= 4) {
        uint32_t half;
        memcpy(&half, data, sizeof(half));
        crc = _mm_crc32_u32(crc, half);
        data += sizeof(half);
        size -= sizeof(half);
    }
    for (; size > 0; data++, size--) {
        crc = _mm_crc32_u8(crc, *data);
    }
    return crc;
}

static uint32_t update(uint32_t crc, const uint8_t *data, size_t size)
{
    if (wio_cpu_has_crc32()) {
        return update_by_cpu(crc, data, size);
    }
    return update_by_table(crc, data, size);
}

#else

static uint32_t update(uint32_t crc, const uint8_t *data, size_t size)
{
    return update_by_table(crc, data, size);
}

#endif

uint32_t wio_crc32c(uint32_t crc, const void *data, size_t size)
{
    return ~update(~crc, data, size);
}

uint32_t wio_crc32c_portable(uint32_t crc, const void *data, size_t size)
{
    return ~update_by_table(~crc, data, size);
}
