/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row of a block of edges as numbers, each relative to the row before it (FORMAT.md#edges).
 * The numbers of a kind stand in the order of the document:
 *
 *     EDGES_IN, EDGES_OUT   own stream, own seq, other stream, other seq, object, tag
 *     MEMBERS               stream, enter, leave - enter, collective, object, members, givers, role
 *     COLLECTIVES           collective, stream, enter, leave - enter, object, members, givers, role
 *     WAITS                 stream, first, last - first, looks
 */
#ifndef WIO_TRACE_EDGES_EDGE_ROWS_H
#define WIO_TRACE_EDGES_EDGE_ROWS_H

#include <whyio/edges.h>

#include "base/buf.h"
#include "trace/format/format.h"

#define WIO_EDGE_NUMBERS 8u

struct wio_edge_numbers {
    uint64_t at[WIO_EDGE_NUMBERS];
};

/* Append `now` behind `before`, or as the first row of a block (`before` then holds the head's
 * first stream or collective and zeros). `kind`: EDGES_IN .. WAITS. */
WIO_MUST_CHECK enum wio_status wio_edge_numbers_put(struct wio_blob *out, enum wio_block_kind kind,
                                                    bool is_first,
                                                    const struct wio_edge_numbers *before,
                                                    const struct wio_edge_numbers *now);
/* The next row; *row holds the one before it and becomes the next one. */
WIO_MUST_CHECK enum wio_status wio_edge_numbers_get(struct wio_buf *buf, enum wio_block_kind kind,
                                                    bool is_first, struct wio_edge_numbers *row);

/* Does `a` come before `b`, or are they equal, in the order of its kind? R-EDGE-3. */
bool wio_edge_numbers_ordered(const struct wio_edge_numbers *a, const struct wio_edge_numbers *b);

/* Rows of the public interface to numbers and back; `kind` is EDGES_IN or EDGES_OUT, MEMBERS or
 * COLLECTIVES. What comes back from a file is to be checked. */
struct wio_edge_numbers wio_edge_numbers_of_edge(enum wio_block_kind kind,
                                                 const struct wio_edge_row *row);
struct wio_edge_numbers wio_edge_numbers_of_member(enum wio_block_kind kind,
                                                   const struct wio_member_row *row);
struct wio_edge_numbers wio_edge_numbers_of_wait(const struct wio_wait_row *row);

/* What a row may name. */
struct wio_edge_bounds {
    uint64_t streams;
    uint64_t objects;     /* the largest */
    uint64_t collectives; /* how many */
};
/* False where the numbers make no row. */
bool wio_edge_of_numbers(enum wio_block_kind kind, const struct wio_edge_numbers *numbers,
                         const struct wio_edge_bounds *bounds, struct wio_edge_row *row_out);
bool wio_member_of_numbers(enum wio_block_kind kind, const struct wio_edge_numbers *numbers,
                           const struct wio_edge_bounds *bounds, struct wio_member_row *row_out);
bool wio_wait_of_numbers(const struct wio_edge_numbers *numbers,
                         const struct wio_edge_bounds *bounds, struct wio_wait_row *row_out);

#endif
