/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crc.h"

#include <string.h>

#include "base/cpu.h"
#include "base/crc_table.h" /* made by scripts/gen_crc.py: crc_table[8][256] */

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

__attribute__((target("sse4.2"))) static uint32_t update_by_cpu(uint32_t crc, const uint8_t *data,
                                                                size_t size)
{
    uint64_t wide = crc;
    for (; size >= 8; data += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, data, sizeof(word));
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
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
