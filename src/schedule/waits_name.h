/* SPDX-License-Identifier: Apache-2.0 */
/* Waits as text, for messages. */
#ifndef WIO_SCHEDULE_WAITS_NAME_H
#define WIO_SCHEDULE_WAITS_NAME_H

#include "schedule/waits.h"

#define WIO_NAME_MAX 320u

/* "rank 1 (pid 12, thread 12) at event 7 (MPI_Recv) waits for rank 0 (pid 11, thread 11) to get
 * past event 4 (mpi message)". `text` has WIO_NAME_MAX bytes and is returned. */
const char *wio_name_wait(const struct wio_waits *waits, uint32_t stream, const struct wio_act *act,
                          char *text);

/* "rank 1 (pid 12, thread 12)" */
const char *wio_name_stream(const struct wio_trace *trace, uint32_t stream, char *text);

#endif
