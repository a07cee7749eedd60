/* SPDX-License-Identifier: Apache-2.0 */
/* What is UTF-8 (RFC 3629) and what is not. Pure, signal safe. */
#ifndef WIO_BASE_UTF8_H
#define WIO_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes (1 to 4) of the valid character at the beginning of `text`, 0 where there is none: odd
 * bytes, overlong forms, surrogates, beyond U+10FFFF, cut at `bytes`. */
size_t wio_utf8_length(const char *text, size_t bytes);

/* Is the character of `length` bytes one of U+0080 to U+009F? A terminal takes them for commands.
 */
bool wio_utf8_is_control(const char *text, size_t length);

/* Bytes (3, or 0) of the mark that some editors put in front of a text (U+FEFF). */
size_t wio_utf8_mark(const char *text, size_t bytes);

#endif
