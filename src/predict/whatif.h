/* SPDX-License-Identifier: Apache-2.0 */
/* What a what-if changes: the machine, the way to write. Pure. Private to the room. */
#ifndef WIO_PREDICT_WHATIF_H
#define WIO_PREDICT_WHATIF_H

#include "predict/predict.h"

void wio_whatif_machine(const struct wio_predict_whatif *whatif, struct wio_model_params *machine);

/* Both are about writes but those of stdio, and have nothing to do with each other. */
enum wio_model_method wio_whatif_method(const struct wio_predict_whatif *whatif,
                                        enum wio_model_method method);

/* The number that the what-if sets, in the machine and in all of its devices. WIO_ERR_USAGE for a
 * key that HOST.json does not have, and for a value that is none for cpus or the network. */
WIO_MUST_CHECK enum wio_status wio_whatif_set(const struct wio_predict_whatif *whatif,
                                              struct wio_host *host, struct wio_error *err);

/* bw_dev of all devices, off by its spread as `spread` says. Returns the largest spread. */
double wio_whatif_spread(const struct wio_predict_whatif *whatif, struct wio_host *host);

#endif
