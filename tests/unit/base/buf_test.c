/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "base/buf.h"

static void numbers_are_little_endian(void **state)
{
    (void)state;
    const uint8_t bytes[] = {1, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 8, 7, 6, 5, 4, 3, 2, 1};
    struct wio_buf buf = wio_buf_of(bytes, sizeof(bytes));
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    assert_ok(wio_buf_u8(&buf, &u8), NULL);
    assert_ok(wio_buf_u16(&buf, &u16), NULL);
    assert_ok(wio_buf_u32(&buf, &u32), NULL);
    assert_ok(wio_buf_u64(&buf, &u64), NULL);
    assert_int_equal(u8, 1);
    assert_int_equal(u16, 0x1234);
    assert_int_equal(u32, 0x12345678);
    assert_int_equal(u64, 0x0102030405060708);
    assert_int_equal(wio_buf_left(&buf), 0);
    assert_status(wio_buf_u8(&buf, &u8), WIO_ERR_TRUNCATED, NULL);
}

static void a_short_read_does_not_move(void **state)
{
    (void)state;
    const uint8_t bytes[7] = {0};
    struct wio_buf buf = wio_buf_of(bytes, sizeof(bytes));
    const uint8_t *out;
    uint64_t u64;
    struct wio_buf sub;
    assert_status(wio_buf_u64(&buf, &u64), WIO_ERR_TRUNCATED, NULL);
    assert_status(wio_buf_bytes(&buf, 8, &out), WIO_ERR_TRUNCATED, NULL);
    assert_status(wio_buf_bytes(&buf, SIZE_MAX, &out), WIO_ERR_TRUNCATED, NULL);
    assert_status(wio_buf_sub(&buf, 8, &sub), WIO_ERR_TRUNCATED, NULL);
    assert_int_equal(buf.pos, 0);
    assert_ok(wio_buf_sub(&buf, 7, &sub), NULL);
    assert_int_equal(wio_buf_left(&sub), 7);
    assert_int_equal(wio_buf_left(&buf), 0);
}

/* Round trip, and every proper prefix is "cut short" and leaves the cursor alone. */
static void check_varint(uint64_t value)
{
    struct wio_blob blob = {0};
    assert_ok(wio_blob_varint(&blob, value), NULL);
    for (size_t size = 0; size < blob.size; size++) {
        struct wio_buf cut = wio_buf_of(blob.data, size);
        uint64_t out = 77;
        assert_status(wio_buf_varint(&cut, &out), WIO_ERR_TRUNCATED, NULL);
        assert_int_equal(cut.pos, 0);
        assert_int_equal(out, 77);
    }
    struct wio_buf buf = wio_buf_of(blob.data, blob.size);
    uint64_t out = 0;
    assert_ok(wio_buf_varint(&buf, &out), NULL);
    assert_true(out == value);
    assert_int_equal(wio_buf_left(&buf), 0);
    wio_blob_fini(&blob);
}

static void check_svarint(int64_t value)
{
    struct wio_blob blob = {0};
    int64_t out = 0;
    assert_ok(wio_blob_svarint(&blob, value), NULL);
    struct wio_buf buf = wio_buf_of(blob.data, blob.size);
    assert_ok(wio_buf_svarint(&buf, &out), NULL);
    assert_true(out == value);
    wio_blob_fini(&blob);
}

static void varints_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned shift = 0; shift < 64; shift++) {
        uint64_t edge = (uint64_t)1 << shift;
        check_varint(edge - 1);
        check_varint(edge);
        check_varint(edge + 1);
        check_svarint((int64_t)edge);
        check_svarint(-(int64_t)(edge - 1));
    }
    check_varint(UINT64_MAX);
    check_svarint(INT64_MIN);
    check_svarint(INT64_MAX);
    for (int i = 0; i < 10000; i++) {
        uint64_t value = wio_test_random(&seed) >> (wio_test_random(&seed) % 64);
        check_varint(value);
        check_svarint((int64_t)value);
    }
}

static void small_distances_are_small(void **state)
{
    (void)state;
    struct wio_blob blob = {0};
    for (int64_t value = -64; value < 64; value++) {
        wio_blob_clear(&blob);
        assert_ok(wio_blob_svarint(&blob, value), NULL);
        assert_int_equal(blob.size, 1);
    }
    wio_blob_fini(&blob);
}

static void too_long_varints_are_refused(void **state)
{
    (void)state;
    uint8_t bytes[11];
    uint64_t out = 0;
    memset(bytes, 0xff, sizeof(bytes));
    bytes[9] = 1;
    struct wio_buf largest = wio_buf_of(bytes, 10);
    assert_ok(wio_buf_varint(&largest, &out), NULL);
    assert_true(out == UINT64_MAX);
    bytes[9] = 2;
    struct wio_buf overflow = wio_buf_of(bytes, 10);
    assert_status(wio_buf_varint(&overflow, &out), WIO_ERR_FORMAT, NULL);
    assert_int_equal(overflow.pos, 0);
    memset(bytes, 0x80, sizeof(bytes));
    bytes[10] = 0;
    struct wio_buf eleven = wio_buf_of(bytes, 11);
    assert_status(wio_buf_varint(&eleven, &out), WIO_ERR_FORMAT, NULL);
}

