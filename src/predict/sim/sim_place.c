/* SPDX-License-Identifier: Apache-2.0 */
/* Where an operation is: its file as models know it, its device, its place in the file. */
#include <math.h>

#include "base/cleanup.h"
#include "predict/sim/sim.h"
#include "predict/sim/sim_store.h"

#define NS 1e9

uint64_t sim_place_file(const struct sim_thread *thread, uint64_t file)
{
    const struct sim_program *program = thread->program;
    uint64_t shared = program->files != NULL && file != WIO_NO_INDEX ? program->files[file] : file;
    uint64_t copy = thread->id.copy == 0 ? 0 : program->first_copy + thread->id.copy;
    return copy << 32 | shared;
}

uint32_t sim_place_device(const struct sim_thread *thread, const struct sim_host *host,
                          uint32_t path)
{
    const struct wio_host *machine = &host->machine.host;
    if (machine->device_count == 1) {
        return 0;
    }
    return wio_host_device_of(machine, wio_trace_string(thread->program->trace, path, NULL));
}

/* The file and the place in it; the next operation may continue there. */
static enum wio_status place(struct sim_host *host, bool has_offset, struct wio_model_op *op)
{
    const uint64_t *end = has_offset ? NULL : wio_map_get(&host->ends, op->file);
    op->offset = end != NULL ? *end : op->offset;
    if (op->offset > WIO_MODEL_OFFSET_MAX - op->size) {
        op->offset = WIO_MODEL_OFFSET_MAX - op->size; /* many large ones without a position */
    }
    if (wio_model_flow(op->method) == WIO_MODEL_MOVES_NOTHING) {
        return WIO_OK;
    }
    return wio_map_put(&host->ends, op->file, op->offset + op->size);
}

/* Up to now, but not to an operation that ends at this very moment: that one is yet to be told. */
static enum wio_status catch_up(const struct sim *sim, struct wio_model *model,
                                struct wio_error *err)
{
    struct wio_model_done ignored;
    double until_s = fmin((double)sim->now_ns / NS, nextafter(wio_model_next(model), -HUGE_VAL));
    enum wio_status status = wio_model_run(model, until_s, &ignored, err);
    if (status != WIO_END) {
        return status == WIO_OK ? WIO_ERR_INTERNAL : status;
    }
    return WIO_OK;
}

/* Now, on a device. */
static enum wio_status begin_on(struct sim *sim, struct sim_host *host, uint32_t device,
                                uint32_t task, struct wio_model_op *op, struct wio_error *err)
{
    struct sim_clock *clock = &host->clocks[wio_machine_aim(&host->machine, device, op)];
    WIO_TRY(catch_up(sim, clock->model, err));
    enum wio_status status = wio_model_begin(clock->model, task, op, err);
    sim_host_moved(sim, clock);
    return status;
}

enum wio_status sim_place_begin(struct sim *sim, const struct sim_thread *thread, uint32_t task,
                                uint32_t path, struct wio_model_op *op, struct wio_error *err)
{
    struct sim_host *host = &sim->hosts[thread->host];
    const struct wio_converted *todo = &thread->op.todo;
    bool has_offset = todo->has_offset || op->method == WIO_MODEL_TRUNCATE || op == &todo->read;
    op->file = sim_place_file(thread, op->file);
    WIO_TRY(place(host, has_offset, op));
    op->is_shared = sim->host_count > 1; /* each host has a model of its own */
    uint32_t device = sim_place_device(thread, host, path);
    if (sim_store_has(sim, host, device)) {
        return sim_store_begin(sim, thread, task, op, err);
    }
    enum wio_status status = begin_on(sim, host, device, task, op, err);
    if (status == WIO_ERR_USAGE) {
        wio_error_add(err, "in '%s'", wio_trace_string(thread->program->trace, path, NULL));
    }
    return status;
}

/* Operations that have no file are on one of their own, which no path names. */
#define NO_FILE (UINT64_C(1) << 61)

enum wio_status sim_place_everywhere(struct sim *sim, struct sim_thread *thread,
                                     struct wio_error *err)
{
    struct sim_host *host = &sim->hosts[thread->host];
    thread->op.parts = host->machine.host.device_count;
    for (uint32_t device = 0; device < host->machine.host.device_count; device++) {
        struct wio_model_op op = thread->op.todo.op;
        op.file = NO_FILE + device;
        WIO_TRY(
            begin_on(sim, host, device, sim_part_task(sim, thread->id.index, device), &op, err));
    }
    return WIO_OK;
}
