/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the trace that a command reads, and for WIO_CLEANUP: closing it and what was made of it,
 * whichever way the command leaves. */
#ifndef WHYIO_HANDLES_H
#define WHYIO_HANDLES_H

#include <whyio/trace.h>

#include "explain/compare/compare.h"
#include "options.h"

/* wio_trace_open_progress with a bar while rings are sealed that a killed recorder left. */
WIO_MUST_CHECK enum wio_status cmd_trace_open(const char *dir, const struct cmd_options *options,
                                              struct wio_trace **trace_out, struct wio_error *err);

/* Tell of edges that cannot be read or, where `reason` (NULL: none) is an error, derived: for
 * commands that show a trace without them, too. */
void cmd_trace_tell_edges(const struct wio_trace *trace, const struct wio_error *reason);

/* wio_join with a bar: the trace has edges afterwards. */
WIO_MUST_CHECK enum wio_status
cmd_trace_join(struct wio_trace *trace, const struct cmd_options *options, struct wio_error *err);

/* The same for a command that shows edges beside much else: only where the recorder observed how
 * threads wait for each other, no event was dropped and the program has ended. Otherwise there are
 * edges if some are stored. What went wrong is left in *reason_out, whose status is WIO_OK else. */
void cmd_trace_join_observed(struct wio_trace *trace, const struct cmd_options *options,
                             struct wio_error *reason_out);

static inline void cmd_trace_cleanup(struct wio_trace **trace)
{
    wio_trace_close(*trace);
}

static inline void cmd_comparison_cleanup(struct wio_comparison **comparison)
{
    wio_comparison_destroy(*comparison);
}

#endif
