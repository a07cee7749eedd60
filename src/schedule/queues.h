/* SPDX-License-Identifier: Apache-2.0 */
/* Which queues are replayed in any order (waits.h). For waits_scan.c only. */
#ifndef WIO_SCHEDULE_QUEUES_H
#define WIO_SCHEDULE_QUEUES_H

#include "schedule/waits.h"

/* Edges of queues that are not, become edges like any other. `changed_out`: there are such, the
 * acts are to be built again. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_queues_order(struct wio_waits *waits, bool *changed_out);

#endif
