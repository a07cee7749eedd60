/* SPDX-License-Identifier: Apache-2.0 */
/* A file of edges at random, for the streams of a trace. */
#ifndef WIO_TESTS_EDGE_FIXTURE_H
#define WIO_TESTS_EDGE_FIXTURE_H

#include "trace/edges/edge_file.h"

struct edge_rows {
    struct wio_edge_row *edges; /* by `to` */
    size_t edge_count;
    struct wio_member_row *members; /* by collective */
    size_t member_count;
    struct wio_wait_row *waits;
    size_t wait_count;
};

/* Rows between events that exist; about `count` edges, collectives of all streams, some waits. */
struct edge_rows random_edge_rows(const struct wio_trace *trace, size_t count, uint64_t seed);
void edge_rows_fini(struct edge_rows *rows);

/* Write them as DIR/trace.edges with objects "object 1" .. "object 9". `clock` may be NULL. Fails
 * the test on any error. */
void write_edge_rows(const struct wio_trace *trace, const struct edge_rows *rows,
                     const struct wio_clock_row *clock);

#endif
