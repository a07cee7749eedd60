/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <string.h>

/* The second byte decides on overlong forms, surrogates and the end of Unicode (RFC 3629, 4). */
static bool is_second_fine(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return second >= 0x80 && second <= 0xbf;
    }
}

static size_t length_by_first(unsigned char first)
{
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xc2 && first <= 0xdf) {
        return 2;
    }
    if (first >= 0xe0 && first <= 0xef) {
        return 3;
    }
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

size_t wio_utf8_length(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = bytes == 0 ? 0 : length_by_first(at[0]);
    if (length > bytes) {
        return 0;
    }
    if (length > 1 && !is_second_fine(at[0], at[1])) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

bool wio_utf8_is_control(const char *text, size_t length)
{
    return length == 2 && (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0;
}

size_t wio_utf8_mark(const char *text, size_t bytes)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    return bytes >= sizeof(mark) && memcmp(text, mark, sizeof(mark)) == 0 ? sizeof(mark) : 0;
}
