/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a target does for transactions, written as rows into segments of a trace
 * (trace/txn/txn.h; docs/FORMAT.md, section 7). One for each target, on its thread.
 *
 *     wio_tracer_create(&config, &tracer, err)
 *     server.watch = &wio_tracer_watch; server.watch_context = tracer;
 *     wio_tracer_client(tracer, hello); wio_tracer_source(tracer, client, define);
 *     ..
 *     wio_tracer_close(tracer, err)
 *
 * With ring_rows nothing is written by itself: the last rows are kept in memory, and
 * wio_tracer_flush makes a segment of them.
 *
 * A segment is finished and another one begun after WIO_TRACER_ROWS rows or segment_ns; when all
 * of this tracer take more than max_bytes the oldest are removed, and counted. A segment that
 * cannot be written ends the tracing, not the target: wio_tracer_close tells.
 */
#ifndef WIO_STORE_TRACE_TRACER_H
#define WIO_STORE_TRACE_TRACER_H

#include "store/server/server.h"
#include "store/wire/session.h"

#define WIO_TRACER_ROWS (1u << 20)
#define WIO_TRACER_NS UINT64_C(30000000000)

#define WIO_TRACER_CATALOGUE UINT16_MAX

struct wio_tracer;

struct wio_tracer_config {
    const char *dir;     /* is there, but with ring_rows; segments are DIR/NAME.N.seg */
    const char *name;    /* of this process and target: no other in DIR has it */
    const char *address; /* where clients reach the target; NULL: not known */
    uint16_t server;     /* its index; WIO_TRACER_CATALOGUE: it is none, and only tells of files */
    uint64_t max_bytes;  /* 0: 1 GiB */
    uint64_t segment_ns; /* 0: WIO_TRACER_NS */
    uint32_t ring_rows;  /* rows that are kept in memory; 0: all are written */
};

WIO_MUST_CHECK enum wio_status wio_tracer_create(const struct wio_tracer_config *config,
                                                 struct wio_tracer **tracer_out,
                                                 struct wio_error *err);
/* The loop's clock, to tell how long an answer took to make: the time that the target's logic has
 * is that of its call. Without one that is 0. */
void wio_tracer_clock(struct wio_tracer *tracer, uint64_t (*now_ns)(void *context), void *context);
/* Where requests of a client come from: its job, executable and host; its call sites, and the jobs
 * that they are made for (DEFINE_SOURCE, DEFINE_CALLER). Where there
 * is no memory, or there are too many, rows have no origin. */
void wio_tracer_client(struct wio_tracer *tracer, const struct wio_wire_hello *hello);
void wio_tracer_source(struct wio_tracer *tracer, uint64_t client,
                       const struct wio_store_request *define);
/* A parafile that was opened: its name and layout. */
void wio_tracer_file(struct wio_tracer *tracer, const struct wio_store_stat *stat, const char *path,
                     uint32_t path_bytes, uint64_t now_ns);
/* Its context is the tracer. */
extern const struct wio_server_watch wio_tracer_watch;

/* What was recorded up to now is in finished segments; of a ring, what it has and no earlier flush
 * has written. The directory of a ring is made here. Not an error: there is nothing. The tracer
 * goes on. */
WIO_MUST_CHECK enum wio_status wio_tracer_flush(struct wio_tracer *tracer, uint64_t now_ns,
                                                struct wio_error *err);
/* Finish the last segment; what a ring has goes; the tracer is gone, also after a failure. What
 * failed first is told. *removed_out (may be NULL): segments that were removed. NULL is allowed. */
WIO_MUST_CHECK enum wio_status wio_tracer_close(struct wio_tracer *tracer, uint64_t *removed_out,
                                                struct wio_error *err);

#endif
