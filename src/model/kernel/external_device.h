/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device outside the model: a simulator that has disks of its own lets its disk do what the
 * model's device would do, and others on that disk slow the model down.
 *
 * Write-back: the model says how many bytes it has handed to the device, the simulator's disk
 * writes them and grants what it may have written. The model's device keeps its own time (bw_dev
 * is how fast it is alone) but ends nothing that is not granted. What an operation does with the
 * device itself (reads of what is not in memory, direct and synchronous writes) is not in cost_s:
 * result.device_s is for the disk to do, all of the bytes at bw_dev, however fast a table says
 * that they pass (what a table does not have, as a seek, is in cost_s); nothing is read ahead.
 *
 * Only `kernel` has such a device, and no other beside it. The functions belong to the thread of
 * the model.
 */
#ifndef WIO_MODEL_KERNEL_EXTERNAL_DEVICE_H
#define WIO_MODEL_KERNEL_EXTERNAL_DEVICE_H

#include <stdint.h>

#include <whyio/status.h>

#include "model/model.h"

struct wio_model_outside {
    uint64_t asked_bytes; /* handed to the device by write-back, ever */
    double look_s;        /* when the flusher looks for old data next; infinite: no need */
    double dirty_bytes;   /* in the page cache or under write-back */
};

/* The device is outside from now on, with nothing granted. For a model in which nothing has
 * happened yet. WIO_ERR_UNSUPPORTED where the model cannot. */
WIO_MUST_CHECK enum wio_status wio_model_outside_init(struct wio_model *model,
                                                      struct wio_error *err);
/* As of wio_model_time. */
struct wio_model_outside wio_model_outside_ask(const struct wio_model *model);
/* From wio_model_time on the device may have written so many bytes, ever. */
void wio_model_outside_grant(struct wio_model *model, uint64_t bytes);
/* Before this time the operation of the task neither ends nor goes on; infinite: not before
 * something is granted, or there is none. It may be put off later, never brought forward except by
 * a grant. */
double wio_model_outside_wake(struct wio_model *model, uint32_t task);

#endif
