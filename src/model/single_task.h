/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several tasks on a model that knows one: operations wait for each other in the order in which
 * they begin.
 */
#ifndef WIO_MODEL_SINGLE_TASK_H
#define WIO_MODEL_SINGLE_TASK_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "model/model.h"

struct wio_model;

/* A queue of operations that have been costed and not told of yet, in order of their end. */
struct wio_single_task {
    struct wio_model_done *waiting; /* a ring */
    size_t room;                    /* power of 2; 0 before the first */
    size_t head;
    size_t count;
    double time_s; /* as the caller sees it */
    double free_s; /* when the last of them has ended */
};

void wio_single_task_fini(struct wio_model *model);
WIO_MUST_CHECK enum wio_status wio_single_task_begin(struct wio_model *model, uint32_t task,
                                                     const struct wio_model_op *op);
WIO_MUST_CHECK enum wio_status wio_single_task_run(struct wio_model *model, double until_s,
                                                   struct wio_model_done *done);

double wio_single_task_next(const struct wio_model *model);

#endif
