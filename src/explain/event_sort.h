/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in order of their durations, the longest first, of equal ones the earlier, in bounded
 * memory: runs that do not fit go to a file without a name, and are merged.
 *
 *     struct wio_event_sort *sort;
 *     WIO_TRY(wio_event_sort_create(0, &sort, err));
 *     WIO_TRY(wio_event_sort_add(sort, &event, err));       ..
 *     WIO_TRY(wio_event_sort_finish(sort, err));
 *     while ((status = wio_event_sort_next(sort, &event, err)) == WIO_OK) { .. }
 *     wio_event_sort_destroy(sort);
 *
 * The file is made in $TMPDIR, else in /tmp, when the first run is full; it takes as many bytes as
 * the events. Thread safety: one thread per object.
 */
#ifndef WIO_EXPLAIN_EVENT_SORT_H
#define WIO_EXPLAIN_EVENT_SORT_H

#include <stddef.h>

#include <whyio/event.h>
#include <whyio/status.h>

#define WIO_EVENT_SORT_BYTES ((size_t)64 << 20)

struct wio_event_sort;

/* `bytes` of memory for events, 0 = WIO_EVENT_SORT_BYTES. The caller owns the result. */
WIO_MUST_CHECK enum wio_status wio_event_sort_create(size_t bytes, struct wio_event_sort **sort_out,
                                                     struct wio_error *err);
/* Accepts NULL. */
void wio_event_sort_destroy(struct wio_event_sort *sort);

WIO_MUST_CHECK enum wio_status wio_event_sort_add(struct wio_event_sort *sort,
                                                  const struct wio_event *event,
                                                  struct wio_error *err);
/* No event follows. */
WIO_MUST_CHECK enum wio_status wio_event_sort_finish(struct wio_event_sort *sort,
                                                     struct wio_error *err);
/* WIO_END behind the last. The event is valid until the next call. */
WIO_MUST_CHECK enum wio_status wio_event_sort_next(struct wio_event_sort *sort,
                                                   const struct wio_event **event_out,
                                                   struct wio_error *err);

#endif
