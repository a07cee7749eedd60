/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json.h"
#include "report/line.h"

/* Where the lines of a test go. */
struct sink {
    char *text;
    size_t bytes;
    FILE *out;
    struct wio_line line;
};

static void sink_init(struct sink *sink)
{
    sink->out = open_memstream(&sink->text, &sink->bytes);
    assert_non_null(sink->out);
    assert_ok(wio_line_init(&sink->line, sink->out, NULL), NULL);
}

static void sink_end(struct sink *sink)
{
    wio_line_fini(&sink->line);
    fclose(sink->out);
}

static void numbers_as_printf_writes_them(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        /* all lengths alike */
        uint64_t value = wio_test_random(&seed) >> (wio_test_random(&seed) % 64);
        char want[200];
        struct sink sink;

        if (i == 0) {
            value = 0;
        }
        sink_init(&sink);
        wio_line_u64(&sink.line, value);
        wio_line_byte(&sink.line, ' ');
        wio_line_i64(&sink.line, (int64_t)value);
        wio_line_byte(&sink.line, ' ');
        wio_line_i64(&sink.line, -(int64_t)(value >> 1));
        wio_line_byte(&sink.line, ' ');
        wio_line_hex(&sink.line, value);
        wio_line_byte(&sink.line, ' ');
        wio_line_seconds(&sink.line, value);
        sink_end(&sink);
        snprintf(want, sizeof(want),
                 "%" PRIu64 " %" PRId64 " %" PRId64 " %" PRIx64 " %" PRIu64 ".%09" PRIu64, value,
                 (int64_t)value, -(int64_t)(value >> 1), value, value / 1000000000u,
                 value % 1000000000u);
        assert_string_equal(sink.text, want);
        free(sink.text);
    }
}

static void the_least_number(void **state)
{
    struct sink sink;

    (void)state;
    sink_init(&sink);
    wio_line_i64(&sink.line, INT64_MIN);
    sink_end(&sink);
    assert_string_equal(sink.text, "-9223372036854775808");
    free(sink.text);
}

static void strings_as_the_json_writer_writes_them(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        char text[40];
        size_t bytes = wio_test_random(&seed) % sizeof(text);
        struct wio_json json;
        struct sink sink;
        char *want = NULL;
        size_t want_bytes = 0;
        FILE *out = open_memstream(&want, &want_bytes);

        for (size_t k = 0; k < bytes; k++) {
            text[k] = (char)wio_test_random(&seed);
        }
        wio_json_init(&json, out);
        wio_json_text(&json, NULL, text, bytes);
        fclose(out);
        sink_init(&sink);
        wio_line_json(&sink.line, text, bytes);
        sink_end(&sink);
        assert_string_equal(sink.text, want);
        json_t *parsed = json_loadb(sink.text, sink.bytes, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(parsed);
        json_decref(parsed);
        free(sink.text);
        free(want);
    }
}

static void more_than_the_buffer_holds(void **state)
{
    size_t bytes = 1000000;
    char *text = malloc(bytes);
    struct sink sink;

    (void)state;
    memset(text, 'x', bytes);
    sink_init(&sink);
    wio_line_byte(&sink.line, 'a');
    wio_line_bytes(&sink.line, text, bytes);
    for (unsigned i = 0; i < 300000; i++) {
        wio_line_byte(&sink.line, 'b');
    }
    sink_end(&sink);
    assert_int_equal(sink.bytes, 1 + bytes + 300000);
    assert_int_equal(sink.text[0], 'a');
    assert_memory_equal(sink.text + 1, text, bytes);
    assert_int_equal(sink.text[sink.bytes - 1], 'b');
    free(sink.text);
    free(text);
}

static void columns(void **state)
{
    struct sink sink;

    (void)state;
    sink_init(&sink);
    wio_line_right(&sink.line, "ab", 4);
    wio_line_left(&sink.line, "cd", 4);
    wio_line_right(&sink.line, "longer", 4);
    wio_line_quoted(&sink.line, "a\"\x01\xff", 4);
    sink_end(&sink);
    assert_string_equal(sink.text, "  abcd  longer\"a\\\"\\x01\\xff\"");
    free(sink.text);
}

/* U+0085 and U+009B are commands for a terminal, and characters like others in JSON. */
static void controls_of_two_bytes(void **state)
{
    static const char text[] = "\xc3\xa4\xc2\x9b\xc2\xa0";
    struct sink sink;

    (void)state;
    assert_int_equal(wio_plain_bytes(text, strlen(text)), 2);
    sink_init(&sink);
    wio_line_plain(&sink.line, text);
    wio_line_json(&sink.line, text, strlen(text));
    sink_end(&sink);
    assert_string_equal(sink.text, "\xc3\xa4\\xc2\\x9b\xc2\xa0\"\xc3\xa4\\u009b\xc2\xa0\"");
    free(sink.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_as_printf_writes_them),
        cmocka_unit_test(the_least_number),
        cmocka_unit_test(strings_as_the_json_writer_writes_them),
        cmocka_unit_test(more_than_the_buffer_holds),
        cmocka_unit_test(columns),
        cmocka_unit_test(controls_of_two_bytes),
    };
    return WIO_RUN(tests);
}
