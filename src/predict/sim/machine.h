/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine of a prediction: the description of a host, and the models that say what operations on
 * it cost. The kernel model knows several devices below one page cache; of a model that knows one
 * device each device has its own.
 */
#ifndef WIO_PREDICT_SIM_MACHINE_H
#define WIO_PREDICT_SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "machine/host.h"
#include "model/model.h"
#include "predict/budget.h"
#include "predict/predict.h"

/* The memory group that the program ran in: it goes with the program, whatever the machine. */
struct wio_machine_group {
    bool is_known; /* else the machine's description says it */
    double limit;  /* bytes; WIO_MODEL_UNLIMITED: none */
    double used;   /* of it, what are no pages of files */
    double version;
};

/* Zero-initialise; release with wio_machine_fini. */
struct wio_machine {
    struct wio_host host;
    double spread;                                   /* of bw_dev, the largest; 0: not known */
    struct wio_model *models[WIO_MODEL_DEVICES_MAX]; /* owned; the first `model_count` */
    uint32_t model_count;                            /* 1, or one per device */
    double time_s;                                   /* of wio_machine_step */
    struct wio_alloc alloc;                          /* of the models */
    uint64_t steps_max;
};

/* From HOST.json, changed by the what-if; its models take their memory from `budget`, and as many
 * steps as `params` let. After an error it may only be released. */
WIO_MUST_CHECK enum wio_status wio_machine_init(struct wio_machine *machine, const char *path,
                                                const struct wio_predict_params *params,
                                                const struct wio_machine_group *group,
                                                struct wio_budget *budget, struct wio_error *err);
void wio_machine_fini(struct wio_machine *machine);

/* What the machines of a prediction may take together. */
struct wio_budget wio_predict_budget(const struct wio_predict_params *params);

/* Make `op` one on a file of this device (wio_host_device_of). Which model it is for. */
uint32_t wio_machine_aim(const struct wio_machine *machine, uint32_t device,
                         struct wio_model_op *op);

/* wio_model_step on the device of the op's file: one operation after the other. */
WIO_MUST_CHECK enum wio_status wio_machine_step(struct wio_machine *machine, uint32_t device,
                                                const struct wio_model_op *op,
                                                struct wio_model_result *result_out,
                                                struct wio_error *err);

#endif
