/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an fsync does beside writing data. What the journal of the file system writes when a file
 * has become longer: what the device is seen to write beside the data. Bytes, not time: a limit of
 * the rate that gives credit hides the time. And what it takes where there is nothing to write.
 */
#include <math.h>

#include "base/cleanup.h"
#include "calibrate/measure.h"

#define COMMITS 25
#define FLUSHES 64
#define BLOCK UINT64_C(4096)

static enum wio_status measure_bytes(struct wio_measure *measure, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    struct wio_rig_io io = {.file = WIO_RIG_APPEND, .way = WIO_RIG_SYNC, .size = BLOCK};
    double beside[COMMITS];
    size_t count = 0;
    double before = rig->device_bytes(rig->context);
    while (!isnan(before) && wio_measure_more(measure, count, COMMITS, BLOCK)) {
        double seconds;
        WIO_TRY(wio_measure_write(measure, &io, &seconds, err));
        double after = rig->device_bytes(rig->context);
        beside[count++] = fmax(after - before - (double)BLOCK, 0);
        before = after;
        io.offset += BLOCK;
    }
    if (count > 0) { /* the median: now and then others write to the device */
        struct wio_estimate center = wio_estimate_center(beside, count);
        wio_measure_set(measure, WIO_PARAM_commit_bytes, wio_estimate_median(beside, count),
                        center.spread);
    }
    return rig->remove(rig->context, WIO_RIG_APPEND, err);
}

/* The first one writes what there still is. */
static enum wio_status measure_flush(struct wio_measure *measure, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    double samples[FLUSHES];
    double seconds;
    size_t count = 0;
    WIO_TRY(rig->fsync(rig->context, WIO_RIG_BASE, &seconds, err));
    while (wio_measure_more(measure, count, FLUSHES, 0)) {
        WIO_TRY(wio_measure_cancelled(measure, err));
        WIO_TRY(rig->fsync(rig->context, WIO_RIG_BASE, &samples[count], err));
        count++;
    }
    if (count > 0) {
        struct wio_estimate middle = wio_estimate_middle(samples, count);
        wio_measure_set(measure, WIO_PARAM_c_flush, middle.value, middle.spread);
    }
    return WIO_OK;
}

enum wio_status wio_measure_commit(struct wio_measure *measure, struct wio_error *err)
{
    WIO_TRY(measure_bytes(measure, err));
    return measure_flush(measure, err);
}
