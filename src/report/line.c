/* SPDX-License-Identifier: Apache-2.0 */
#include "report/line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define CAPACITY ((size_t)256 * 1024)
#define NUMBER_BYTES 24u

enum wio_status wio_line_init(struct wio_line *line, FILE *out, struct wio_error *err)
{
    *line = (struct wio_line){.data = malloc(CAPACITY), .out = out};
    if (line->data == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory for output");
    }
    return WIO_OK;
}

void wio_line_flush(struct wio_line *line)
{
    /* failure stays in the stream: its owner asks ferror */
    (void)!fwrite(line->data, 1, line->used, line->out);
    line->used = 0;
}

void wio_line_fini(struct wio_line *line)
{
    if (line->data != NULL) {
        wio_line_flush(line);
    }
    free(line->data);
    *line = (struct wio_line){0};
}

void wio_line_bytes(struct wio_line *line, const char *text, size_t bytes)
{
    if (bytes > CAPACITY - line->used) {
        wio_line_flush(line);
        if (bytes > CAPACITY) {
            (void)!fwrite(text, 1, bytes, line->out);
            return;
        }
    }
    memcpy(line->data + line->used, text, bytes);
    line->used += bytes;
}

void wio_line_text(struct wio_line *line, const char *text)
{
    wio_line_bytes(line, text, strlen(text));
}

void wio_line_byte(struct wio_line *line, char byte)
{
    wio_line_bytes(line, &byte, 1);
}

/* Write the digits of `value` so that they end before `end`; returns where they begin. */
static char *put_digits(char *end, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    while (value >= 100) {
        const char *pair = pairs + 2 * (value % 100);
        value /= 100;
        *--end = pair[1];
        *--end = pair[0];
    }
    if (value >= 10) {
        *--end = pairs[2 * value + 1];
        *--end = pairs[2 * value];
        return end;
    }
    *--end = (char)('0' + value);
    return end;
}

void wio_line_u64(struct wio_line *line, uint64_t value)
{
    char text[NUMBER_BYTES];
    char *begin = put_digits(text + sizeof(text), value);
    wio_line_bytes(line, begin, (size_t)(text + sizeof(text) - begin));
}

void wio_line_i64(struct wio_line *line, int64_t value)
{
    char text[NUMBER_BYTES];
    char *begin = put_digits(text + sizeof(text), value < 0 ? -(uint64_t)value : (uint64_t)value);

    if (value < 0) {
        *--begin = '-';
    }
    wio_line_bytes(line, begin, (size_t)(text + sizeof(text) - begin));
}

void wio_line_hex(struct wio_line *line, uint64_t value)
{
    char text[NUMBER_BYTES];
    char *begin = text + sizeof(text);

    do {
        *--begin = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value != 0);
    wio_line_bytes(line, begin, (size_t)(text + sizeof(text) - begin));
}

void wio_line_seconds(struct wio_line *line, uint64_t ns)
{
    char text[2 * NUMBER_BYTES];
    char *end = text + sizeof(text);
    char *begin = put_digits(end, ns % 1000000000u);

    while (begin > end - 9) {
        *--begin = '0';
    }
    *--begin = '.';
    begin = put_digits(begin, ns / 1000000000u);
    wio_line_bytes(line, begin, (size_t)(end - begin));
}

static void put_blanks(struct wio_line *line, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        wio_line_byte(line, ' ');
    }
}

void wio_line_right(struct wio_line *line, const char *text, size_t width)
{
    size_t bytes = strlen(text);
    put_blanks(line, bytes < width ? width - bytes : 0);
    wio_line_bytes(line, text, bytes);
}

void wio_line_left(struct wio_line *line, const char *text, size_t width)
{
    size_t bytes = strlen(text);
    wio_line_bytes(line, text, bytes);
    put_blanks(line, bytes < width ? width - bytes : 0);
}

/* Where a text goes, and so what of it has to be escaped. */
enum place { IN_JSON, IN_QUOTES, ON_A_TERMINAL };

/* Bytes from `text` on that can be written as they are. */
static size_t plain_bytes(const char *text, size_t bytes, enum place place)
{
    bool is_quoted = place != ON_A_TERMINAL;
    size_t i = 0;

    while (i < bytes) {
        unsigned char byte = (unsigned char)text[i];
        size_t length = 1;
        if (byte < 0x20 || byte == 0x7f || (is_quoted && (byte == '"' || byte == '\\'))) {
            break;
        }
        if (byte >= 0x80) {
            length = wio_utf8_length(text + i, bytes - i);
        }
        if (length == 0 || wio_utf8_is_control(text + i, length)) {
            break;
        }
        i += length;
    }
    return i;
}

static void put_escape(struct wio_line *line, const char *hex_prefix, unsigned char byte)
{
    static const char from[] = "\b\t\n\f\r\"\\";
    static const char to[] = "btnfr\"\\";
    const char *at = byte != 0 ? strchr(from, byte) : NULL;

    if (at != NULL) {
        wio_line_byte(line, '\\');
        wio_line_byte(line, to[at - from]);
        return;
    }
    wio_line_text(line, hex_prefix);
    wio_line_byte(line, "0123456789abcdef"[byte >> 4]);
    wio_line_byte(line, "0123456789abcdef"[byte & 15]);
}

/* JSON names a character, not its bytes: of U+0080 to U+009F the second byte is its number. */
static size_t lead_bytes(const char *text, size_t bytes)
{
    return wio_utf8_is_control(text, wio_utf8_length(text, bytes)) ? 1 : 0;
}

static void put_string(struct wio_line *line, enum place place, const char *text, size_t bytes)
{
    const char *hex_prefix = place == IN_JSON ? "\\u00" : "\\x";
    wio_line_byte(line, '"');
    while (bytes > 0) {
        size_t plain = plain_bytes(text, bytes, place);
        wio_line_bytes(line, text, plain);
        text += plain;
        bytes -= plain;
        if (bytes > 0) {
            size_t skipped = place == IN_JSON ? lead_bytes(text, bytes) : 0;
            put_escape(line, hex_prefix, (unsigned char)text[skipped]);
            text += skipped + 1;
            bytes -= skipped + 1;
        }
    }
    wio_line_byte(line, '"');
}

void wio_line_json(struct wio_line *line, const char *text, size_t bytes)
{
    put_string(line, IN_JSON, text, bytes);
}

void wio_line_quoted(struct wio_line *line, const char *text, size_t bytes)
{
    put_string(line, IN_QUOTES, text, bytes);
}

void wio_line_plain(struct wio_line *line, const char *text)
{
    size_t bytes = strlen(text);

    while (bytes > 0) {
        size_t plain = plain_bytes(text, bytes, ON_A_TERMINAL);
        wio_line_bytes(line, text, plain);
        text += plain;
        bytes -= plain;
        if (bytes > 0) {
            put_escape(line, "\\x", (unsigned char)*text);
            text++;
            bytes--;
        }
    }
}

size_t wio_plain_bytes(const char *text, size_t bytes)
{
    return plain_bytes(text, bytes, ON_A_TERMINAL);
}

void wio_print_plain(FILE *out, const char *text)
{
    size_t bytes = strlen(text);

    while (bytes > 0) {
        size_t plain = plain_bytes(text, bytes, ON_A_TERMINAL);
        (void)!fwrite(text, 1, plain, out);
        text += plain;
        bytes -= plain;
        if (bytes > 0) {
            fprintf(out, "\\x%02x", (unsigned char)*text);
            text++;
            bytes--;
        }
    }
}
