/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the stages, and their parts of the time and of the bytes. */
#include "calibrate/measure/measure.h"

#include "base/cleanup.h"
#include "model/kernel/group.h"

/* In the order in which they run, and their part of the time; what one does not need, the next ones
 * may use. Of the bytes each leaves so many L to the later ones. */
static const struct {
    wio_measure_stage *run;
    double share;
    unsigned leaves;
} stages[] = {
    {wio_measure_memory, 0.03, 0}, {wio_measure_base, 0.10, 0},    {wio_measure_present, 0.03, 0},
    {wio_measure_fresh, 0.07, 0},  {wio_measure_tables, 0.46, 14}, {wio_measure_credit, 0.03, 7},
    {wio_measure_commit, 0.03, 7}, {wio_measure_seek, 0.05, 7},    {wio_measure_copies, 0.03, 4},
    {wio_measure_read, 0.06, 0},   {wio_measure_reduced, 0.07, 0}, {wio_measure_meta, 0.04, 0},
};

#define STEPS 1000

static void report(const struct wio_measure *measure, double done)
{
    const struct wio_calibrate_params *params = measure->params;
    if (params->progress != NULL) {
        params->progress(params->progress_arg, (uint64_t)(done * STEPS), STEPS, "steps");
    }
}

/* A quarter of what is left below the limit at which the kernel begins to write back. */
static uint64_t cached_most(const struct wio_calibration *calibration, uint64_t dirty_bytes)
{
    /* a memory group has limits of its own; one of version 1 waits where it is full */
    struct wio_model_params params = wio_calibration_params(calibration);
    double limit = fmin(wio_group_limits(&params).background, wio_group_dirty_room(&params) / 2);
    double room = limit - (double)dirty_bytes;
    return room > 0 ? (uint64_t)(room / 4) : 0;
}

enum wio_status wio_measure(const struct wio_rig *rig, const struct wio_calibrate_params *params,
                            uint64_t dirty_bytes, struct wio_calibration *calibration,
                            struct wio_error *err)
{
    struct wio_measure measure = {
        .rig = rig,
        .params = params,
        .out = calibration,
        .bytes_left = params->max_bytes,
        .cached = cached_most(calibration, dirty_bytes),
        .start_s = rig->now_s(rig->context),
    };
    double done = 0;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(stages); i++) {
        report(&measure, done);
        done += stages[i].share;
        measure.stage_end_s = measure.start_s + done * params->budget_s;
        measure.leaves = stages[i].leaves;
        WIO_TRY(stages[i].run(&measure, err));
    }
    wio_measure_pass_slices(&measure);
    wio_measure_length(&measure);
    report(&measure, 1);
    calibration->written_bytes = params->max_bytes - measure.bytes_left;
    calibration->elapsed_s = rig->now_s(rig->context) - measure.start_s;
    return WIO_OK;
}
