/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a trace for the rooms that derive its edges. */
#ifndef WIO_SEAL_OPEN_H
#define WIO_SEAL_OPEN_H

#include <whyio/trace.h>

/* wio_trace_open without looking for stored edges. */
WIO_MUST_CHECK enum wio_status wio_trace_open_events(const char *path, struct wio_trace **trace_out,
                                                     struct wio_error *err);

#endif