static void texts_borrow(void **state)
{
    (void)state;
    struct wio_blob blob = {0};
    const char *text = NULL;
    size_t bytes = 0;
    assert_ok(wio_blob_text(&blob, "hello", 5), NULL);
    assert_ok(wio_blob_text(&blob, "", 0), NULL);
    struct wio_buf buf = wio_buf_of(blob.data, blob.size);
    assert_ok(wio_buf_text(&buf, &text, &bytes), NULL);
    assert_int_equal(bytes, 5);
    assert_memory_equal(text, "hello", 5);
    assert_ok(wio_buf_text(&buf, &text, &bytes), NULL);
    assert_int_equal(bytes, 0);
    struct wio_buf cut = wio_buf_of(blob.data, 4);
    assert_status(wio_buf_text(&cut, &text, &bytes), WIO_ERR_TRUNCATED, NULL);
    assert_int_equal(cut.pos, 0);
    wio_blob_fini(&blob);
}

static void a_text_longer_than_memory_is_cut_short(void **state)
{
    (void)state;
    struct wio_blob blob = {0};
    const char *text = NULL;
    size_t bytes = 0;
    assert_ok(wio_blob_varint(&blob, UINT64_MAX), NULL);
    struct wio_buf buf = wio_buf_of(blob.data, blob.size);
    assert_status(wio_buf_text(&buf, &text, &bytes), WIO_ERR_TRUNCATED, NULL);
    wio_blob_fini(&blob);
}

static void blobs_grow(void **state)
{
    (void)state;
    struct wio_blob blob = {0};
    for (uint32_t i = 0; i < 10000; i++) {
        assert_ok(wio_blob_u32(&blob, i), NULL);
    }
    assert_int_equal(blob.size, 40000);
    struct wio_buf buf = wio_buf_of(blob.data, blob.size);
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t out = 0;
        assert_ok(wio_buf_u32(&buf, &out), NULL);
        assert_int_equal(out, i);
    }
    assert_status(wio_blob_reserve(&blob, SIZE_MAX), WIO_ERR_NOMEM, NULL);
    assert_int_equal(blob.size, 40000);
    assert_ok(wio_blob_put(&blob, NULL, 0), NULL);
    wio_blob_fini(&blob);
    assert_null(blob.data);
    wio_blob_fini(&blob);
}

static void every_width_is_written(void **state)
{
    (void)state;
    struct wio_blob blob = {0};
    assert_ok(wio_blob_u8(&blob, 1), NULL);
    assert_ok(wio_blob_u16(&blob, 0x0203), NULL);
    assert_ok(wio_blob_u64(&blob, 0x0405060708090a0b), NULL);
    const uint8_t want[] = {1, 3, 2, 0xb, 0xa, 9, 8, 7, 6, 5, 4};
    assert_int_equal(blob.size, sizeof(want));
    assert_memory_equal(blob.data, want, sizeof(want));
    wio_blob_fini(&blob);
}

static void bounded_parts_are_copied(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1,    2,    3,    0xff, 0xff, 0xff, 0xff,
                                    0x0f, 0x80, 0x80, 0x80, 0x80, 0x10};
    struct wio_buf buf = wio_buf_of(bytes, sizeof(bytes));
    uint8_t three[3] = {0};
    uint8_t many[sizeof(bytes)] = {9};
    uint32_t number = 0;
    assert_int_equal(wio_buf_copy(&buf, three, sizeof(three)), WIO_OK);
    assert_memory_equal(three, bytes, sizeof(three));
    assert_int_equal(wio_buf_copy(&buf, many, sizeof(many)), WIO_ERR_TRUNCATED);
    assert_int_equal(many[0], 9);
    assert_int_equal(wio_buf_varint32(&buf, &number), WIO_OK);
    assert_int_equal(number, UINT32_MAX);
    assert_int_equal(wio_buf_varint32(&buf, &number), WIO_ERR_FORMAT); /* 2^32 */
    assert_int_equal(wio_buf_varint32(&buf, &number), WIO_ERR_TRUNCATED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(a_short_read_does_not_move),
        cmocka_unit_test(varints_round_trip),
        cmocka_unit_test(small_distances_are_small),
        cmocka_unit_test(too_long_varints_are_refused),
        cmocka_unit_test(texts_borrow),
        cmocka_unit_test(a_text_longer_than_memory_is_cut_short),
        cmocka_unit_test(blobs_grow),
        cmocka_unit_test(every_width_is_written),
        cmocka_unit_test(bounded_parts_are_copied),
    };
    return WIO_RUN(tests);
}
