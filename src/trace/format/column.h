/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One column of a block of events: a list of signed 64-bit values in one of four encodings
 * (FORMAT.md#encodings). The writer takes the encoding that suits the values; the reader hands them
 * out in slices, so that a whole decoded block is never in memory.
 */
#ifndef WIO_TRACE_FORMAT_COLUMN_H
#define WIO_TRACE_FORMAT_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/buf.h"

/* Append the encoded `count` > 0 values to `out`. */
WIO_MUST_CHECK enum wio_status wio_column_encode(const int64_t *values, size_t count,
                                                 struct wio_blob *out, uint8_t *encoding_out);

/* A column being read. Borrows the bytes given to wio_column_open. */
struct wio_column_reader {
    uint8_t encoding;
    uint8_t planes;     /* PLANES: how many */
    struct wio_buf buf; /* VARINT, RUNS: what is not read yet */
    size_t stride;      /* PLANES: values per plane */
    size_t next;        /* PLANES: index of the next value */
    uint64_t run_left;  /* RUNS */
    int64_t value;      /* CONST; RUNS: of this run */
};

/* A column that is missing from its block: zeros without end. */
void wio_column_zero(struct wio_column_reader *column);

/* WIO_ERR_FORMAT or WIO_ERR_TRUNCATED where the bytes cannot be such a column. */
WIO_MUST_CHECK enum wio_status wio_column_open(struct wio_column_reader *column, uint8_t encoding,
                                               const uint8_t *bytes, size_t size);

/* The next `count` values; WIO_ERR_TRUNCATED where there are not as many. */
WIO_MUST_CHECK enum wio_status wio_column_read(struct wio_column_reader *column, int64_t *values,
                                               size_t count);

/* True once every value has been read (a constant never ends). */
int wio_column_at_end(const struct wio_column_reader *column);

#endif
