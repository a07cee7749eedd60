/* SPDX-License-Identifier: Apache-2.0 */
/* A tracer's state, and what its parts have of each other. */
#ifndef WIO_STORE_TRACE_TRACER_INTERNAL_H
#define WIO_STORE_TRACE_TRACER_INTERNAL_H

#include <limits.h>

#include "base/system/boot_id.h"
#include "store/trace/origins.h"
#include "store/trace/row_ring.h"
#include "store/trace/tracer.h"

/* A finished segment. */
struct finished {
    uint32_t number;
    uint64_t bytes;
};

struct wio_tracer {
    int dir; /* of a ring: -1 until it is flushed */
    char ring_dir[PATH_MAX];
    struct row_ring ring;
    uint64_t ring_written; /* rows of it, of all that it had */
    char name[128];
    char address[128];
    char boot_id[WIO_BOOT_ID_ROOM];
    uint16_t server;
    uint64_t max_bytes;
    uint64_t segment_ns;
    struct tracer_origins origins;
    struct wio_map files;        /* that the segment has */
    struct wio_segment *segment; /* NULL: none is being written */
    struct wio_txn_writer *writer;
    uint32_t number; /* of the segment */
    uint32_t rows;   /* in it */
    uint64_t base_ns;
    uint64_t (*now_ns)(void *context); /* may be NULL */
    void *clock_context;
    uint64_t last_ns;          /* of its last row */
    struct wio_txn_row *ended; /* RELEASE of this moment: behind the answers that belong to it */
    uint32_t ended_count;
    uint32_t ended_capacity;
    struct finished *finished;
    uint32_t finished_count;
    uint32_t finished_capacity;
    uint64_t finished_bytes;
    uint64_t removed;
    enum wio_status status; /* the first failure */
    struct wio_error failure;
};

/* ---- tracer_segments.c ---- */

/* The first failure counts: nothing is traced any more. */
void tracer_fail(struct wio_tracer *tracer, enum wio_status status, const struct wio_error *why);
/* A segment begins, at `base_ns` of the loop's clock, so long ago. */
WIO_MUST_CHECK enum wio_status tracer_begin(struct wio_tracer *tracer, uint64_t base_ns,
                                            uint64_t ago_ns, struct wio_error *err);
/* .. and ends, if there is one; the oldest ones go while all together are too large. */
WIO_MUST_CHECK enum wio_status tracer_finish(struct wio_tracer *tracer, struct wio_error *err);
/* Rows can be put now: into the segment, another one where it is full, or the ring. */
bool tracer_is_writing(struct wio_tracer *tracer, uint64_t now_ns);
/* Into the ring, while no segment is made of it; else into the segment. */
void tracer_put(struct wio_tracer *tracer, struct wio_txn_row *row, uint64_t now_ns);
/* Ends of an earlier moment: nothing that belongs before them comes any more. */
void tracer_put_ended(struct wio_tracer *tracer);
/* In a ring: the call site's number, as it came. The row says whose it is. */
uint32_t tracer_origin(struct wio_tracer *tracer, uint64_t client, uint32_t source);

#endif
