/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fmt.h"

#include <string.h>

struct wio_fmt wio_fmt_of(char *text, size_t size)
{
    text[0] = '\0';
    return (struct wio_fmt){text, size, 0, false};
}

void wio_fmt_bytes(struct wio_fmt *fmt, const char *bytes, size_t count)
{
    size_t room = fmt->size - 1 - fmt->used;
    if (count > room) {
        count = room;
        fmt->is_cut = true;
    }
    memcpy(fmt->text + fmt->used, bytes, count);
    fmt->used += count;
    fmt->text[fmt->used] = '\0';
}

void wio_fmt_str(struct wio_fmt *fmt, const char *text)
{
    wio_fmt_bytes(fmt, text, strlen(text));
}

/* `digits` zeros in front where the number is shorter. */
static void put_number(struct wio_fmt *fmt, uint64_t value, unsigned base, unsigned digits)
{
    char text[24];
    size_t at = sizeof(text);
    if (digits > sizeof(text)) {
        digits = sizeof(text);
    }
    do {
        text[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (sizeof(text) - at < digits) {
        text[--at] = '0';
    }
    wio_fmt_bytes(fmt, text + at, sizeof(text) - at);
}

void wio_fmt_u64(struct wio_fmt *fmt, uint64_t value)
{
    put_number(fmt, value, 10, 1);
}

void wio_fmt_i64(struct wio_fmt *fmt, int64_t value)
{
    if (value < 0) {
        wio_fmt_bytes(fmt, "-", 1);
    }
    put_number(fmt, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, 1);
}

void wio_fmt_hex(struct wio_fmt *fmt, uint64_t value, unsigned digits)
{
    put_number(fmt, value, 16, digits);
}

bool wio_scan_u64(const char **text, uint64_t *out)
{
    const char *at = *text;
    uint64_t value = 0;
    if (*at < '0' || *at > '9') {
        return false;
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value)) {
            return false;
        }
    }
    *text = at;
    *out = value;
    return true;
}
