/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/utf8.h"

static void agrees_with_printf(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 20000; i++) {
        uint64_t value = wio_test_random(&seed) >> (wio_test_random(&seed) % 64);
        char want[100];
        char got[100];
        snprintf(want, sizeof(want), "a%" PRIu64 " %" PRId64 " %" PRId64 " %04" PRIx64, value,
                 (int64_t)value, -(int64_t)(value >> 1), value);
        struct wio_fmt fmt = wio_fmt_of(got, sizeof(got));
        wio_fmt_str(&fmt, "a");
        wio_fmt_u64(&fmt, value);
        wio_fmt_str(&fmt, " ");
        wio_fmt_i64(&fmt, (int64_t)value);
        wio_fmt_str(&fmt, " ");
        wio_fmt_i64(&fmt, -(int64_t)(value >> 1));
        wio_fmt_str(&fmt, " ");
        wio_fmt_hex(&fmt, value, 4);
        assert_string_equal(got, want);
        assert_false(fmt.is_cut);
        assert_int_equal(fmt.used, strlen(want));
    }
}

static void extremes(void **state)
{
    (void)state;
    char text[64];
    struct wio_fmt fmt = wio_fmt_of(text, sizeof(text));
    wio_fmt_i64(&fmt, INT64_MIN);
    wio_fmt_str(&fmt, "/");
    wio_fmt_u64(&fmt, UINT64_MAX);
    assert_string_equal(text, "-9223372036854775808/18446744073709551615");
}

static void what_does_not_fit_is_cut(void **state)
{
    (void)state;
    char text[6];
    struct wio_fmt fmt = wio_fmt_of(text, sizeof(text));
    wio_fmt_str(&fmt, "abc");
    wio_fmt_u64(&fmt, 12345);
    wio_fmt_str(&fmt, "more");
    assert_string_equal(text, "abc12");
    assert_true(fmt.is_cut);
}

static void scans_decimal(void **state)
{
    (void)state;
    uint64_t value = 5;
    const char *text = "18446744073709551615 x";
    assert_true(wio_scan_u64(&text, &value));
    assert_true(value == UINT64_MAX);
    assert_string_equal(text, " x");
    assert_false(wio_scan_u64(&text, &value));
    text = "18446744073709551616";
    assert_false(wio_scan_u64(&text, &value));
    assert_string_equal(text, "18446744073709551616");
    text = "-1";
    assert_false(wio_scan_u64(&text, &value));
}

/* Encode every character and look at it whole, cut, and followed by another. */
static void utf8_of_every_character(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x110800; c += c < 0x800 ? 1 : 7) {
        char text[5] = {0};
        size_t length;
        if (c < 0x80) {
            text[0] = (char)c;
            length = 1;
        } else if (c < 0x800) {
            text[0] = (char)(0xc0 | c >> 6);
            text[1] = (char)(0x80 | (c & 0x3f));
            length = 2;
        } else if (c < 0x10000) {
            text[0] = (char)(0xe0 | c >> 12);
            text[1] = (char)(0x80 | (c >> 6 & 0x3f));
            text[2] = (char)(0x80 | (c & 0x3f));
            length = 3;
        } else {
            text[0] = (char)(0xf0 | c >> 18);
            text[1] = (char)(0x80 | (c >> 12 & 0x3f));
            text[2] = (char)(0x80 | (c >> 6 & 0x3f));
            text[3] = (char)(0x80 | (c & 0x3f));
            length = 4;
        }
        bool is_valid = (c < 0xd800 || c > 0xdfff) && c <= 0x10ffff;
        assert_int_equal(wio_utf8_length(text, 5), is_valid ? length : 0);
        assert_int_equal(wio_utf8_length(text, length - 1), 0);
    }
    assert_int_equal(wio_utf8_length("\xc0\x80", 2), 0);         /* overlong */
    assert_int_equal(wio_utf8_length("\xe0\x80\x80", 3), 0);     /* overlong */
    assert_int_equal(wio_utf8_length("\xf0\x80\x80\x80", 4), 0); /* overlong */
    assert_int_equal(wio_utf8_length("\xff", 1), 0);
    assert_int_equal(wio_utf8_length("\x80", 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_printf),       cmocka_unit_test(extremes),
        cmocka_unit_test(what_does_not_fit_is_cut), cmocka_unit_test(scans_decimal),
        cmocka_unit_test(utf8_of_every_character),
    };
    return WIO_RUN(tests);
}
