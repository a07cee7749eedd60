/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A streaming JSON writer: each object one line, nothing is kept in memory but the nesting.
 *
 *     struct wio_json json;
 *     wio_json_init(&json, stdout);
 *     wio_json_object_begin(&json, NULL);
 *     wio_json_string(&json, "schema", "whyio.info/1");
 *     wio_json_u64(&json, "ranks", 4);
 *     wio_json_object_end(&json);
 *     wio_json_line(&json);
 *
 * `key` is NULL inside arrays and at the top. Strings that are not UTF-8 have each odd byte
 * written as \u00XX (lossless for Latin-1 readers). Not-a-number is written as null.
 */
#ifndef WIO_BASE_JSON_H
#define WIO_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WIO_JSON_DEPTH 32

struct wio_json {
    FILE *out;
    unsigned depth;
    bool has_items[WIO_JSON_DEPTH];
};

void wio_json_init(struct wio_json *json, FILE *out);
void wio_json_object_begin(struct wio_json *json, const char *key);
void wio_json_object_end(struct wio_json *json);
void wio_json_array_begin(struct wio_json *json, const char *key);
void wio_json_array_end(struct wio_json *json);
void wio_json_string(struct wio_json *json, const char *key, const char *text);
void wio_json_text(struct wio_json *json, const char *key, const char *text, size_t bytes);
/* null where the text is empty: it is not known. */
void wio_json_known(struct wio_json *json, const char *key, const char *text);
void wio_json_u64(struct wio_json *json, const char *key, uint64_t value);
void wio_json_i64(struct wio_json *json, const char *key, int64_t value);
/* Shortest text that reads back as the same double. */
void wio_json_double(struct wio_json *json, const char *key, double value);
void wio_json_bool(struct wio_json *json, const char *key, bool value);
void wio_json_null(struct wio_json *json, const char *key);
/* End the line of a finished top-level value. */
void wio_json_line(struct wio_json *json);

#endif
