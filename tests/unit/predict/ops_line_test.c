/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/ops/ops_line.h"

static char line[4096];

static enum wio_status parse(const char *text, struct wio_ops_line *out, struct wio_error *err)
{
    *err = (struct wio_error)WIO_ERROR_INIT;
    (void)snprintf(line, sizeof(line), "%s", text);
    return wio_ops_line_parse(line, strlen(line), out, err);
}

static struct wio_ops_line good(const char *text)
{
    struct wio_ops_line out;
    struct wio_error err;
    assert_ok(parse(text, &out, &err), &err);
    return out;
}

static void bad(const char *text, uint64_t offset, const char *expected)
{
    struct wio_ops_line out;
    struct wio_error err;
    assert_status(parse(text, &out, &err), WIO_ERR_FORMAT, &err);
    if (strstr(err.message, expected) == NULL) {
        fail_msg("'%s' gave '%s', not '%s'", text, err.message, expected);
    }
    assert_int_equal(err.offset, offset);
}

static void reads_every_key(void **state)
{
    (void)state;
    struct wio_ops_line got = good("{\"file\": \"a/b\", \"offset\": 4096, \"size\":12, "
                                   "\"delay_s\": 0.1, \"method\": \"fwrite\", \"random\": true}");
    assert_int_equal(got.file_bytes, 3);
    assert_memory_equal(got.file, "a/b", 3);
    assert_int_equal(got.op.offset, 4096);
    assert_int_equal(got.op.size, 12);
    assert_true(got.op.delay_s == 0.1);
    assert_int_equal(got.op.method, WIO_MODEL_FWRITE);
    assert_int_equal(got.op.random, WIO_MODEL_RANDOM_YES);
}

static void tells_a_key_that_is_likely_misspelt(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"delay", "delay_s"},    {"delay_ms", "delay_s"},
                                           {"Method", "method"},    {"m_ethod", "method"},
                                           {"Random", "random"},    {"randomly", "random"},
                                           {"description", NULL},   {"rank", NULL},
                                           {"mode", NULL},          {"", NULL},
                                           {"offsets_in_mib", NULL}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "{\"file\":1,\"offset\":2,\"size\":3,\"%s\":[4]}",
                       pairs[i][0]);
        struct wio_ops_line got = good(text);
        assert_int_equal(got.misspelt == NULL, pairs[i][1] == NULL);
        if (pairs[i][1] != NULL) {
            assert_string_equal(got.meant, pairs[i][1]);
            assert_int_equal(got.misspelt_bytes, strlen(pairs[i][0]));
        }
    }
}

static void missing_and_null_keys_have_their_defaults(void **state)
{
    (void)state;
    struct wio_ops_line got = good("{\"size\":1,\"offset\":2,\"file\":\"\",\"random\":null,"
                                   "\"method\":null,\"delay_s\":null}");
    assert_int_equal(got.file_bytes, 0);
    assert_true(got.op.delay_s == 0);
    assert_int_equal(got.op.method, WIO_MODEL_WRITE);
    assert_int_equal(got.op.random, WIO_MODEL_RANDOM_UNKNOWN);
    got = good("{\"file\": 7, \"method\": \"fsync\"}");
    assert_int_equal(got.op.method, WIO_MODEL_FSYNC);
    assert_memory_equal(got.file, "7", 1);
    got = good("{\"file\": 7, \"method\": \"fdatasync\"}");
    assert_int_equal(got.op.method, WIO_MODEL_FDATASYNC);
    got = good("{\"file\": 7, \"method\": \"truncate\", \"offset\": 9}");
    assert_int_equal(got.op.method, WIO_MODEL_TRUNCATE);
    assert_int_equal(got.op.offset, 9);
    got = good("{\"file\": 7, \"method\": \"forget\", \"offset\": 9, \"size\": 1}");
    assert_int_equal(got.op.method, WIO_MODEL_FORGET);
    got = good("{\"file\": 7, \"method\": \"syncfs\"}");
    assert_int_equal(got.op.method, WIO_MODEL_SYNCFS);
    got = good("{\"file\": 7, \"method\": \"write_out\"}");
    assert_int_equal(got.op.method, WIO_MODEL_WRITE_OUT);
    got = good("{\"file\": 7, \"method\": \"read_direct\", \"offset\": 9, \"size\": 1}");
    assert_int_equal(got.op.method, WIO_MODEL_READ_DIRECT);
}

static void other_keys_are_skipped(void **state)
{
    (void)state;
    struct wio_ops_line got =
        good("  {\"x\": [1, {\"y\": [] , \"z\": {}}, \"\\u00e9\\\"\", -1.5e-3, null, true], "
             "\"file\":\"f\",\"offset\":0,\"size\":1, \"size_\": false }\r");
    assert_int_equal(got.op.size, 1);
}

static void escapes_are_unpacked(void **state)
{
    (void)state;
    struct wio_ops_line got =
        good("{\"file\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\ud83dx\","
             "\"offset\":0,\"size\":1}");
    static const char want[] = "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0\xbdx";
    assert_int_equal(got.file_bytes, sizeof(want) - 1);
    assert_memory_equal(got.file, want, sizeof(want) - 1);
}

