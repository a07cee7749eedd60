/* SPDX-License-Identifier: Apache-2.0 */
/* Rings that a trace directory still has when it is opened: sealed first (FORMAT.md R-DIR-3). */
#ifndef WIO_TRACE_PENDING_H
#define WIO_TRACE_PENDING_H

#include <stdbool.h>

#include <whyio/trace.h>

/*
 * If the directory has rings: seal them into a new segment of it, or, where it may not be written,
 * processes still run or a recorder is at work, into memory: then *fd_out is a segment that the
 * caller owns, else -1. *live_out: the trace is still being recorded. `progress` may be NULL.
 */
WIO_MUST_CHECK enum wio_status wio_pending_seal(const char *dir, wio_progress_fn *progress,
                                                void *progress_arg, int *fd_out, bool *live_out,
                                                struct wio_error *err);

#endif
