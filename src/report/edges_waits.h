/* SPDX-License-Identifier: Apache-2.0 */
/* The longest waits, as text: what the edges of a trace cost. Private to the room. */
#ifndef WIO_REPORT_EDGES_WAITS_H
#define WIO_REPORT_EDGES_WAITS_H

#include <stdio.h>

#include "report/edges.h"

WIO_MUST_CHECK enum wio_status wio_report_waits(const struct wio_trace *trace,
                                                const struct wio_edges_report *report, FILE *out,
                                                struct wio_error *err);

#endif
