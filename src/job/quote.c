/* SPDX-License-Identifier: Apache-2.0 */
#include "job/quote.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_plain(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || (c != '\0' && strchr(".@-_:/", c) != NULL);
}

static bool is_word(const char *name, size_t bytes, const char *word)
{
    return strlen(word) == bytes && memcmp(name, word, bytes) == 0;
}

/* Plain bytes that are no text in YAML: its words in their three spellings, "-" and "." alone. */
static bool is_reserved(const char *name, size_t bytes)
{
    static const char *const words[] = {
        "null", "Null", "NULL",  "true",  "True",  "TRUE", "false", "False", "FALSE", "yes",
        "Yes",  "YES",  "no",    "No",    "NO",    "on",   "On",    "ON",    "off",   "Off",
        "OFF",  "y",    "Y",     "n",     "N",     "-",    ".",     "---",   "...",   ".inf",
        ".Inf", ".INF", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN",  ".NAN"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (is_word(name, bytes, words[i])) {
            return true;
        }
    }
    return false;
}

/* Something that a reader could take for a number but for its digits alone ("1e3", "0x1f", "1_0",
 * "007", "1.5", "2026-11-23"). Digits without a zero in front mean the same as number and as text.
 */
static bool is_like_number(const char *name, size_t bytes)
{
    const size_t sign = bytes > 0 && name[0] == '-' ? 1 : 0;
    if (bytes == sign || !((name[sign] >= '0' && name[sign] <= '9') || name[sign] == '.')) {
        return false;
    }
    for (size_t i = sign; i < bytes; i++) {
        if (name[i] < '0' || name[i] > '9') {
            return true;
        }
    }
    return bytes > sign + 1 && name[sign] == '0';
}

static bool needs_quotes(const char *name, size_t bytes)
{
    if (bytes == 0 || name[0] == '@') {
        return true;
    }
    for (size_t i = 0; i < bytes; i++) {
        if (!is_plain(name[i]) || name[i] == ':') {
            return true;
        }
    }
    return is_reserved(name, bytes) || is_like_number(name, bytes);
}

size_t wio_job_quote(const char *name, size_t bytes, char *text_out)
{
    static const char digits[] = "0123456789ABCDEF";
    if (!needs_quotes(name, bytes)) {
        memcpy(text_out, name, bytes);
        return bytes;
    }
    char *at = text_out;
    *at++ = '"';
    for (size_t i = 0; i < bytes; i++) {
        if (is_plain(name[i])) {
            *at++ = name[i];
            continue;
        }
        *at++ = '\\';
        *at++ = 'x';
        *at++ = digits[(unsigned char)name[i] >> 4];
        *at++ = digits[(unsigned char)name[i] & 15];
    }
    *at++ = '"';
    return (size_t)(at - text_out);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One byte of a quoted text, at *at; -1 where it is none. */
static int next_byte(const char *text, size_t end, size_t *at)
{
    const size_t here = *at;
    if (text[here] == '"') {
        return -1;
    }
    if (text[here] != '\\') {
        *at = here + 1;
        return (unsigned char)text[here];
    }
    if (end - here < 4 || text[here + 1] != 'x') {
        return -1;
    }
    const int high = hex_digit(text[here + 2]);
    const int low = hex_digit(text[here + 3]);
    *at = here + 4;
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

static bool unquote(const char *text, size_t bytes, char *name_out, size_t size, size_t *bytes_out)
{
    size_t used = 0;
    for (size_t at = 1; at < bytes - 1;) {
        const int byte = next_byte(text, bytes - 1, &at);
        if (byte <= 0 || used == size) {
            return false;
        }
        name_out[used++] = (char)byte;
    }
    *bytes_out = used;
    return used > 0;
}

bool wio_job_unquote(const char *text, size_t bytes, char *name_out, size_t size, size_t *bytes_out)
{
    if (bytes > 0 && text[bytes - 1] == '\n') {
        bytes--;
    }
    if (bytes > 0 && text[0] == '"') {
        return bytes > 1 && text[bytes - 1] == '"' &&
               unquote(text, bytes, name_out, size, bytes_out);
    }
    if (bytes == 0 || bytes > size || memchr(text, '\0', bytes) != NULL) {
        return false;
    }
    memmove(name_out, text, bytes);
    *bytes_out = bytes;
    return true;
}
