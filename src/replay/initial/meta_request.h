/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about names and attributes (io_uring) as the calls that do the same. */
#ifndef WIO_REPLAY_INITIAL_META_REQUEST_H
#define WIO_REPLAY_INITIAL_META_REQUEST_H

#include <stdbool.h>

#include <whyio/event.h>

/* The same event as a call: its operation and arguments are those of open, statx, rename, .. False
 * where it is no such request, or of a kind that is not performed. Pure. */
bool rp_request_call(const struct wio_event *request, struct wio_event *call_out);

/* Is it a request that is performed as a call? Pure. */
bool rp_is_request_call(const struct wio_event *event);

#endif
