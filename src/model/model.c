/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a model and checking what it is given. */
#include "model/model.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/model_internal.h"

/* Doubles hold every whole number up to here; offsets are doubles inside the models. */
#define OFFSET_MAX ((uint64_t)1 << 53)

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

static enum wio_status refuse(struct wio_error *err, const char *name, const char *expected)
{
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "parameter '%s' %s", name,
                         expected);
}

struct wio_model_params wio_model_params_default(void)
{
    return (struct wio_model_params){
#define PARAM_DEFAULT(param, unit, fallback) .param = (fallback),
        WIO_MODEL_PARAM_LIST(PARAM_DEFAULT)
#undef PARAM_DEFAULT
    };
}

static const struct {
    const char *name;
    size_t place;
} all_params[] = {
#define PARAM_ENTRY(param, unit, fallback) {#param, offsetof(struct wio_model_params, param)},
    WIO_MODEL_PARAM_LIST(PARAM_ENTRY)
#undef PARAM_ENTRY
};

double *wio_model_param(struct wio_model_params *params, const char *name)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(all_params); i++) {
        if (strcmp(all_params[i].name, name) == 0) {
            return (double *)(void *)((char *)params + all_params[i].place);
        }
    }
    return NULL;
}

static double value_at(const struct wio_model_params *params, size_t place)
{
    double value;
    memcpy(&value, (const char *)params + place, sizeof(value));
    return value;
}

static enum wio_status check_each(const struct wio_model_params *params, struct wio_error *err)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(all_params); i++) {
        double value = value_at(params, all_params[i].place);
        if (isnan(value)) {
            return refuse(err, all_params[i].name, "is missing");
        }
        if (!isfinite(value) || value < 0) {
            return refuse(err, all_params[i].name, "must be a finite number that is not negative");
        }
    }
    return WIO_OK;
}

static const char *name_at(size_t place)
{
    size_t i = 0;
    while (i < WIO_ARRAY_SIZE(all_params) - 1 && all_params[i].place != place) {
        i++;
    }
    return all_params[i].name;
}

static enum wio_status check_ranges(const struct wio_model_params *params,
                                    const struct wio_model_range *ranges, struct wio_error *err)
{
    for (size_t i = 0; ranges != NULL && ranges[i].place != WIO_MODEL_NO_PARAM; i++) {
        double value = value_at(params, ranges[i].place);
        if (value < ranges[i].least || value > ranges[i].most) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "parameter '%s' must be between %g and %g",
                                 name_at(ranges[i].place), ranges[i].least, ranges[i].most);
        }
    }
    return WIO_OK;
}

enum wio_status wio_model_params_check(const struct wio_model_params *params, struct wio_error *err)
{
    WIO_TRY(check_each(params, err));
    static const size_t divisors[] = {
        offsetof(struct wio_model_params, bw_mem),
        offsetof(struct wio_model_params, bw_ramdisk),
        offsetof(struct wio_model_params, bw_reduced),
        offsetof(struct wio_model_params, bw_dev),
        offsetof(struct wio_model_params, bw_rdev),
        offsetof(struct wio_model_params, bs),
        offsetof(struct wio_model_params, bf),
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(divisors); i++) {
        if (value_at(params, divisors[i]) <= 0) {
            return refuse(err, name_at(divisors[i]), "must be above 0");
        }
    }
    if (params->limit_hard <= params->limit_bg) {
        return refuse(err, "limit_hard", "must be above limit_bg");
    }
    WIO_TRY(wio_model_table_check(&params->direct_table, "direct_table", err));
    WIO_TRY(wio_model_table_check(&params->sync_table, "sync_table", err));
    return wio_model_table_check(&params->append_table, "append_table", err);
}

enum wio_status wio_model_create(enum wio_model_kind kind, const struct wio_model_params *params,
                                 const struct wio_alloc *alloc, struct wio_model **model_out,
                                 struct wio_error *err)
{
    WIO_PRE((unsigned)kind < WIO_MODEL_KIND_COUNT);
    WIO_TRY(wio_model_params_check(params, err));
    WIO_TRY(check_ranges(params, classes[kind]->ranges, err));
    struct wio_model *model = alloc->get(alloc->context, sizeof(*model));
    if (model == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    *model = (struct wio_model){.class = classes[kind], .params = *params, .alloc = *alloc};
    if (model->class->init != NULL && model->class->init(model) != WIO_OK) {
        wio_model_destroy(model);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    *model_out = model;
    return WIO_OK;
}

void wio_model_destroy(struct wio_model *model)
{
    if (model == NULL) {
        return;
    }
    wio_serial_fini(model);
    if (model->class->fini != NULL) {
        model->class->fini(model);
    }
    model->alloc.put(model->alloc.context, model);
}

static enum wio_status check_op(const struct wio_model_op *op, struct wio_error *err)
{
    if (!isfinite(op->delay_s) || op->delay_s < 0) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "delay_s must be a finite number that is not negative");
    }
    if (op->offset > OFFSET_MAX || op->size > OFFSET_MAX - op->offset) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "offset and size reach behind 2^53 bytes");
    }
    if ((unsigned)op->method >= WIO_MODEL_METHOD_COUNT) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "unknown method");
    }
    return WIO_OK;
}

static enum wio_status fail(enum wio_status status, struct wio_error *err)
{
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
    WIO_TRY(model->class->run(model, HUGE_VAL, &done));
    *result_out = done.result;
    return WIO_OK;
}

enum wio_status wio_model_step(struct wio_model *model, const struct wio_model_op *op,
                               struct wio_model_result *result_out, struct wio_error *err)
{
    enum wio_status status;
    WIO_TRY(check_op(op, err));
    *result_out = (struct wio_model_result){.state = WIO_MODEL_STATE_NONE};
    if (model->class->step != NULL) {
        status = model->class->step(model, op, result_out);
        result_out->time_s = model->time_s;
        model->serial.time_s += op->delay_s + result_out->cost_s;
        model->serial.free_s = model->serial.time_s;
    } else {
        status = step_tasks(model, op, result_out);
    }
    return status == WIO_OK ? WIO_OK : fail(status, err);
}

enum wio_status wio_model_begin(struct wio_model *model, uint32_t task,
                                const struct wio_model_op *op, struct wio_error *err)
{
    WIO_TRY(check_op(op, err));
    enum wio_status status = model->class->begin != NULL ? model->class->begin(model, task, op)
                                                         : wio_serial_begin(model, task, op);
    return status == WIO_OK ? WIO_OK : fail(status, err);
}

enum wio_status wio_model_run(struct wio_model *model, double until_s,
                              struct wio_model_done *done_out, struct wio_error *err)
{
    enum wio_status status = model->class->run != NULL ? model->class->run(model, until_s, done_out)
                                                       : wio_serial_run(model, until_s, done_out);
    return status == WIO_OK || status == WIO_END ? status : fail(status, err);
}

double wio_model_next(struct wio_model *model)
{
    return model->class->next != NULL ? model->class->next(model) : wio_serial_next(model);
}

double wio_model_time(const struct wio_model *model)
{
    return model->class->run != NULL ? model->time_s : model->serial.time_s;
}
