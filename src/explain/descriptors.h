/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With which flags the descriptors of a trace's processes are open, at the event at hand: what the
 * room `state` knows, for the processes and names of a trace.
 *
 * Memory: that of the state. Thread safety: none.
 */
#ifndef WIO_EXPLAIN_DESCRIPTORS_H
#define WIO_EXPLAIN_DESCRIPTORS_H

#include <whyio/event.h>
#include <whyio/status.h>
#include <whyio/trace.h>

struct wio_descriptors;

/* `trace` must outlive the object, which the caller owns. Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_descriptors_create(const struct wio_trace *trace,
                                                      struct wio_descriptors **descriptors_out);
/* Accepts NULL. */
void wio_descriptors_destroy(struct wio_descriptors *descriptors);
/* The next event of the trace, in order of begin. Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_descriptors_event(struct wio_descriptors *descriptors,
                                                     const struct wio_event *event);
/* Flags of open(2) of the event's descriptor, as fcntl has changed them; 0 where none are known. */
int wio_descriptors_flags(const struct wio_descriptors *descriptors, const struct wio_event *event);

#endif
