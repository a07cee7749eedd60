/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of a thread up to where its operation begins (enum sim_phase). Each sets the next one
 * and gives true if that can begin at once; else the thread is woken when it can.
 */
#ifndef WIO_PREDICT_SIM_SIM_PHASE_H
#define WIO_PREDICT_SIM_SIM_PHASE_H

#include "predict/sim/sim.h"

/* REACH: the time since the event before goes by, but for what it computed. */
bool sim_phase_reach(struct sim *sim, struct sim_thread *thread, const struct wio_event *event);
/* COMPUTE: what it computed, on a processor. */
bool sim_phase_compute(struct sim *sim, struct sim_thread *thread);
/* BEGIN: the call begins; a lock that it leaves is free. */
bool sim_phase_begin(struct sim *sim, struct sim_thread *thread, const struct wio_event *event);
/* WAITS: for others, as the edges say. */
bool sim_phase_wait(struct sim *sim, struct sim_thread *thread, const struct wio_event *event);
/* LOCK: takes the lock that it asks for. */
bool sim_phase_lock(struct sim *sim, struct sim_thread *thread, const struct wio_event *event);
/* READY: its waits are accounted for. */
bool sim_phase_ready(struct sim *sim, struct sim_thread *thread, const struct wio_event *event);

#endif
