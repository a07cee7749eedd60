/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stored edges beside the events: for each stream the rows in the order of its events, a batch
 * at a time, so that memory is bounded also with ten thousand streams.
 *
 *     if (wio_edge_rows_next(&rows, stream) <= seq) { row = wio_edge_rows_take(&rows, stream, seq)
 * }
 */
#ifndef WIO_EXPLAIN_EDGE_ROWS_H
#define WIO_EXPLAIN_EDGE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/edges.h>

/* An edge into the stream, a member of a collective, or a poll loop. */
struct wio_edge_link {
    uint64_t seq;       /* edge: of `to`; member: enter; poll loop: first */
    uint64_t other_seq; /* edge: of `from`; member: leave; poll loop: last */
    uint32_t other;     /* edge: stream of `from`; member: the collective */
    uint32_t object;
    uint32_t members;
    uint32_t stream;
    uint8_t edge_class;
    uint8_t evidence;
    bool gives;
    bool takes;
};

struct wio_edge_batch;

/* Release with wio_edge_rows_fini. Without a file there are no rows. */
struct wio_edge_rows {
    const struct wio_edge_file *file;
    enum wio_edge_kind kind; /* IN, MEMBERS, WAITS */
    struct wio_edge_batch *batches;
    uint64_t *next; /* of each stream: seq of its next row, UINT64_MAX = none */
    uint32_t streams;
    uint32_t batch_rows;
};

/* `file` (may be NULL) is borrowed. Reads the first batch of each stream: of `batch_rows`, 0 = so
 * many that all streams together hold some megabytes. */
WIO_MUST_CHECK enum wio_status wio_edge_rows_init(struct wio_edge_rows *rows,
                                                  const struct wio_edge_file *file,
                                                  enum wio_edge_kind kind, uint32_t streams,
                                                  uint32_t batch_rows, struct wio_error *err);
void wio_edge_rows_fini(struct wio_edge_rows *rows);

static inline uint64_t wio_edge_rows_next(const struct wio_edge_rows *rows, uint32_t stream)
{
    return rows->next[stream];
}

/* The next row of `stream`, borrowed until the next take; NULL where there is none. */
const struct wio_edge_link *wio_edge_rows_peek(const struct wio_edge_rows *rows, uint32_t stream);

/* The next row of `stream` whose seq is `seq`; those before are passed over. WIO_END where there is
 * none. `link_out` is a copy. */
WIO_MUST_CHECK enum wio_status wio_edge_rows_take(struct wio_edge_rows *rows, uint32_t stream,
                                                  uint64_t seq, struct wio_edge_link *link_out,
                                                  struct wio_error *err);

#endif
