/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units, to and from text; the distance between words. */
#ifndef WIO_BASE_TEXT_H
#define WIO_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

/*
 * The parsers take what people type: the whole text must be the number, else WIO_ERR_USAGE and the
 * result is not touched.
 */

/* "4096", "4K", "1M", "2G", "1T" (powers of 1024; "KiB" also). */
WIO_MUST_CHECK enum wio_status wio_parse_size(const char *text, uint64_t *bytes_out);
/* "10ns", "5us", "10ms", "2s", "1.5s", "2m", "1h"; a plain number is seconds. */
WIO_MUST_CHECK enum wio_status wio_parse_time(const char *text, uint64_t *ns_out);
WIO_MUST_CHECK enum wio_status wio_parse_u64(const char *text, uint64_t *out);
WIO_MUST_CHECK enum wio_status wio_parse_double(const char *text, double *out);

/* Buffers of WIO_TEXT_MAX; each returns `text`. */
#define WIO_TEXT_MAX 32
char *wio_format_size(char *text, uint64_t bytes);     /* "1.50 MiB" */
char *wio_format_time(char *text, uint64_t ns);        /* "12.3 ms" */
char *wio_format_count(char *text, uint64_t count);    /* "1,234,567" */
char *wio_format_rate(char *text, double bytes_per_s); /* "105 MiB/s" */

/* The file name `text` has the ending `end`, and something before it. */
bool wio_text_ends_with(const char *text, const char *end);

/* Damerau-Levenshtein distance of two short words (git's "did you mean"). */
unsigned wio_text_distance(const char *a, const char *b);

#endif
