/* SPDX-License-Identifier: Apache-2.0 */
/* Stripe layouts of files on Lustre (FORMAT.md R-FILE-1), as the recorder has read them. */
#ifndef WIO_REPORT_LAYOUTS_H
#define WIO_REPORT_LAYOUTS_H

#include <stdio.h>

#include <whyio/trace.h>

#include "base/json.h"

/* Of a file; "" where none is known. Borrowed from the trace. */
const char *wio_report_layout_of(const struct wio_trace *trace, const struct wio_file_info *file);

/* The member "layouts": each with the number of its files, the most first. */
void wio_report_layouts_json(struct wio_json *json, const struct wio_trace *trace);
/* The same as text; nothing where there are none. */
void wio_report_layouts_text(const struct wio_trace *trace, FILE *out);

#endif
