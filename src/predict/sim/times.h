/* SPDX-License-Identifier: Apache-2.0 */
/* When each event of a trace was in the simulation. Private to the room. */
#ifndef WIO_PREDICT_SIM_TIMES_H
#define WIO_PREDICT_SIM_TIMES_H

#include "predict/sim/sim.h"

/* Takes the times from the threads of the simulation. */
WIO_MUST_CHECK enum wio_status wio_predict_times_take(struct sim *sim,
                                                      struct wio_predict_times **times_out);
/* Accepts NULL. */
void wio_predict_times_free(struct wio_predict_times *times);

#endif
