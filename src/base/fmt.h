/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A formatter for places where libc's stdio must not be used: signal handlers, and inside a traced
 * process. Appends to the caller's buffer; what does not fit is cut, the text is always ended by
 * NUL. Signal safe, no allocation, no locale, does not touch errno.
 *
 *     char name[64];
 *     struct wio_fmt fmt = wio_fmt_of(name, sizeof(name));
 *     wio_fmt_str(&fmt, "host.");
 *     wio_fmt_i64(&fmt, pid);
 */
#ifndef WIO_BASE_FMT_H
#define WIO_BASE_FMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wio_fmt {
    char *text;
    size_t size; /* of the buffer, at least 1 */
    size_t used; /* without the NUL */
    bool is_cut; /* something did not fit */
};

struct wio_fmt wio_fmt_of(char *text, size_t size);
void wio_fmt_bytes(struct wio_fmt *fmt, const char *bytes, size_t count);
void wio_fmt_str(struct wio_fmt *fmt, const char *text);
void wio_fmt_u64(struct wio_fmt *fmt, uint64_t value);
void wio_fmt_i64(struct wio_fmt *fmt, int64_t value);
/* Lower case, without 0x, at least `digits` digits. */
void wio_fmt_hex(struct wio_fmt *fmt, uint64_t value, unsigned digits);

/* Decimal number at *text; moves *text behind it. False, and nothing moves, where there is no
 * digit or the value does not fit. */
bool wio_scan_u64(const char **text, uint64_t *out);

#endif
