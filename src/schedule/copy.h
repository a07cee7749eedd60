/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace again, with other times: a replay or a prediction as a trace of its own. Processes,
 * threads, paths and the begin of the run are copied, and those events that the caller wants; not
 * the state of files, nor where in the source calls were made, nor edges, which can be derived
 * anew.
 */
#ifndef WIO_SCHEDULE_COPY_H
#define WIO_SCHEDULE_COPY_H

#include <stdbool.h>

#include <whyio/event.h>
#include <whyio/status.h>
#include <whyio/trace.h>

/* Called with a copy of each event, one stream after the other, in the order of the stream. Changes
 * its times and results; false leaves it out. Begins must not go back within a stream. */
typedef bool wio_copy_event_fn(void *arg, struct wio_event *event);

/* Write the segment `path`. WIO_ERR_IO naming it where it cannot be written. */
WIO_MUST_CHECK enum wio_status wio_trace_copy(const struct wio_trace *trace, const char *path,
                                              wio_copy_event_fn *change, void *arg,
                                              struct wio_error *err);

#endif
