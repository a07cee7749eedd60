/* SPDX-License-Identifier: Apache-2.0 */
/* Predicting an operation list: one process, one operation after the other. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "predict/ops/ops_file.h"
#include "predict/predict.h"
#include "predict/sim/account.h"
#include "predict/sim/machine.h"
#include "predict/whatif.h"

#define PROGRESS_OPS 65536

/* A file of the list is on the device that its name lies below. */
static uint32_t device_of(const struct wio_machine *machine, const struct wio_ops_file *file,
                          const struct wio_model_op *op)
{
    if (machine->host.device_count == 1) {
        return 0;
    }
    return wio_host_device_of(&machine->host, wio_ops_file_name(file, op->file));
}

static void file_cleanup(struct wio_ops_file **file)
{
    wio_ops_file_close(*file);
}

struct wio_predict_params wio_predict_params_default(void)
{
    return (struct wio_predict_params){
        .struct_size = sizeof(struct wio_predict_params),
        .model = WIO_MODEL_KERNEL,
        .store_policy = WIO_ADMIT_CREDIT,
        .whatif = {.limit_bg = (double)NAN,
                   .limit_hard = (double)NAN,
                   .bf = (double)NAN,
                   .bs = (double)NAN},
    };
}

struct wio_budget wio_predict_budget(const struct wio_predict_params *params)
{
    return (struct wio_budget){.limit = params->memory_max > 0 ? params->memory_max
                                                               : WIO_PREDICT_MEMORY_MAX};
}

static void add(struct wio_predict_result *sum, const struct wio_model_op *op,
                const struct wio_model_result *result)
{
    wio_account_op(&sum->all, op, result->cost_s);
    sum->all.compute_s += op->delay_s;
    sum->dirty_bytes_max = fmax(sum->dirty_bytes_max, result->dirty_bytes);
}

/* A list is what one process without a rank does. */
static enum wio_status sum_up(struct wio_predict_result *sum, struct wio_error *err)
{
    sum->all.total_s = sum->all.io_s + sum->all.compute_s;
    sum->ranks = malloc(sizeof(*sum->ranks));
    if (sum->ranks == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    sum->ranks[0] = sum->all;
    sum->rank_count = 1;
    return WIO_OK;
}

static void tell_progress(const struct wio_predict_params *params, const struct wio_ops_file *file,
                          uint64_t ops)
{
    uint64_t done;
    uint64_t total;
    if (params->progress != NULL && ops % PROGRESS_OPS == 0) {
        wio_ops_file_progress(file, &done, &total);
        params->progress(params->progress_arg, done, total, "bytes");
    }
}

/* What the model refuses is the fault of a line. */
static enum wio_status step(struct wio_machine *machine, const struct wio_model_op *op,
                            const struct wio_ops_file *file, const struct wio_budget *budget,
                            struct wio_model_result *result_out, struct wio_error *err)
{
    struct wio_error wrong = WIO_ERROR_INIT;
    uint64_t offset;
    uint32_t device = device_of(machine, file, op);
    enum wio_status status =
        machine->host.devices[device].store.targets > 0
            ? wio_error_set(&wrong, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                            "a file of a store, whose clients a list does not say: of a trace it "
                            "can be predicted")
            : wio_machine_step(machine, device, op, result_out, &wrong);
    if (status == WIO_OK) {
        return WIO_OK;
    }
    uint64_t line = wio_ops_file_line(file, &offset);
    char limit[WIO_TEXT_MAX];
    if (status == WIO_ERR_NOMEM && budget->is_spent) {
        status = wio_error_set(&wrong, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                               "the simulated machine takes more than %s of memory (--max-memory)",
                               wio_format_size(limit, budget->limit));
    }
    return wio_error_set(err, status == WIO_ERR_USAGE ? WIO_ERR_FORMAT : status,
                         wio_ops_file_label(file), offset, "line %llu: %s",
                         (unsigned long long)line,
                         wrong.message[0] != '\0' ? wrong.message : wio_status_text(status));
}

enum wio_status wio_predict_ops(const char *path, const struct wio_predict_params *params,
                                struct wio_predict_result *result_out, struct wio_error *err)
{
    struct wio_budget budget = wio_predict_budget(params);
    const struct wio_machine_group none = {0};
    WIO_CLEANUP(wio_machine_fini) struct wio_machine machine = {0};
    WIO_CLEANUP(file_cleanup) struct wio_ops_file *file = NULL;
    struct wio_predict_result sum = {
        .model = params->model,
        .all = {.rank = -1, .traced_s = (double)NAN, .traced_io_s = (double)NAN},
    };
    struct wio_model_result result = {0};
    struct wio_model_op op;
    enum wio_status status;

    WIO_TRY(wio_machine_init(&machine, params->host, params, &none, &budget, err));
    WIO_TRY(wio_ops_file_open(path, &file, err));
    while ((status = wio_ops_file_next(file, &op, err)) == WIO_OK) {
        op.method = wio_whatif_method(&params->whatif, op.method);
        WIO_TRY(step(&machine, &op, file, &budget, &result, err));
        if (params->per_op != NULL) {
            WIO_TRY(params->per_op(params->per_op_arg, sum.all.ops, &result, err));
        }
        add(&sum, &op, &result);
        tell_progress(params, file, sum.all.ops);
    }
    if (status != WIO_END) {
        return status;
    }
    sum.misspelt = *wio_ops_file_misspelt(file);
    sum.host_misspelt = machine.host.misspelt;
    sum.trust = machine.host.trust;
    sum.spread = machine.spread;
    WIO_TRY(sum_up(&sum, err));
    *result_out = sum;
    return WIO_OK;
}
