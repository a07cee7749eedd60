/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/sim/machine.h"

#include <math.h>

#include "base/cleanup.h"
#include "predict/whatif.h"

void wio_machine_fini(struct wio_machine *machine)
{
    for (uint32_t i = 0; i < machine->model_count; i++) {
        wio_model_destroy(machine->models[i]);
    }
    wio_host_fini(&machine->host);
    machine->model_count = 0;
}

static enum wio_status add_model(struct wio_machine *machine, enum wio_model_kind kind,
                                 const struct wio_model_params *params, struct wio_error *err)
{
    struct wio_model **place = &machine->models[machine->model_count];
    WIO_TRY(wio_model_create(kind, params, &machine->alloc, place, err));
    wio_model_limit_steps(*place, machine->steps_max);
    machine->model_count++;
    return WIO_OK;
}

/* To a model that knows several devices, else with a model of its own. */
static enum wio_status add_device(struct wio_machine *machine, enum wio_model_kind kind,
                                  const struct wio_host_device *device, struct wio_error *err)
{
    struct wio_error wrong = WIO_ERROR_INIT;
    enum wio_status status = wio_model_add_device(machine->models[0], &device->params, &wrong);
    if (status == WIO_ERR_UNSUPPORTED) {
        status = add_model(machine, kind, &device->params, &wrong);
    }
    return status == WIO_OK ? WIO_OK
                            : wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                                            "device '%s': %s", device->path, wrong.message);
}

/* Errors of the file are reported before what-ifs change it. */
static enum wio_status check_file(const struct wio_host *host, const char *path,
                                  enum wio_model_kind kind, struct wio_error *err)
{
    for (uint32_t i = 0; i < host->device_count; i++) {
        struct wio_error wrong = WIO_ERROR_INIT;
        if (wio_model_params_check_for(kind, &host->devices[i].params, &wrong) == WIO_OK) {
            continue;
        }
        return i == 0 ? wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET, "%s",
                                      wrong.message)
                      : wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                                      "device '%s': %s", host->devices[i].path, wrong.message);
    }
    return WIO_OK;
}

static void set_group(const struct wio_machine_group *group, struct wio_model_params *params)
{
    if (group->is_known) {
        params->group_limit = group->limit;
        params->group_used = group->used;
        params->group_version = group->version;
    }
}

enum wio_status wio_machine_init(struct wio_machine *machine, const char *path,
                                 const struct wio_predict_params *params,
                                 const struct wio_machine_group *group, struct wio_budget *budget,
                                 struct wio_error *err)
{
    struct wio_host *host = &machine->host;
    enum wio_model_kind kind = params->model;
    machine->alloc = wio_budget_alloc(budget);
    machine->steps_max = params->steps_max > 0 ? params->steps_max : UINT64_MAX;
    WIO_TRY(wio_host_load(path, host, err));
    WIO_TRY(check_file(host, path, kind, err));
    for (uint32_t i = 0; i < host->device_count; i++) {
        set_group(group, &host->devices[i].params);
        wio_whatif_machine(&params->whatif, &host->devices[i].params);
    }
    WIO_TRY(wio_whatif_set(&params->whatif, host, err));
    machine->spread = wio_whatif_spread(&params->whatif, host);
    WIO_TRY(add_model(machine, kind, &host->devices[0].params, err));
    for (uint32_t i = 1; i < host->device_count; i++) {
        WIO_TRY(add_device(machine, kind, &host->devices[i], err));
    }
    return WIO_OK;
}

uint32_t wio_machine_aim(const struct wio_machine *machine, uint32_t device,
                         struct wio_model_op *op)
{
    op->device = machine->model_count == 1 ? device : 0;
    return machine->model_count == 1 ? 0 : device;
}

enum wio_status wio_machine_step(struct wio_machine *machine, uint32_t device,
                                 const struct wio_model_op *op, struct wio_model_result *result_out,
                                 struct wio_error *err)
{
    struct wio_model_op aimed = *op;
    struct wio_model *model = machine->models[wio_machine_aim(machine, device, &aimed)];
    /* The others' operations are computing to this one; sums may differ in their last digits. */
    if (machine->model_count > 1) {
        aimed.delay_s += fmax(machine->time_s - wio_model_time(model), 0);
    }
    WIO_TRY(wio_model_step(model, &aimed, result_out, err));
    machine->time_s += op->delay_s + result_out->cost_s;
    return WIO_OK;
}
