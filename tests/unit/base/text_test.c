/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"4K", 4096},
                {"4k", 4096},
                {"1M", 1048576},
                {"2G", 2147483648},
                {"1T", 1ull << 40},
                {"3P", 3ull << 50},
                {"15E", 15ull << 60},
                {"4KiB", 4096},
                {"4KB", 4096},
                {"512B", 512},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {
        "",     "K",   "-1",   "4 K", "4KK", "4X", "4Ki",
        "1.5M", "16E", "0x10", " 4",  "4K ", "+4", "18446744073709551616"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(good); i++) {
        uint64_t bytes = 0;
        assert_ok(wio_parse_size(good[i].text, &bytes), NULL);
        assert_true(bytes == good[i].bytes);
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(bad); i++) {
        uint64_t bytes = 77;
        assert_status(wio_parse_size(bad[i], &bytes), WIO_ERR_USAGE, NULL);
        assert_int_equal(bytes, 77);
    }
}

static void times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"10ns", 10},          {"5us", 5000},
                {"10ms", 10000000},    {"2s", 2000000000},
                {"1.5s", 1500000000},  {"2m", 120000000000},
                {"1h", 3600000000000}, {"3", 3000000000},
                {".5s", 500000000},    {"0", 0},
                {"0.1us", 100},        {"2min", 120000000000}};
    static const char *const bad[] = {
        "",   "s", "-1s", "1x", "1 s", "nan", "inf", "0x1s", "1e400s", "1ss", "99999999999999h",
        " 1s"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(good); i++) {
        uint64_t ns = 0;
        assert_ok(wio_parse_time(good[i].text, &ns), NULL);
        assert_true(ns == good[i].ns);
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(bad); i++) {
        uint64_t ns = 77;
        assert_status(wio_parse_time(bad[i], &ns), WIO_ERR_USAGE, NULL);
        assert_int_equal(ns, 77);
    }
}

static void plain_numbers(void **state)
{
    (void)state;
    uint64_t value = 77;
    double real = 77;
    assert_ok(wio_parse_u64("0", &value), NULL);
    assert_int_equal(value, 0);
    assert_status(wio_parse_u64("12x", &value), WIO_ERR_USAGE, NULL);
    assert_status(wio_parse_u64("", &value), WIO_ERR_USAGE, NULL);
    assert_ok(wio_parse_double("-1.25e2", &real), NULL);
    assert_true(real == -125);
    assert_status(wio_parse_double("1,5", &real), WIO_ERR_USAGE, NULL);
    assert_status(wio_parse_double("nan", &real), WIO_ERR_USAGE, NULL);
    assert_status(wio_parse_double("", &real), WIO_ERR_USAGE, NULL);
}

static void sizes_to_text(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1.00 KiB"},
                 {1536, "1.50 KiB"},
                 {10240, "10.0 KiB"},
                 {1048575, "1.00 MiB"},
                 {1572864, "1.50 MiB"},
                 {110100480, "105 MiB"},
                 {UINT64_MAX, "16.0 EiB"}};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(cases); i++) {
        char text[WIO_TEXT_MAX];
        assert_string_equal(wio_format_size(text, cases[i].bytes), cases[i].text);
    }
}

static void times_to_text(void **state)
{
    (void)state;
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {{0, "0 ns"},
                 {999, "999 ns"},
                 {1000, "1.00 us"},
                 {12345678, "12.3 ms"},
                 {999499, "999 us"},
                 {999500, "1.00 ms"},
                 {1500000000, "1.50 s"},
                 {99400000000, "99.4 s"},
                 {725000000000, "12 min 05 s"},
                 {3599400000000, "59 min 59 s"},
                 {3599600000000, "1 h 00 min"},
                 {UINT64_MAX, "5124095 h 34 min"}};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(cases); i++) {
        char text[WIO_TEXT_MAX];
        assert_string_equal(wio_format_time(text, cases[i].ns), cases[i].text);
    }
}

