/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

void wio_json_init(struct wio_json *json, FILE *out)
{
    *json = (struct wio_json){.out = out};
}

static void put(const struct wio_json *json, const char *text, size_t bytes)
{
    /* A failing stream stays failed: its owner checks ferror at the end. */
    (void)fwrite(text, 1, bytes, json->out);
}

static void put_escaped_byte(const struct wio_json *json, unsigned char byte)
{
    static const char *const shorts[] = {
        ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f",
        ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\"};
    if (byte < WIO_ARRAY_SIZE(shorts) && shorts[byte] != NULL) {
        put(json, shorts[byte], 2);
        return;
    }
    (void)fprintf(json->out, "\\u%04x", byte);
}

static void put_string(const struct wio_json *json, const char *text, size_t bytes)
{
    size_t plain = 0; /* start of what can be written as it is */
    put(json, "\"", 1);
    for (size_t i = 0; i < bytes;) {
        unsigned char byte = (unsigned char)text[i];
        size_t length = wio_utf8_length(text + i, bytes - i);
        bool is_control = byte < 0x20 || byte == 0x7f || wio_utf8_is_control(text + i, length);
        if (length > 0 && !is_control && byte != '"' && byte != '\\') {
            i += length;
            continue;
        }
        put(json, text + plain, i - plain);
        i += length == 2 ? 1 : 0; /* of U+0080 to U+009F the second byte is the number */
        put_escaped_byte(json, (unsigned char)text[i]);
        plain = ++i;
    }
    put(json, text + plain, bytes - plain);
    put(json, "\"", 1);
}

/* The comma and the key in front of a value. */
static void begin_item(struct wio_json *json, const char *key)
{
    if (json->has_items[json->depth]) {
        put(json, ", ", 2);
    }
    json->has_items[json->depth] = true;
    if (key != NULL) {
        put_string(json, key, strlen(key));
        put(json, ": ", 2);
    }
}

static void begin_nest(struct wio_json *json, const char *key, const char *bracket)
{
    begin_item(json, key);
    put(json, bracket, 1);
    WIO_PRE(json->depth + 1 < WIO_JSON_DEPTH);
    json->depth++;
    json->has_items[json->depth] = false;
}

static void end_nest(struct wio_json *json, const char *bracket)
{
    WIO_PRE(json->depth > 0);
    json->depth--;
    put(json, bracket, 1);
}

void wio_json_object_begin(struct wio_json *json, const char *key)
{
    begin_nest(json, key, "{");
}

void wio_json_object_end(struct wio_json *json)
{
    end_nest(json, "}");
}

void wio_json_array_begin(struct wio_json *json, const char *key)
{
    begin_nest(json, key, "[");
}

void wio_json_array_end(struct wio_json *json)
{
    end_nest(json, "]");
}

void wio_json_string(struct wio_json *json, const char *key, const char *text)
{
    if (text == NULL) {
        wio_json_null(json, key);
        return;
    }
    wio_json_text(json, key, text, strlen(text));
}

void wio_json_known(struct wio_json *json, const char *key, const char *text)
{
    wio_json_string(json, key, text[0] != '\0' ? text : NULL);
}

void wio_json_text(struct wio_json *json, const char *key, const char *text, size_t bytes)
{
    begin_item(json, key);
    put_string(json, text, bytes);
}

void wio_json_u64(struct wio_json *json, const char *key, uint64_t value)
{
    begin_item(json, key);
    (void)fprintf(json->out, "%" PRIu64, value);
}

void wio_json_i64(struct wio_json *json, const char *key, int64_t value)
{
    begin_item(json, key);
    (void)fprintf(json->out, "%" PRId64, value);
}

/* Below it all whole numbers have no more digits than %.15g gives without an exponent. */
#define WHOLE_MAX 1e15

void wio_json_double(struct wio_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        wio_json_null(json, key);
        return;
    }
    if (fabs(value) < WHOLE_MAX && floor(value) == value && !(value == 0 && signbit(value))) {
        wio_json_i64(json, key, (int64_t)value); /* many are, and this is ten times as fast */
        return;
    }
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    char *comma = strchr(text, ','); /* the decimal point of some locales */
    if (comma != NULL) {
        *comma = '.';
    }
    begin_item(json, key);
    put(json, text, strlen(text));
}

void wio_json_bool(struct wio_json *json, const char *key, bool value)
{
    begin_item(json, key);
    (void)fputs(value ? "true" : "false", json->out);
}

void wio_json_null(struct wio_json *json, const char *key)
{
    begin_item(json, key);
    put(json, "null", 4);
}

void wio_json_line(struct wio_json *json)
{
    WIO_PRE(json->depth == 0);
    put(json, "\n", 1);
    json->has_items[0] = false;
}
