/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operation as a person reads it, in the manner of strace:
 *
 *     open("/d/a", O_RDWR|O_CREAT, 0644) = fd 3
 *     pwrite(fd 3 "/d/a", 4096 B, at 8192 B) = 4096 B
 *     rename("/d/a", "/d/b") = EACCES
 *
 * Every number carries its unit; what is not known is left out.
 */
#ifndef WIO_REPORT_EVENT_TEXT_H
#define WIO_REPORT_EVENT_TEXT_H

#include <whyio/trace.h>

#include "report/line.h"

/* Append the operation of `event`, without a line end. */
void wio_event_text(struct wio_line *line, const struct wio_trace *trace,
                    const struct wio_event *event);

#endif
