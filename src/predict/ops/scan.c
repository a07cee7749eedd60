/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/ops/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define DEPTH_MAX 32  /* of values that are skipped */
#define NUMBER_MAX 64 /* characters of a number */

enum wio_status wio_scan_expected(const struct wio_scan *scan, const char *what)
{
    return wio_error_set(scan->err, WIO_ERR_FORMAT, NULL, (uint64_t)(scan->at - scan->begin),
                         "expected %s", what);
}

void wio_scan_blanks(struct wio_scan *scan)
{
    while (scan->at < scan->end &&
           (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' || *scan->at == '\n')) {
        scan->at++;
    }
}

char wio_scan_peek(struct wio_scan *scan)
{
    wio_scan_blanks(scan);
    return scan->at < scan->end ? *scan->at : '\0';
}

bool wio_scan_take(struct wio_scan *scan, char byte)
{
    if (wio_scan_peek(scan) != byte || scan->at == scan->end) {
        return false;
    }
    scan->at++;
    return true;
}

bool wio_scan_word(struct wio_scan *scan, const char *word)
{
    size_t bytes = strlen(word);
    if ((size_t)(scan->end - scan->at) < bytes || memcmp(scan->at, word, bytes) != 0) {
        return false;
    }
    scan->at += bytes;
    return true;
}

/* ---- texts ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_hex4(struct wio_scan *scan, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        int digit = scan->at < scan->end ? hex_digit(*scan->at) : -1;
        if (digit < 0) {
            return false;
        }
        *out = *out << 4 | (uint32_t)digit;
        scan->at++;
    }
    return true;
}

/* Behind "\u": one character, perhaps of two halves. An odd half stands for itself. */
static bool take_unicode(struct wio_scan *scan, uint32_t *out)
{
    if (!take_hex4(scan, out)) {
        return false;
    }
    char *behind = scan->at;
    uint32_t low = 0;
    if (*out >= 0xd800 && *out < 0xdc00 && wio_scan_word(scan, "\\u") && take_hex4(scan, &low) &&
        low >= 0xdc00 && low < 0xe000) {
        *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
        return true;
    }
    scan->at = behind;
    return true;
}

/* UTF-8 into `to`, which has room: an escape is longer than what it stands for. */
static size_t put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = bytes - 1; i > 0; i--) {
        to[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    to[0] = (char)(lead[bytes] | code);
    return bytes;
}

/* Behind a backslash. */
static bool take_escape(struct wio_scan *scan, char **to)
{
    static const char from[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    if (scan->at == scan->end) {
        return false;
    }
    const char *found = strchr(from, *scan->at);
    if (*scan->at != '\0' && found != NULL) {
        *(*to)++ = meant[found - from];
        scan->at++;
        return true;
    }
    uint32_t code = 0;
    if (*scan->at != 'u') {
        return false;
    }
    scan->at++;
    if (!take_unicode(scan, &code)) {
        return false;
    }
    *to += put_utf8(*to, code);
    return true;
}

/* Unpacks in place. */
enum wio_status wio_scan_text(struct wio_scan *scan, const char **text_out, size_t *bytes_out)
{
    if (!wio_scan_take(scan, '"')) {
        return wio_scan_expected(scan, "a text in quotes");
    }
    char *to = scan->at;
    *text_out = scan->at;
    while (scan->at < scan->end && *scan->at != '"') {
        if ((unsigned char)*scan->at < 0x20) {
            return wio_scan_expected(scan, "no control character within a text");
        }
        if (*scan->at != '\\') {
            *to++ = *scan->at++;
            continue;
        }
        scan->at++;
        if (!take_escape(scan, &to)) {
            return wio_scan_expected(scan, "an escape that JSON knows");
        }
    }
    *bytes_out = (size_t)(to - *text_out);
    if (scan->at == scan->end) {
        return wio_scan_expected(scan, "a quote at the end of the text");
    }
    scan->at++;
    return WIO_OK;
}

/* ---- numbers ---- */

static size_t count_digits(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    return (size_t)(at - start);
}

/* The length of a JSON number, 0 where there is none. *fraction_out and *exponent_out: where its
 * parts begin, 0 = none. */
static size_t number_length(const char *at, const char *end, size_t *fraction_out,
                            size_t *exponent_out)
{
    const char *start = at;
    *fraction_out = 0;
    *exponent_out = 0;
    at += at < end && *at == '-';
    size_t digits = count_digits(at, end);
    if (digits == 0 || (digits > 1 && *at == '0')) {
        return 0;
    }
    at += digits;
    if (at < end && *at == '.') {
        *fraction_out = (size_t)(at + 1 - start);
        digits = count_digits(at + 1, end);
        at += 1 + digits;
        if (digits == 0) {
            return 0;
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        *exponent_out = (size_t)(at + 1 - start);
        at++;
        at += at < end && (*at == '-' || *at == '+');
        digits = count_digits(at, end);
        at += digits;
        if (digits == 0) {
            return 0;
        }
    }
    return (size_t)(at - start);
}

/* Digits up to 2^53 over a power of ten that a double holds exactly: one division is right to the
 * last bit. False where there are more. */
static bool short_decimal(const char *text, size_t bytes, size_t fraction, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t digits = 0;
    size_t places = fraction == 0 ? 0 : bytes - fraction;
    if (places >= WIO_ARRAY_SIZE(powers)) {
        return false;
    }
    for (size_t i = text[0] == '-'; i < bytes; i++) {
        if (text[i] == '.') {
            continue;
        }
        digits = digits * 10 + (uint64_t)(text[i] - '0');
        if (digits > WIO_SCAN_WHOLE_MAX) {
            return false;
        }
    }
    *out = (double)digits / powers[places];
    *out = text[0] == '-' ? -*out : *out;
    return true;
}

enum wio_status wio_scan_number(struct wio_scan *scan, struct wio_scan_number *out)
{
    size_t fraction;
    size_t exponent;
    wio_scan_blanks(scan);
    size_t bytes = number_length(scan->at, scan->end, &fraction, &exponent);
    if (bytes == 0 || bytes >= NUMBER_MAX) {
        return wio_scan_expected(scan, "a number");
    }
    if (exponent != 0 || !short_decimal(scan->at, bytes, fraction, &out->value)) {
        char text[NUMBER_MAX];
        memcpy(text, scan->at, bytes);
        text[bytes] = '\0';
        out->value = strtod(text, NULL);
    }
    out->is_whole = out->value >= 0 && out->value <= (double)WIO_SCAN_WHOLE_MAX &&
                    floor(out->value) == out->value;
    out->whole = out->is_whole ? (uint64_t)out->value : 0;
    scan->at += bytes;
    return WIO_OK;
}

/* ---- values of keys that are not read ---- */

static enum wio_status skip_value(struct wio_scan *scan, unsigned depth);

static enum wio_status skip_member(struct wio_scan *scan, bool is_object, unsigned depth)
{
    const char *text;
    size_t bytes;
    if (is_object) {
        WIO_TRY(wio_scan_text(scan, &text, &bytes));
        if (!wio_scan_take(scan, ':')) {
            return wio_scan_expected(scan, "':'");
        }
    }
    return skip_value(scan, depth + 1);
}

static enum wio_status skip_nest(struct wio_scan *scan, char close, unsigned depth)
{
    scan->at++;
    if (depth >= DEPTH_MAX) {
        return wio_scan_expected(scan, "values nested at most 32 deep");
    }
    if (wio_scan_take(scan, close)) {
        return WIO_OK;
    }
    do {
        WIO_TRY(skip_member(scan, close == '}', depth));
    } while (wio_scan_take(scan, ','));
    return wio_scan_take(scan, close)
               ? WIO_OK
               : wio_scan_expected(scan, close == '}' ? "',' or '}'" : "',' or ']'");
}

static enum wio_status skip_value(struct wio_scan *scan, unsigned depth)
{
    const char *text;
    size_t bytes;
    struct wio_scan_number number;
    switch (wio_scan_peek(scan)) {
    case '{':
        return skip_nest(scan, '}', depth);
    case '[':
        return skip_nest(scan, ']', depth);
    case '"':
        return wio_scan_text(scan, &text, &bytes);
    default:
        if (wio_scan_word(scan, "true") || wio_scan_word(scan, "false") ||
            wio_scan_word(scan, "null")) {
            return WIO_OK;
        }
        return wio_scan_number(scan, &number);
    }
}

enum wio_status wio_scan_skip(struct wio_scan *scan)
{
    return skip_value(scan, 0);
}
