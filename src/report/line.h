/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fast text output: a buffer in front of a stream, with number formatting of its own. For output
 * of millions of lines, where printf would take most of the time (base/json.h is for the rest).
 *
 *     struct wio_line line;
 *     WIO_TRY(wio_line_init(&line, stdout, err));
 *     wio_line_text(&line, "size ");
 *     wio_line_u64(&line, 4096);
 *     wio_line_byte(&line, '\n');
 *     wio_line_fini(&line);             // flushes
 *
 * A stream that fails stays failed: ask ferror() at the end, as with stdio.
 */
#ifndef WIO_REPORT_LINE_H
#define WIO_REPORT_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <whyio/status.h>

struct wio_line {
    char *data;
    size_t used;
    FILE *out;
};

WIO_MUST_CHECK enum wio_status wio_line_init(struct wio_line *line, FILE *out,
                                             struct wio_error *err);
/* Write out what is left and release the buffer. */
void wio_line_fini(struct wio_line *line);
void wio_line_flush(struct wio_line *line);

void wio_line_bytes(struct wio_line *line, const char *text, size_t bytes);
void wio_line_text(struct wio_line *line, const char *text);
void wio_line_byte(struct wio_line *line, char byte);
void wio_line_u64(struct wio_line *line, uint64_t value);
void wio_line_i64(struct wio_line *line, int64_t value);
/* Without 0x. */
void wio_line_hex(struct wio_line *line, uint64_t value);
/* Nanoseconds as seconds: "12.000000345". */
void wio_line_seconds(struct wio_line *line, uint64_t ns);
/* Right or left justified in `width` columns (bytes; longer text is not cut). */
void wio_line_right(struct wio_line *line, const char *text, size_t width);
void wio_line_left(struct wio_line *line, const char *text, size_t width);
/* A JSON string with its quotes; bytes that are not UTF-8 become \u00XX (as base/json.h). */
void wio_line_json(struct wio_line *line, const char *text, size_t bytes);
/* The same text for a person: quoted, control characters and odd bytes as \xHH. */
void wio_line_quoted(struct wio_line *line, const char *text, size_t bytes);
/* A name without quotes, as the last thing on a line: what a terminal could take for a command, and
 * odd bytes, as \xHH. */
void wio_line_plain(struct wio_line *line, const char *text);
/* How many of `bytes` from `text` on a terminal may get as they are; what follows is to be escaped.
 */
size_t wio_plain_bytes(const char *text, size_t bytes);
/* The same to a stream, for the small outputs that use stdio. */
void wio_print_plain(FILE *out, const char *text);

/* A literal: its length is known when compiling. */
#define WIO_LINE_LITERAL(line, literal) wio_line_bytes((line), "" literal, sizeof(literal) - 1)

#endif
