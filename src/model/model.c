/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a model and checking what it is given. */
#include "model/model.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/model_internal.h"

static const struct wio_model_class *const classes[WIO_MODEL_KIND_COUNT] = {
    [WIO_MODEL_NAIVE] = &wio_model_naive,
    [WIO_MODEL_CAWL] = &wio_model_cawl,
    [WIO_MODEL_KERNEL] = &wio_model_kernel,
};

const char *wio_model_name(enum wio_model_kind kind)
{
    return (unsigned)kind < WIO_MODEL_KIND_COUNT ? classes[kind]->name : "";
}

enum wio_model_kind wio_model_find(const char *name)
{
    unsigned kind = 0;
    while (kind < WIO_MODEL_KIND_COUNT && strcmp(classes[kind]->name, name) != 0) {
        kind++;
    }
    return (enum wio_model_kind)kind;
}

const char *wio_model_state_name(enum wio_model_state state)
{
    static const char *const names[] = {"-", "free", "async", "throttle"};
    return (unsigned)state < WIO_ARRAY_SIZE(names) ? names[state] : "-";
}

enum wio_status wio_model_params_check_for(enum wio_model_kind kind,
                                           const struct wio_model_params *params,
                                           struct wio_error *err)
{
    WIO_PRE((unsigned)kind < WIO_MODEL_KIND_COUNT);
    WIO_TRY(wio_model_params_check(params, err));
    return wio_model_params_check_ranges(params, classes[kind]->ranges, err);
}

enum wio_status wio_model_create(enum wio_model_kind kind, const struct wio_model_params *params,
                                 const struct wio_alloc *alloc, struct wio_model **model_out,
                                 struct wio_error *err)
{
    WIO_TRY(wio_model_params_check_for(kind, params, err));
    struct wio_model *model = alloc->get(alloc->context, sizeof(*model));
    if (model == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    *model = (struct wio_model){.class = classes[kind],
                                .params = *params,
                                .alloc = *alloc,
                                .device_count = 1,
                                .steps_max = UINT64_MAX};
    if (model->class->init != NULL && model->class->init(model) != WIO_OK) {
        wio_model_destroy(model);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    *model_out = model;
    return WIO_OK;
}

enum wio_status wio_model_add_device(struct wio_model *model, const struct wio_model_params *params,
                                     struct wio_error *err)
{
    struct wio_model_params device = wio_model_params_of_device(&model->params, params);
    if (model->class->add_device == NULL) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                             "model '%s' knows one device only", model->class->name);
    }
    if (model->device_count == WIO_MODEL_DEVICES_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "more than %d devices",
                             WIO_MODEL_DEVICES_MAX);
    }
    WIO_TRY(wio_model_params_check(&device, err));
    WIO_TRY(wio_model_params_check_ranges(&device, model->class->ranges, err));
    if (model->class->add_device(model, &device) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    model->device_count++;
    return WIO_OK;
}

void wio_model_destroy(struct wio_model *model)
{
    if (model == NULL) {
        return;
    }
    wio_single_task_fini(model);
    if (model->class->fini != NULL) {
        model->class->fini(model);
    }
    model->alloc.put(model->alloc.context, model);
}

static enum wio_status check_size(const struct wio_model *model, const struct wio_model_op *op,
                                  struct wio_error *err)
{
    uint64_t most = model->class->size_max;
    bool moves = wio_model_flow(op->method) != WIO_MODEL_MOVES_NOTHING;
    if (most == 0 || op->size <= most || !moves) {
        return WIO_OK;
    }
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                         "%llu bytes are more than model '%s' takes at once: at most %llu",
                         (unsigned long long)op->size, model->class->name,
                         (unsigned long long)most);
}

void wio_model_limit_steps(struct wio_model *model, uint64_t steps)
{
    model->steps_max = steps;
    if (model->class->limit_steps != NULL) {
        model->class->limit_steps(model, steps);
    }
}

/* Of a class that does not count them. */
static bool has_steps(struct wio_model *model)
{
    return model->class->limit_steps != NULL || model->steps++ < model->steps_max;
}

