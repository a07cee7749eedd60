/* SPDX-License-Identifier: Apache-2.0 */
/* Contended locks and queues: those that a thread shares with others. */
#ifndef WIO_THROTTLE_RULES_CONTENDED_LOCK_H
#define WIO_THROTTLE_RULES_CONTENDED_LOCK_H

#include <whyio/trace.h>

enum { WIO_TURNS_NAME_BYTES = 256 };

/*
 * The lock or queue that the streams that `is_mine` names share with others, as `whyio edges` calls
 * it; "" where there is none. Of several the one of which they had their turn last before operation
 * `seq`, else next behind it. Told by what was observed, whatever edges the trace has stored: reads
 * all its events again.
 */
WIO_MUST_CHECK enum wio_status wio_turns_find(const struct wio_trace *trace, const bool *is_mine,
                                              uint64_t seq, char name[WIO_TURNS_NAME_BYTES],
                                              struct wio_error *err);

#endif
