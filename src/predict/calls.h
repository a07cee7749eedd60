/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of semop(2) that add units and take some: an event each (R-SYNC-6), in the trace those that
 * take first, whatever their order in the call was. All of them are done at once, so what the call
 * adds is there for what it takes. Fed with the events of each stream in their order, then asked.
 */
#ifndef WIO_PREDICT_CALLS_H
#define WIO_PREDICT_CALLS_H

#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>

#include "base/map.h"

/* Zero-initialise, then wio_calls_init; release with wio_calls_fini. */
struct wio_calls {
    struct wio_map last; /* stream and first event of a call -> its last event that adds units */
    uint64_t *seqs;      /* of each stream, the first event of the call that is being read */
};

WIO_MUST_CHECK enum wio_status wio_calls_init(struct wio_calls *calls, uint32_t streams);
void wio_calls_fini(struct wio_calls *calls);
WIO_MUST_CHECK enum wio_status wio_calls_see(struct wio_calls *calls,
                                             const struct wio_event *event);
/* The last event that adds units of the call of `stream` that began with event `seq`; `seq` where
 * there is none. */
uint64_t wio_calls_last(const struct wio_calls *calls, uint32_t stream, uint64_t seq);

#endif
