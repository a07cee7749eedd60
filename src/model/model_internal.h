/* SPDX-License-Identifier: Apache-2.0 */
/* What a model implements: a table of functions around a state of its own. */
#ifndef WIO_MODEL_MODEL_INTERNAL_H
#define WIO_MODEL_MODEL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"
#include "model/single_task.h"

struct wio_model {
    const struct wio_model_class *class;
    struct wio_model_params params;
    struct wio_alloc alloc;
    double time_s;
    uint32_t device_count;
    uint64_t steps; /* where the class does not count them */
    uint64_t steps_max;
    void *state; /* of the class; NULL where it needs none */
    struct wio_single_task serial;
};

#define WIO_MODEL_NO_PARAM SIZE_MAX

/* A parameter, by its place in the struct, and between which values it has to be. */
struct wio_model_range {
    size_t place;
    double least;
    double most;
};

struct wio_model_class {
    const char *name;
    /* What this model alone asks of parameters; NULL, or ended by a place of WIO_MODEL_NO_PARAM. */
    const struct wio_model_range *ranges;
    /* The longest read or write, where it goes through that piece by piece; 0: any. */
    uint64_t size_max;
    /* Make model->state; NULL where there is none. */
    enum wio_status (*init)(struct wio_model *model);
    void (*fini)(struct wio_model *model);
    /* NULL: knows one device. */
    enum wio_status (*add_device)(struct wio_model *model, const struct wio_model_params *params);
    /* A model knows tasks (begin, run and next, as wio_model_begin ..), or it does one
     * operation after the other (step, delay included). */
    enum wio_status (*begin)(struct wio_model *model, uint32_t task, const struct wio_model_op *op);
    enum wio_status (*run)(struct wio_model *model, double until_s, struct wio_model_done *done);
    double (*next)(struct wio_model *model);
    /* As wio_model_tell_sleep; NULL: it cannot tell. */
    void (*tell_sleep)(struct wio_model *model);
    /* As wio_model_limit_steps, of steps that the class counts; NULL: an operation is one. */
    void (*limit_steps)(struct wio_model *model, uint64_t steps);
    enum wio_status (*step)(struct wio_model *model, const struct wio_model_op *op,
                            struct wio_model_result *result);
};

extern const struct wio_model_class wio_model_naive;
extern const struct wio_model_class wio_model_cawl;
extern const struct wio_model_class wio_model_kernel;

WIO_MUST_CHECK enum wio_status wio_model_params_check_ranges(const struct wio_model_params *params,
                                                             const struct wio_model_range *ranges,
                                                             struct wio_error *err);
/* What belongs to a device from `device`, the rest from `machine`. */
struct wio_model_params wio_model_params_of_device(const struct wio_model_params *machine,
                                                   const struct wio_model_params *device);

/* What a direct or synchronous operation costs on an idle device: the equations of CAWL, sections
 * 4.2 and 4.3; a last block that is not full is read and written (cawl rule 1). */
double wio_model_bypass_cost(const struct wio_model_params *params, const struct wio_model_op *op,
                             bool is_random);

/* A table that is not empty, at a size; bw_dev where it cannot be continued. */
double wio_model_table_at(const struct wio_model_table *table, double bytes, double bw_dev);
#endif