static void counts_and_rates_to_text(void **state)
{
    (void)state;
    char text[WIO_TEXT_MAX];
    assert_string_equal(wio_format_count(text, 0), "0");
    assert_string_equal(wio_format_count(text, 999), "999");
    assert_string_equal(wio_format_count(text, 1234567), "1,234,567");
    assert_string_equal(wio_format_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(wio_format_rate(text, 110100480), "105 MiB/s");
    assert_string_equal(wio_format_rate(text, 0), "0.00 B/s");
    assert_string_equal(wio_format_rate(text, INFINITY), "- B/s");
    assert_string_equal(wio_format_rate(text, NAN), "- B/s");
    assert_string_equal(wio_format_rate(text, 1e30), "867361737988 EiB/s");
}

/* A text that was formatted never needs more than WIO_TEXT_MAX. */
static void every_text_fits(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (int i = 0; i < 20000; i++) {
        uint64_t value = wio_test_random(&seed) >> (wio_test_random(&seed) % 64);
        char text[WIO_TEXT_MAX + 1];
        memset(text, '#', sizeof(text));
        assert_true(strlen(wio_format_size(text, value)) <= 9);
        assert_true(strlen(wio_format_time(text, value)) < WIO_TEXT_MAX);
        assert_true(strlen(wio_format_count(text, value)) < WIO_TEXT_MAX);
        assert_int_equal(text[WIO_TEXT_MAX], '#');
    }
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(wio_text_distance("", ""), 0);
    assert_int_equal(wio_text_distance("", "abc"), 3);
    assert_int_equal(wio_text_distance("abc", ""), 3);
    assert_int_equal(wio_text_distance("record", "record"), 0);
    assert_int_equal(wio_text_distance("reocrd", "record"), 1); /* neighbours swapped */
    assert_int_equal(wio_text_distance("recrd", "record"), 1);
    assert_int_equal(wio_text_distance("recoord", "record"), 1);
    assert_int_equal(wio_text_distance("rekord", "record"), 1);
    assert_int_equal(wio_text_distance("kitten", "sitting"), 3);
    assert_int_equal(wio_text_distance("info", "dump"), 4);
    char word[100];
    memset(word, 'a', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    assert_int_equal(wio_text_distance(word, word), 0);
    assert_int_equal(wio_text_distance(word, "a"), 99);
}

/* A metric is symmetric and never more than the longer word. */
static void distance_is_symmetric(void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (int i = 0; i < 5000; i++) {
        char a[10] = {0};
        char b[10] = {0};
        size_t a_bytes = wio_test_random(&seed) % 9;
        size_t b_bytes = wio_test_random(&seed) % 9;
        for (size_t k = 0; k < 9; k++) {
            a[k] = k < a_bytes ? (char)('a' + wio_test_random(&seed) % 3) : '\0';
            b[k] = k < b_bytes ? (char)('a' + wio_test_random(&seed) % 3) : '\0';
        }
        unsigned distance = wio_text_distance(a, b);
        assert_int_equal(distance, wio_text_distance(b, a));
        assert_true(distance <= (a_bytes > b_bytes ? a_bytes : b_bytes));
        assert_int_equal(distance == 0, strcmp(a, b) == 0);
    }
}

static void endings_of_names(void **state)
{
    (void)state;
    assert_true(wio_text_ends_with("a.seg", ".seg"));
    assert_false(wio_text_ends_with("a.seg.tmp", ".seg"));
    assert_false(wio_text_ends_with(".seg", ".seg"));
    assert_false(wio_text_ends_with("g", ".seg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endings_of_names),
        cmocka_unit_test(sizes),
        cmocka_unit_test(times),
        cmocka_unit_test(plain_numbers),
        cmocka_unit_test(sizes_to_text),
        cmocka_unit_test(times_to_text),
        cmocka_unit_test(counts_and_rates_to_text),
        cmocka_unit_test(every_text_fits),
        cmocka_unit_test(distances),
        cmocka_unit_test(distance_is_symmetric),
    };
    return WIO_RUN(tests);
}
