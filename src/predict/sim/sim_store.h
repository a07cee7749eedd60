/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store in the simulation: reads and writes of files on a device that is one (machine/
 * host_store.h) are requests of clients, which are processes, to its targets. Both sides are those
 * of the store itself: a target admits requests, keeps and refuses them by a shard of src/admit,
 * and works on one at a time; a client waits for its window and tries again by admit/client.h.
 *
 * There is one store, of all hosts. Nothing of it is in a page cache, as in a mount
 * (whyio-mount(1)), and what moves no bytes takes no time.
 */
#ifndef WIO_PREDICT_SIM_SIM_STORE_H
#define WIO_PREDICT_SIM_SIM_STORE_H

#include "predict/sim/sim.h"

/* Once the hosts are there. WIO_ERR_USAGE: they describe different stores. */
WIO_MUST_CHECK enum wio_status sim_store_init(struct sim *sim, struct wio_error *err);
void sim_store_fini(struct sim *sim);

bool sim_store_has(const struct sim *sim, const struct sim_host *host, uint32_t device);
/* The operation of the task begins now. */
WIO_MUST_CHECK enum wio_status sim_store_begin(struct sim *sim, const struct sim_thread *thread,
                                               uint32_t task, const struct wio_model_op *op,
                                               struct wio_error *err);
/* When something happens in it; UINT64_MAX: never. */
uint64_t sim_store_next_ns(const struct sim *sim);
/* That happens. WIO_OK: an operation has ended; WIO_END: none has. */
WIO_MUST_CHECK enum wio_status sim_store_run(struct sim *sim, struct wio_model_done *done_out,
                                             struct wio_error *err);
/* What it came to. */
void sim_store_sum_up(const struct sim *sim, struct wio_predict_store *out);

#endif
