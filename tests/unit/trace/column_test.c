/* SPDX-License-Identifier: Apache-2.0 */
/* One column: each encoding, its limits, and bytes that are none. */
#include "trace/format/column.h"

#include <stdlib.h>
#include <string.h>

#include "support/unit.h"
#include "trace/format/events.h"
#include "trace/format/format.h"

/* Encode, see that the encoding is the expected one, read back in slices of every size. */
static void round_trip(const int64_t *values, size_t count, uint8_t expected)
{
    struct wio_blob bytes = {0};
    uint8_t encoding = 0;
    int64_t *read = calloc(count, sizeof(*read));
    assert_int_equal(wio_column_encode(values, count, &bytes, &encoding), WIO_OK);
    assert_int_equal(encoding, expected);
    for (size_t slice = 1; slice <= count; slice += 1 + slice / 3) {
        struct wio_column_reader column;
        assert_int_equal(wio_column_open(&column, encoding, bytes.data, bytes.size), WIO_OK);
        for (size_t at = 0; at < count; at += slice) {
            size_t take = count - at < slice ? count - at : slice;
            assert_int_equal(wio_column_read(&column, read + at, take), WIO_OK);
        }
        assert_memory_equal(read, values, count * sizeof(*read));
        assert_true(wio_column_at_end(&column));
        if (encoding != WIO_ENCODING_CONST) {
            assert_int_not_equal(wio_column_read(&column, read, 1), WIO_OK);
        }
    }
    free(read);
    wio_blob_fini(&bytes);
}

static void equal_values_are_a_constant(void **state)
{
    (void)state;
    const int64_t values[] = {INT64_MIN, INT64_MIN, INT64_MIN};
    round_trip(values, 3, WIO_ENCODING_CONST);
}

static void long_runs_are_runs(void **state)
{
    (void)state;
    int64_t values[300];
    for (size_t i = 0; i < 300; i++) {
        values[i] = i < 100 ? -5 : 1234567;
    }
    round_trip(values, 300, WIO_ENCODING_RUNS);
}

static void rare_giants_are_varints(void **state)
{
    (void)state;
    int64_t values[400];
    for (size_t i = 0; i < 400; i++) {
        values[i] = i % 40 == 7 ? INT64_MAX : (int64_t)(i % 3);
    }
    round_trip(values, 400, WIO_ENCODING_VARINT);
}

/* 1 to 8 planes, both signs, the extremes. */
static void mixed_values_are_planes(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (unsigned bits = 2; bits <= 64; bits++) {
        int64_t values[500];
        for (size_t i = 0; i < 500; i++) {
            uint64_t raw = wio_test_random(&seed) >> (64 - bits);
            values[i] = wio_unzigzag(raw);
        }
        values[7] = wio_unzigzag(UINT64_MAX >> (64 - bits));
        round_trip(values, 500, WIO_ENCODING_PLANES);
    }
}

static enum wio_status open_bytes(uint8_t encoding, const char *bytes, size_t size)
{
    struct wio_column_reader column;
    return wio_column_open(&column, encoding, (const uint8_t *)bytes, size);
}

static void wrong_bytes_are_refused(void **state)
{
    (void)state;
    struct wio_column_reader column;
    int64_t values[8];
    assert_int_equal(open_bytes(WIO_ENCODING_CONST, "", 0), WIO_ERR_TRUNCATED);
    assert_int_equal(open_bytes(WIO_ENCODING_CONST, "\1\1", 2), WIO_ERR_FORMAT);
    assert_int_equal(open_bytes(WIO_ENCODING_PLANES, "", 0), WIO_ERR_TRUNCATED);
    assert_int_equal(open_bytes(WIO_ENCODING_PLANES, "\0ab", 3), WIO_ERR_FORMAT);
    assert_int_equal(open_bytes(WIO_ENCODING_PLANES, "\11abcdefghi", 10), WIO_ERR_FORMAT);
    assert_int_equal(open_bytes(WIO_ENCODING_PLANES, "\2abc", 4), WIO_ERR_FORMAT);
    assert_int_equal(open_bytes(9, "abc", 3), WIO_ERR_UNSUPPORTED);
    /* a run of no length would never end */
    assert_int_equal(wio_column_open(&column, WIO_ENCODING_RUNS, (const uint8_t *)"\0\1", 2),
                     WIO_OK);
    assert_int_equal(wio_column_read(&column, values, 1), WIO_ERR_FORMAT);
}

static void missing_column_is_zeros(void **state)
{
    (void)state;
    struct wio_column_reader column;
    int64_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const int64_t zeros[8] = {0};
    wio_column_zero(&column);
    assert_int_equal(wio_column_read(&column, values, 8), WIO_OK);
    assert_memory_equal(values, zeros, sizeof(values));
}

/* R-COL-6: a column that comes again and again would unpack to any size. */
static void column_comes_once(void **state)
{
    (void)state;
    static const uint8_t head[] = {0, 1, 0, 0, 0, 0}; /* stream 0, one event */
    static const uint8_t column[] = {WIO_COL_DURATION, WIO_ENCODING_CONST, 1, 4};
    static const uint8_t unknown[] = {200, WIO_ENCODING_CONST, 1, 4};
    struct wio_blob payload = {0};
    struct wio_blob unpacked = {0};
    struct wio_pack pack = {0};
    struct wio_events events;
    assert_int_equal(wio_blob_put(&payload, head, sizeof(head)), WIO_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(wio_blob_put(&payload, unknown, sizeof(unknown)), WIO_OK);
    }
    assert_int_equal(wio_blob_put(&payload, column, sizeof(column)), WIO_OK);
    assert_int_equal(wio_events_open(&events, UINT32_MAX, &payload, &pack, &unpacked), WIO_OK);
    assert_int_equal(wio_blob_put(&payload, column, sizeof(column)), WIO_OK);
    wio_blob_clear(&unpacked);
    assert_int_equal(wio_events_open(&events, UINT32_MAX, &payload, &pack, &unpacked),
                     WIO_ERR_FORMAT);
    wio_blob_fini(&payload);
    wio_blob_fini(&unpacked);
    wio_pack_fini(&pack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_values_are_a_constant), cmocka_unit_test(long_runs_are_runs),
        cmocka_unit_test(rare_giants_are_varints),     cmocka_unit_test(mixed_values_are_planes),
        cmocka_unit_test(wrong_bytes_are_refused),     cmocka_unit_test(missing_column_is_zeros),
        cmocka_unit_test(column_comes_once),
    };
    return WIO_RUN(tests);
}
