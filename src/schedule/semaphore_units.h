/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores that several threads take from (waits.h). For waits_scan.c only. */
#ifndef WIO_SCHEDULE_SEMAPHORE_UNITS_H
#define WIO_SCHEDULE_SEMAPHORE_UNITS_H

#include "schedule/waits.h"

/* Keep what happens to semaphores; other events are passed over. `call`: that the event is part of.
 * `edge`: the one of class queue that ends here, UINT32_MAX = none. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_tokens_see(struct wio_waits *waits,
                                              const struct wio_event *event,
                                              const struct wio_semop_call *call, uint32_t image,
                                              uint32_t edge);
/* After the last event: number the queues and count what each held at first. */
WIO_MUST_CHECK enum wio_status wio_tokens_settle(struct wio_waits *waits);

#endif
