/* SPDX-License-Identifier: Apache-2.0 */
/* What an explanation lacks, and what to do about it: its notes. Private to the room. */
#ifndef WIO_EXPLAIN_MISSING_H
#define WIO_EXPLAIN_MISSING_H

#include "explain/explain.h"

/* One more note, while there is room. */
void wio_explanation_note(struct wio_explanation *explanation, const char *fmt, ...)
    WIO_PRINTF(2, 3);

/* Notes on what the trace itself lacks: events, edges, sources, an end, what was not seen. */
void wio_explanation_see_missing(struct wio_explanation *explanation);

#endif
