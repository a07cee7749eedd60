/* SPDX-License-Identifier: Apache-2.0 */
/* What an existing trace directory holds, and removing an old trace from it. */
#ifndef WIO_RECORD_OLD_TRACE_H
#define WIO_RECORD_OLD_TRACE_H

#include <stdbool.h>

#include <whyio/status.h>

/* Local directories of rings, to which raw/<name> is a link, are called so. */
#define WIO_LOCAL_RINGS_PREFIX "whyio-rings-"

struct wio_old_trace {
    bool has_trace;    /* segments or rings, told by their first bytes */
    bool has_siblings; /* segments of recorders of the launch that was asked for */
    bool has_other;    /* anything else */
};

/* `launch` may be "": no siblings then. */
WIO_MUST_CHECK enum wio_status wio_old_trace_scan(const char *dir, const char *launch,
                                                  struct wio_old_trace *found_out,
                                                  struct wio_error *err);

/* Remove the segments and raw/ of `dir`; all else stays, the directory too. */
WIO_MUST_CHECK enum wio_status wio_old_trace_remove(const char *dir, struct wio_error *err);

#endif
