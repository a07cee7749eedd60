/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a directory of segments that may have raw rings, too (FORMAT.md R-DIR-3). This room knows
 * segments only: what becomes of rings is a function that the caller gives. The functions of
 * <whyio/trace.h> that open and check a trace are those of the room `seal`, which give its own.
 */
#ifndef WIO_TRACE_READ_OPENING_H
#define WIO_TRACE_READ_OPENING_H

#include <stdbool.h>

#include <whyio/trace.h>

/* What rings have become. */
struct wio_pending {
    int fd;         /* a segment in memory that the caller owns, -1 where there is none */
    bool has_rings; /* it holds what rings say; else only what is wrong with the directory */
    bool is_live;   /* the trace is still being recorded */
};

/*
 * If `dir` has rings: make a segment of them, in it or in memory. May be called several times, as
 * long as segments come and go while they are listed. `progress` may be NULL.
 */
typedef enum wio_status wio_pending_fn(int at, const char *dir, wio_progress_fn *progress,
                                       void *progress_arg, struct wio_pending *pending_out,
                                       struct wio_error *err);

struct wio_opening {
    wio_pending_fn *pending;
    wio_progress_fn *progress; /* may be NULL: as of wio_trace_open_progress */
    void *progress_arg;
};

/* As wio_trace_open_progress: with the edges that are stored for the trace. */
WIO_MUST_CHECK enum wio_status wio_trace_load(const char *path, const struct wio_opening *opening,
                                              struct wio_trace **trace_out, struct wio_error *err);
/* Without looking for stored edges. */
WIO_MUST_CHECK enum wio_status wio_trace_load_events(const char *path,
                                                     const struct wio_opening *opening,
                                                     struct wio_trace **trace_out,
                                                     struct wio_error *err);
/* The segments, none of them read. *trace_out is the caller's to close, also on failure; NULL where
 * there is no memory. */
WIO_MUST_CHECK enum wio_status wio_trace_list(const char *path, const struct wio_opening *opening,
                                              struct wio_trace **trace_out, struct wio_error *err);
/* As wio_trace_check. */
WIO_MUST_CHECK enum wio_status wio_trace_verify(const char *path, const struct wio_opening *opening,
                                                wio_fault_fn *fault, void *arg,
                                                struct wio_error *err);

#endif
