/* SPDX-License-Identifier: Apache-2.0 */
/* The table form of a dump: one operation a line, aligned. Private to the room. */
#ifndef WIO_REPORT_DUMP_TEXT_H
#define WIO_REPORT_DUMP_TEXT_H

#include <stdbool.h>

#include <whyio/source.h>
#include <whyio/trace.h>

#include "report/line.h"

void wio_dump_text_heading(struct wio_line *line);
void wio_dump_text(struct wio_line *line, const struct wio_trace *trace,
                   struct wio_sources *sources, const struct wio_event *event);

/* A duration is unknown where the call never returned, and where measuring would have cost more
 * than the call itself. */
bool wio_dump_has_duration(const struct wio_event *event);

#endif
