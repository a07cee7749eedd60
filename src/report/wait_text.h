/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of an operation of threads or processes that wait for each other, as text. */
#ifndef WIO_REPORT_WAIT_TEXT_H
#define WIO_REPORT_WAIT_TEXT_H

#include <stdbool.h>

#include <whyio/event.h>

#include "report/line.h"

/* False, and nothing is written, for all other classes. `has_any`: a comma comes first. */
bool wio_wait_text(struct wio_line *line, const struct wio_event *event, bool has_any);

#endif
