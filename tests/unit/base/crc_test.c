/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "base/crc.h"

/* RFC 3720, B.4, and the customary check value. */
static void known_values(void **state)
{
    (void)state;
    uint8_t bytes[32] = {0};
    assert_int_equal(wio_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(wio_crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, 32);
    assert_int_equal(wio_crc32c(0, bytes, 32), 0x62a8ab43);
    for (uint8_t i = 0; i < 32; i++) {
        bytes[i] = i;
    }
    assert_int_equal(wio_crc32c(0, bytes, 32), 0x46dd794e);
    assert_int_equal(wio_crc32c(0, NULL, 0), 0);
}

/* Any length at any alignment, by the instruction and by the tables, in one piece and in two. */
static void both_ways_agree(void **state)
{
    (void)state;
    uint8_t bytes[300];
    uint64_t seed = 7;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)wio_test_random(&seed);
    }
    for (size_t start = 0; start < 9; start++) {
        for (size_t size = 0; size < 280; size++) {
            uint32_t whole = wio_crc32c(0, bytes + start, size);
            assert_int_equal(whole, wio_crc32c_portable(0, bytes + start, size));
            size_t half = size / 3;
            uint32_t first = wio_crc32c(0, bytes + start, half);
            assert_int_equal(whole, wio_crc32c(first, bytes + start + half, size - half));
        }
    }
}

/* Longer ones, which are taken in several runs side by side. */
static void long_ones_agree(void **state)
{
    static uint8_t bytes[5000];
    uint64_t seed = 9;
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)wio_test_random(&seed);
    }
    for (size_t size = 700; size < sizeof(bytes) - 8; size += 61) {
        size_t start = size % 8;
        uint32_t whole = wio_crc32c(5, bytes + start, size);
        assert_int_equal(whole, wio_crc32c_portable(5, bytes + start, size));
        uint32_t first = wio_crc32c(5, bytes + start, size / 3);
        assert_int_equal(whole, wio_crc32c(first, bytes + start + size / 3, size - size / 3));
    }
}

static void every_changed_bit_is_seen(void **state)
{
    (void)state;
    uint8_t bytes[64] = "a block of a segment";
    uint32_t good = wio_crc32c(0, bytes, sizeof(bytes));
    for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(wio_crc32c(0, bytes, sizeof(bytes)), good);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(long_ones_agree),
        cmocka_unit_test(every_changed_bit_is_seen),
    };
    return WIO_RUN(tests);
}
