/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/proc_text.h"

#include <string.h>

#define FIELD_BEHIND_NAME 3u

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number at the begin of [at, end); false where there is none, or it has more than 64 bits. */
static bool scan(const char *at, const char *end, uint64_t *out)
{
    uint64_t value = 0;
    if (at >= end || !is_digit(*at)) {
        return false;
    }
    for (; at < end && is_digit(*at); at++) {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

bool wio_proc_stat_number(const char *text, size_t bytes, unsigned number, uint64_t *out)
{
    const char *end = text + bytes;
    const char *at = bytes > 0 ? memrchr(text, ')', bytes) : NULL;
    unsigned field = FIELD_BEHIND_NAME - 1;
    for (; at != NULL && at < end && field < number; field++) {
        at = memchr(at, ' ', (size_t)(end - at));
        at = at != NULL ? at + 1 : NULL;
    }
    return at != NULL && field == number && scan(at, end, out);
}

bool wio_proc_stat_start(const char *text, size_t bytes, uint64_t *start_out)
{
    return wio_proc_stat_number(text, bytes, WIO_PROC_STAT_START, start_out);
}

bool wio_proc_status_number(const char *text, size_t bytes, const char *key, uint64_t *out)
{
    const size_t length = strlen(key);
    const char *end = text + bytes;
    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = stop != NULL ? stop : end;
        if ((size_t)(line_end - at) > length && memcmp(at, key, length) == 0) {
            for (at += length; at < line_end && (*at == ' ' || *at == '\t'); at++) {
            }
            return scan(at, line_end, out);
        }
        at = line_end + 1;
    }
    return false;
}
