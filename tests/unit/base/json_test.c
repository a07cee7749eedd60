/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json.h"

struct sink {
    FILE *file;
    char *text;
    size_t bytes;
};

static struct wio_json begin(struct sink *sink)
{
    struct wio_json json;
    *sink = (struct sink){0};
    sink->file = open_memstream(&sink->text, &sink->bytes);
    assert_non_null(sink->file);
    wio_json_init(&json, sink->file);
    return json;
}

/* Ends the line, gives the text; free() it. */
static char *finish(struct sink *sink, struct wio_json *json)
{
    wio_json_line(json);
    assert_int_equal(fclose(sink->file), 0);
    return sink->text;
}

static void nested_values_on_one_line(void **state)
{
    (void)state;
    struct sink sink;
    struct wio_json json = begin(&sink);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.info/1");
    wio_json_u64(&json, "big", UINT64_MAX);
    wio_json_i64(&json, "low", INT64_MIN);
    wio_json_array_begin(&json, "list");
    wio_json_bool(&json, NULL, true);
    wio_json_null(&json, NULL);
    wio_json_object_begin(&json, NULL);
    wio_json_object_end(&json);
    wio_json_array_end(&json);
    wio_json_double(&json, "d", 0.1);
    wio_json_string(&json, "none", NULL);
    wio_json_object_end(&json);
    char *text = finish(&sink, &json);
    assert_string_equal(text, "{\"schema\": \"whyio.info/1\", \"big\": 18446744073709551615, "
                              "\"low\": -9223372036854775808, \"list\": [true, null, {}], "
                              "\"d\": 0.1, \"none\": null}\n");
    free(text);
}

static char *as_json(const char *bytes, size_t count)
{
    struct sink sink;
    struct wio_json json = begin(&sink);
    wio_json_array_begin(&json, NULL);
    wio_json_text(&json, NULL, bytes, count);
    wio_json_array_end(&json);
    return finish(&sink, &json);
}

static void escapes(void **state)
{
    (void)state;
    const char odd[] = "q\" b\\ \b\f\n\r\t \x01\x1f\x7f \0 \xff \xc3\xa4 \xe2\x82 \xc2\x9b\xc2\xa0";
    char *text = as_json(odd, sizeof(odd) - 1);
    assert_string_equal(text, "[\"q\\\" b\\\\ \\b\\f\\n\\r\\t \\u0001\\u001f\\u007f \\u0000 "
                              "\\u00ff \xc3\xa4 \\u00e2\\u0082 \\u009b\xc2\xa0\"]\n");
    free(text);
}

/* Another library reads any bytes back: each byte as itself, or as its Latin-1 character. */
static void any_bytes_are_valid_json(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 3000; i++) {
        char bytes[24];
        size_t count = wio_test_random(&seed) % sizeof(bytes);
        for (size_t k = 0; k < count; k++) {
            bytes[k] = (char)wio_test_random(&seed);
        }
        char *text = as_json(bytes, count);
        json_t *root = json_loads(text, JSON_ALLOW_NUL, NULL);
        assert_non_null(root);
        assert_true(json_is_string(json_array_get(root, 0)));
        json_decref(root);
        free(text);
    }
}

static void doubles_read_back_the_same(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = wio_test_random(&seed);
        double value;
        memcpy(&value, &bits, sizeof(value));
        struct sink sink;
        struct wio_json json = begin(&sink);
        wio_json_double(&json, NULL, value);
        char *text = finish(&sink, &json);
        if (isfinite(value)) {
            assert_true(strtod(text, NULL) == value);
        } else {
            assert_string_equal(text, "null\n");
        }
        free(text);
    }
}

static void several_lines(void **state)
{
    (void)state;
    struct sink sink;
    struct wio_json json = begin(&sink);
    for (int i = 0; i < 2; i++) {
        wio_json_object_begin(&json, NULL);
        wio_json_i64(&json, "i", i);
        wio_json_object_end(&json);
        if (i == 0) {
            wio_json_line(&json);
        }
    }
    char *text = finish(&sink, &json);
    assert_string_equal(text, "{\"i\": 0}\n{\"i\": 1}\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_values_on_one_line),
        cmocka_unit_test(escapes),
        cmocka_unit_test(any_bytes_are_valid_json),
        cmocka_unit_test(doubles_read_back_the_same),
        cmocka_unit_test(several_lines),
    };
    return WIO_RUN(tests);
}
