/* SPDX-License-Identifier: Apache-2.0 */
/* What an existing trace directory holds, and removing an old trace from it. */
#ifndef WIO_RECORD_OLD_TRACE_H
#define WIO_RECORD_OLD_TRACE_H

#include <stdbool.h>

#include <whyio/status.h>

struct wio_old_trace {
    bool has_trace;    /* segments or rings, told by their first bytes */
    bool has_siblings; /* segments of recorders of the launch that was asked for */
    bool has_other;    /* anything else */
};

/* `launch` may be "": no siblings then. */
WIO_MUST_CHECK enum wio_status wio_old_trace_scan(const char *dir, const char *launch,
                                                  struct wio_old_trace *found_out,
                                                  struct wio_error *err);

/* How many recorders of the launch have sealed their rings into `dir`. */
unsigned wio_old_trace_finished(const char *dir, const char *launch);

/* A recorder is at work in `dir`: it holds flock(2) on its directory of rings (FORMAT.md R-RING-6).
 * False where that is on another host and the file system does not share locks. */
bool wio_old_trace_is_held(const char *dir);

/* Remove the segments, edges and raw/ of `dir`, and the local rings that raw/ leads to by a link of
 * its recorder (trace/format/trust.h); all else stays, the directory too, and what other links lead
 * to. A directory of another user is refused. */
WIO_MUST_CHECK enum wio_status wio_old_trace_remove(const char *dir, struct wio_error *err);

#endif
