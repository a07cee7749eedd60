/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine of a prediction: the description of a host, and the models that say what operations on
 * it cost. The kernel model knows several devices below one page cache; of a model that knows one
 * device each device has its own.
 */
#ifndef WIO_PREDICT_MACHINE_H
#define WIO_PREDICT_MACHINE_H

#include <stdint.h>

#include <whyio/status.h>

#include "model/model.h"
#include "predict/host.h"
#include "predict/predict.h"

/* Zero-initialise; release with wio_machine_fini. */
struct wio_machine {
    struct wio_host host;
    struct wio_model *models[WIO_MODEL_DEVICES_MAX]; /* owned; the first `model_count` */
    uint32_t model_count;                            /* 1, or one per device */
    double time_s;                                   /* of wio_machine_step */
};

/* From HOST.json, changed by the what-if. After an error it may only be released. */
WIO_MUST_CHECK enum wio_status wio_machine_init(struct wio_machine *machine, const char *path,
                                                enum wio_model_kind kind,
                                                const struct wio_predict_whatif *whatif,
                                                struct wio_error *err);
void wio_machine_fini(struct wio_machine *machine);

/* Make `op` one on a file of this device (wio_host_device_of). Which model it is for. */
uint32_t wio_machine_aim(const struct wio_machine *machine, uint32_t device,
                         struct wio_model_op *op);

/* wio_model_step on the device of the op's file: one operation after the other. */
WIO_MUST_CHECK enum wio_status wio_machine_step(struct wio_machine *machine, uint32_t device,
                                                const struct wio_model_op *op,
                                                struct wio_model_result *result_out,
                                                struct wio_error *err);

#endif