/* What strtod says, for short decimals and long ones. */
static void numbers_are_exact(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "0.1",
        "0.30000000000000004",
        "123456789.125",
        "1e-7",
        "1E5",
        "2.5e+3",
        "1e9",
        "0.000000050",
        "9007199254740993e-20",
        "5e-324",
        "0.1234567890123456789012345",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), "{\"file\":\"\",\"offset\":0,\"size\":0,\"delay_s\":%s}",
                       texts[i]);
        assert_true(good(text).op.delay_s == strtod(texts[i], NULL));
    }
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        char number[64];
        char text[256];
        (void)snprintf(number, sizeof(number), "%llu.%0*llu",
                       (unsigned long long)(wio_test_random(&seed) % 1000), i % 18 + 1,
                       (unsigned long long)(wio_test_random(&seed) % 10));
        (void)snprintf(text, sizeof(text), "{\"file\":1,\"offset\":0,\"size\":0,\"delay_s\":%s}",
                       number);
        assert_true(good(text).op.delay_s == strtod(number, NULL));
    }
}

static void sizes_are_whole_numbers(void **state)
{
    (void)state;
    assert_int_equal(good("{\"file\":1,\"offset\":1e3,\"size\":2.0}").op.offset, 1000);
    assert_true(good("{\"file\":1,\"offset\":9007199254740992,\"size\":0}").op.offset ==
                9007199254740992u);
    bad("{\"file\":1,\"offset\":-1,\"size\":0}", 19, "found -1");
    bad("{\"file\":1,\"offset\":0,\"size\":1.5}", 28, "\"size\" to be a whole number");
    bad("{\"file\":1,\"offset\":0,\"size\":1e17}", 28, "found 1e17");
    bad("{\"file\":1,\"offset\":9007199254740992,\"size\":1}", 45, "within 2^53");
}

static void what_is_wrong_is_named_with_its_place(void **state)
{
    (void)state;
    bad("", 0, "'{'");
    bad("[]", 0, "'{'");
    bad("{}", 2, "\"file\"");
    bad("{\"file\":1}", 10, "\"offset\"");
    bad("{\"file\":1,\"offset\":0}", 21, "\"size\"");
    bad("{\"file\":1,\"offset\":0,\"size\":1", 29, "',' or '}'");
    bad("{\"file\":1,\"offset\":0,\"size\":1} x", 31, "end of the line");
    bad("{\"file\":1,}", 10, "text in quotes");
    bad("{\"file\" 1}", 8, "':'");
    bad("{\"file\":\"a", 10, "quote at the end");
    bad("{\"file\":\"\\x\"}", 10, "escape");
    bad("{\"file\":\"\\u12g4\"}", 13, "escape");
    bad("{\"file\":\"a\x01\"}", 10, "control character");
    bad("{\"file\":tru}", 8, "a number");
    bad("{\"file\":1,\"file\":2}", 17, "each key once, found \"file\" again");
    bad("{\"file\":1,\"offset\":01}", 19, "a number");
    bad("{\"file\":1,\"offset\":1.}", 19, "a number");
    bad("{\"file\":1,\"offset\":1e}", 19, "a number");
    bad("{\"file\":1,\"delay_s\":-0.5}", 20, "from 0 to 1e+09, found -0.5");
    bad("{\"file\":1,\"delay_s\":1e10}", 20, "found 1e10");
    bad("{\"file\":1,\"delay_s\":1e999}", 20, "found 1e999");
    bad("{\"file\":1,\"delay_s\":\"1\"}", 20, "a number");
    bad("{\"file\":1,\"delay_s\": NaN}", 21, "\"delay_s\" to be a number, found NaN");
    bad("{\"file\":1,\"size\":\"4K\"}", 17, "\"size\" to be a number, found \"4K\"");
    bad("{\"file\":1,\"offset\":-Infinity,\"size\":1}", 19, "\"offset\" to be a number");
    bad("{\"file\":1,\"method\":7}", 19, "\"method\" to be a text in quotes, found 7");
    bad("{\"file\":1,\"method\":", 19, "\"method\" to be a text");
    bad("{\"file\":true}", 8, "\"file\" to be a text or a number");
    bad("{\"file\":1,\"method\":\"swrite\"}", 19, "found \"swrite\"");
    bad("{\"file\":1,\"random\":1}", 19, "true, false or null");
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    char text[512] = "{\"x\":";
    memset(text + 5, '[', 400);
    text[405] = '\0';
    struct wio_ops_line out;
    struct wio_error err;
    assert_status(parse(text, &out, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "32 deep"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_key),
        cmocka_unit_test(tells_a_key_that_is_likely_misspelt),
        cmocka_unit_test(missing_and_null_keys_have_their_defaults),
        cmocka_unit_test(other_keys_are_skipped),
        cmocka_unit_test(escapes_are_unpacked),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(sizes_are_whole_numbers),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(nesting_has_a_limit),
    };
    return WIO_RUN(tests);
}
