/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the checksums of a file of blocks right, or no changed byte would get past them. */
#ifndef WIO_TESTS_FUZZ_REPAIR_H
#define WIO_TESTS_FUZZ_REPAIR_H

#include <stdint.h>
#include <string.h>

#include "base/crc.h"
#include "trace/format/format.h"

static void fuzz_put_u32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint32_t fuzz_get_u32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Heads and payloads from the front; lengths that lead out of the file are cut. */
static void fuzz_repair_blocks(uint8_t *bytes, size_t end)
{
    size_t at = WIO_SEGMENT_HEADER_BYTES;
    while (end - at >= WIO_BLOCK_HEAD_BYTES) {
        size_t left = end - at - WIO_BLOCK_HEAD_BYTES;
        uint32_t stored = fuzz_get_u32(bytes + at + 8);
        stored = stored <= left ? stored : (uint32_t)left;
        fuzz_put_u32(bytes + at, WIO_BLOCK_MAGIC);
        fuzz_put_u32(bytes + at + 8, stored);
        fuzz_put_u32(bytes + at + 16, wio_crc32c(0, bytes + at + WIO_BLOCK_HEAD_BYTES, stored));
        fuzz_put_u32(bytes + at + 20, wio_crc32c(0, bytes + at, 20));
        at += WIO_BLOCK_HEAD_BYTES + stored;
    }
}

/* `magic`: 8 bytes. */
static void fuzz_repair(uint8_t *bytes, size_t size, const char *magic)
{
    size_t end = size - WIO_SEGMENT_TRAILER_BYTES;
    memcpy(bytes, magic, 8);
    fuzz_put_u32(bytes + 8, WIO_SEGMENT_VERSION);
    fuzz_put_u32(bytes + WIO_SEGMENT_HEADER_BYTES - 4,
                 wio_crc32c(0, bytes, WIO_SEGMENT_HEADER_BYTES - 4));
    fuzz_repair_blocks(bytes, end);
    fuzz_put_u32(bytes + end + 8, (uint32_t)size);
    fuzz_put_u32(bytes + end + 12, 0);
    fuzz_put_u32(bytes + end + 16, wio_crc32c(0, bytes + end, 16));
    fuzz_put_u32(bytes + end + 20, WIO_SEGMENT_TRAILER_MAGIC);
}

#endif