static enum wio_status check_op(const struct wio_model *model, const struct wio_model_op *op,
                                struct wio_error *err)
{
    if (!(op->delay_s >= 0 && op->delay_s <= WIO_MODEL_DELAY_MAX_S)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "delay_s must be seconds from 0 to %g", WIO_MODEL_DELAY_MAX_S);
    }
    if (op->offset > WIO_MODEL_OFFSET_MAX || op->size > WIO_MODEL_OFFSET_MAX - op->offset) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "offset and size reach behind 2^53 bytes");
    }
    if ((unsigned)op->method >= WIO_MODEL_METHOD_COUNT) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "unknown method");
    }
    if (op->device >= model->device_count) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "unknown device");
    }
    return check_size(model, op, err);
}

static enum wio_status fail(const struct wio_model *model, enum wio_status status,
                            struct wio_error *err)
{
    if (status == WIO_ERR_UNSUPPORTED) {
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                             "the simulation takes more than %llu steps (--max-steps)",
                             (unsigned long long)model->steps_max);
    }
    return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET, "%s",
                         status == WIO_ERR_USAGE ? "the task is in an operation already"
                                                 : wio_status_text(status));
}

/* One task that computes for a while and then has the machine to itself. */
static enum wio_status step_tasks(struct wio_model *model, const struct wio_model_op *op,
                                  struct wio_model_result *result_out)
{
    struct wio_model_done done = {0};
    enum wio_status status = model->class->run(model, model->time_s + op->delay_s, &done);
    if (status != WIO_END) {
        return status == WIO_OK ? WIO_ERR_USAGE : status;
    }
    WIO_TRY(model->class->begin(model, 0, op));
    do {
        WIO_TRY(model->class->run(model, HUGE_VAL, &done));
    } while (done.is_asleep);
    *result_out = done.result;
    return WIO_OK;
}

enum wio_status wio_model_step(struct wio_model *model, const struct wio_model_op *op,
                               struct wio_model_result *result_out, struct wio_error *err)
{
    enum wio_status status;
    WIO_TRY(check_op(model, op, err));
    if (!has_steps(model)) {
        return fail(model, WIO_ERR_UNSUPPORTED, err);
    }
    *result_out = (struct wio_model_result){.state = WIO_MODEL_STATE_NONE};
    if (model->class->step != NULL) {
        status = model->class->step(model, op, result_out);
        result_out->time_s = model->time_s;
        model->serial.time_s += op->delay_s + result_out->cost_s;
        model->serial.free_s = model->serial.time_s;
    } else {
        status = step_tasks(model, op, result_out);
    }
    return status == WIO_OK ? WIO_OK : fail(model, status, err);
}

enum wio_status wio_model_begin(struct wio_model *model, uint32_t task,
                                const struct wio_model_op *op, struct wio_error *err)
{
    WIO_TRY(check_op(model, op, err));
    if (!has_steps(model)) {
        return fail(model, WIO_ERR_UNSUPPORTED, err);
    }
    enum wio_status status = model->class->begin != NULL ? model->class->begin(model, task, op)
                                                         : wio_single_task_begin(model, task, op);
    return status == WIO_OK ? WIO_OK : fail(model, status, err);
}

enum wio_status wio_model_run(struct wio_model *model, double until_s,
                              struct wio_model_done *done_out, struct wio_error *err)
{
    enum wio_status status = model->class->run != NULL
                                 ? model->class->run(model, until_s, done_out)
                                 : wio_single_task_run(model, until_s, done_out);
    return status == WIO_OK || status == WIO_END ? status : fail(model, status, err);
}

bool wio_model_tell_sleep(struct wio_model *model)
{
    if (model->class->tell_sleep == NULL) {
        return false;
    }
    model->class->tell_sleep(model);
    return true;
}

double wio_model_next(struct wio_model *model)
{
    return model->class->next != NULL ? model->class->next(model) : wio_single_task_next(model);
}

double wio_model_time(const struct wio_model *model)
{
    return model->class->run != NULL ? model->time_s : model->serial.time_s;
}
