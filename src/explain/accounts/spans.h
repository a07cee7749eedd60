/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of a file were touched: at most WIO_SPANS intervals. When there would be more, the
 * smallest is forgotten: what is found to be covered is covered, what is not may be.
 */
#ifndef WIO_EXPLAIN_SPANS_H
#define WIO_EXPLAIN_SPANS_H

#include <stdint.h>

#define WIO_SPANS 4u

struct wio_spans {
    uint64_t begin[WIO_SPANS];
    uint64_t end[WIO_SPANS]; /* == begin: unused */
};

/* Bytes of [begin, end) that are covered. */
uint64_t wio_spans_covered(const struct wio_spans *spans, uint64_t begin, uint64_t end);
/* What is left of an interval on both sides is kept on the longer one. */
void wio_spans_remove(struct wio_spans *spans, uint64_t begin, uint64_t end);
void wio_spans_add(struct wio_spans *spans, uint64_t begin, uint64_t end);

#endif
