/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON in place, value by value: for lines by the million, where a tree of values would cost more
 * than what is done with them. Private to the room.
 */
#ifndef WIO_PREDICT_OPS_SCAN_H
#define WIO_PREDICT_OPS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

/* Between begin and end; texts are unpacked where they stand. */
struct wio_scan {
    char *begin;
    char *at;
    char *end;
    struct wio_error *err;
};

struct wio_scan_number {
    double value;
    uint64_t whole; /* the same, where is_whole: from 0 to WIO_SCAN_WHOLE_MAX */
    bool is_whole;
};

/* Doubles hold every whole number up to here. */
#define WIO_SCAN_WHOLE_MAX (UINT64_C(1) << 53)

/* Fill the error: "expected ..." at the place where the scan is. Gives WIO_ERR_FORMAT. */
enum wio_status wio_scan_expected(const struct wio_scan *scan, const char *what);

void wio_scan_blanks(struct wio_scan *scan);
/* The next byte that is no blank, which the scan then stands at; NUL at the end. */
char wio_scan_peek(struct wio_scan *scan);
/* Blanks and `byte`, if it is there. */
bool wio_scan_take(struct wio_scan *scan, char byte);
/* `word`, if it is there. */
bool wio_scan_word(struct wio_scan *scan, const char *word);

/* These give WIO_ERR_FORMAT where the next value is of another kind. The text is borrowed from the
 * line and not ended by NUL. */
WIO_MUST_CHECK enum wio_status wio_scan_text(struct wio_scan *scan, const char **text_out,
                                             size_t *bytes_out);
WIO_MUST_CHECK enum wio_status wio_scan_number(struct wio_scan *scan, struct wio_scan_number *out);
/* Any value, nested at most 32 deep. */
WIO_MUST_CHECK enum wio_status wio_scan_skip(struct wio_scan *scan);

#endif
