/* SPDX-License-Identifier: Apache-2.0 */
/* What costs no device: copies, calls that stay in the C library, metadata. */
#include <math.h>

#include "base/cleanup.h"
#include "calibrate/measure/measure.h"

/* So short that most are not interrupted where others compute. */
#define COPY_BYTES (UINT64_C(1) << 20)
#define COPIES 128
#define FWRITE_CALLS 10000
#define FWRITE_ROUNDS 20
/* Many at the same time, before anything else: the memory of what was closed is the next one's. */
#define STREAMS 32
#define META_PASSES 200

enum wio_status wio_measure_memory(struct wio_measure *measure, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    double samples[COPIES];
    double firsts[STREAMS];
    WIO_TRY(rig->streams(rig->context, STREAMS, firsts, err));
    for (size_t i = 0; i < WIO_RIG_IO_MOST / 2 / COPY_BYTES; i++) {
        (void)rig->copy(rig->context, COPY_BYTES); /* touches the memory */
    }
    for (size_t i = 0; i < COPIES; i++) {
        samples[i] = rig->copy(rig->context, COPY_BYTES);
    }
    struct wio_estimate copy = wio_estimate_middle(samples, COPIES);
    wio_measure_set(measure, WIO_PARAM_bw_mem, (double)COPY_BYTES / copy.value, copy.spread);
    double calls[FWRITE_ROUNDS];
    for (size_t i = 0; i < FWRITE_ROUNDS; i++) {
        WIO_TRY(wio_measure_cancelled(measure, err));
        WIO_TRY(rig->fwrite(rig->context, FWRITE_CALLS, &calls[i], err));
    }
    struct wio_estimate call = wio_estimate_middle(calls, FWRITE_ROUNDS);
    double call_s = call.value / FWRITE_CALLS;
    wio_measure_set(measure, WIO_PARAM_c_lib, call_s, call.spread);
    struct wio_estimate first = wio_estimate_mean(firsts, STREAMS);
    wio_measure_set(measure, WIO_PARAM_c_stream, fmax(first.value - call_s, 0), first.spread);
    return WIO_OK;
}

enum wio_status wio_measure_meta(struct wio_measure *measure, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    double samples[WIO_RIG_META_COUNT][META_PASSES];
    size_t count = 0;
    while (wio_measure_more(measure, count, META_PASSES, 0)) {
        double pass[WIO_RIG_META_COUNT];
        WIO_TRY(wio_measure_cancelled(measure, err));
        WIO_TRY(rig->meta(rig->context, pass, err));
        for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
            samples[i][count] = pass[i];
        }
        count++;
    }
    for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
        if (count > 0 && !isnan(samples[i][0])) {
            struct wio_estimate cost = wio_estimate_center(samples[i], count);
            measure->out->meta[i] = (struct wio_calibrate_value){
                .value = cost.value, .spread = cost.spread, .how = WIO_CALIBRATE_MEASURED};
        }
    }
    return WIO_OK;
}
