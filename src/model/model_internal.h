/* SPDX-License-Identifier: Apache-2.0 */
/* What a model implements: a table of functions around a state of its own. */
#ifndef WIO_MODEL_MODEL_INTERNAL_H
#define WIO_MODEL_MODEL_INTERNAL_H

#include "model/model.h"

struct wio_model {
    const struct wio_model_class *class;
    struct wio_model_params params;
    struct wio_alloc alloc;
    double time_s;
    void *state; /* of the class; NULL where it needs none */
};

struct wio_model_class {
    const char *name;
    /* Make model->state; NULL where there is none. */
    enum wio_status (*init)(struct wio_model *model);
    void (*fini)(struct wio_model *model);
    enum wio_status (*step)(struct wio_model *model, const struct wio_model_op *op,
                            struct wio_model_result *result);
};

extern const struct wio_model_class wio_model_naive;
extern const struct wio_model_class wio_model_cawl;

#endif
