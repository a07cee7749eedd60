/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a limit of the device's rate lets pass at once after a rest: to a model a small buffer that
 * empties at that rate. Programs that compute between their writes live on it. Larger buffers than
 * the largest write are found by a row of these (measure_table.c). And whether it passes such an
 * amount at once again and again: a limit that counts by slices.
 */
#include <math.h>

#include "base/cleanup.h"
#include "calibrate/measure/measure.h"

#define BLOCK UINT64_C(4096)
#define TRIES 3
/* Long enough for a limit to forget: those of Linux count by the tenth of a second. */
#define REST_S 0.2
/* From a half of L to such a part of it; less is noise. */
#define PARTS 16
/* Half of it must pass so many times faster than the device writes. */
#define FASTER 2
/* A row of writes, each such a part of what passes at once. That is found by powers of two, so it
 * is a half of what a slice passes at least: a row of so many times as much without a wait meets no
 * slices. */
#define SLICE_PARTS 48
#define UNWAITED_MOST 3
/* A write waited for the next slice if it took so much of what the device needs for what passes at
 * once. So many have to, as far from each other as they are far from the mean. */
#define WAITED_PART 0.25
#define WAITS 4
#define EVEN 0.3

/* A write of one size after a rest: seconds, the middle one of all tries; NaN: no bytes are left
 * for it. One call, which a busy machine holds up once. */
static enum wio_status write_rested(struct wio_measure *measure, uint64_t size, double *seconds_out,
                                    struct wio_error *err)
{
    const struct wio_rig_io io = {.file = WIO_RIG_BYPASS,
                                  .way = measure->out->is_direct ? WIO_RIG_DIRECT : WIO_RIG_SYNC,
                                  .size = size};
    double seconds[TRIES];
    size_t count = 0;
    while (wio_measure_more(measure, count, TRIES, size)) {
        measure->rig->rest(measure->rig->context, REST_S);
        WIO_TRY(wio_measure_write(measure, &io, &seconds[count++], err));
    }
    *seconds_out = count > 0 ? wio_estimate_median(seconds, count) : (double)NAN;
    return WIO_OK;
}

/* What a write is ahead of the device at the most. One that is larger than what passes at once
 * waits for the next slice, so smaller ones are tried, too, as long as they may say more. */
static enum wio_status most_ahead(struct wio_measure *measure, double *ahead_out,
                                  struct wio_error *err)
{
    double device = wio_measure_get(measure, WIO_PARAM_bw_dev);
    double best = 0;
    for (uint64_t part = 2; part <= PARTS; part *= 2) {
        uint64_t size = measure->largest / part / BLOCK * BLOCK;
        double seconds;
        if ((double)size <= best || size == 0) {
            break;
        }
        WIO_TRY(write_rested(measure, size, &seconds, err));
        best = fmax(best, (double)size - device * seconds);
    }
    *ahead_out = best >= (double)measure->largest / PARTS ? best : 0;
    return WIO_OK;
}

/* When writes of a row ended that had waited, up to so many of them. */
static enum wio_status find_waits(struct wio_measure *measure, double credit, double ends_s[WAITS],
                                  size_t *count_out, struct wio_error *err)
{
    double waited_s = WAITED_PART * credit / wio_measure_get(measure, WIO_PARAM_bw_dev);
    uint64_t size = (uint64_t)(credit / SLICE_PARTS) / BLOCK * BLOCK;
    struct wio_rig_io io = {.file = WIO_RIG_BYPASS,
                            .way = measure->out->is_direct ? WIO_RIG_DIRECT : WIO_RIG_SYNC,
                            .size = size > 0 ? size : BLOCK};
    const struct wio_rig *rig = measure->rig;
    double unwaited = 0; /* bytes */
    *count_out = 0;
    rig->rest(rig->context, REST_S);
    while (unwaited < UNWAITED_MOST * credit && *count_out < WAITS &&
           wio_measure_more(measure, 0, 1, io.size)) {
        double seconds;
        WIO_TRY(wio_measure_write(measure, &io, &seconds, err));
        unwaited += (double)io.size;
        if (seconds > waited_s) {
            ends_s[(*count_out)++] = rig->now_s(rig->context);
            unwaited = 0;
        }
    }
    return WIO_OK;
}

/* The mean distance; 0 where they are too few or at no even distance. */
static double distance_of(const double ends_s[WAITS], size_t count)
{
    double mean_s = (ends_s[count > 0 ? count - 1 : 0] - ends_s[0]) / (WAITS - 1);
    for (size_t i = 1; i < count; i++) {
        if (fabs(ends_s[i] - ends_s[i - 1] - mean_s) > EVEN * mean_s) {
            return 0;
        }
    }
    return count == WAITS ? mean_s : 0;
}

/* Does a limit pass its credit by slices? An even one lets small writes wait all alike. */
static enum wio_status measure_slice(struct wio_measure *measure, double credit,
                                     struct wio_error *err)
{
    double ends_s[WAITS] = {0};
    size_t count;
    WIO_TRY(find_waits(measure, credit, ends_s, &count, err));
    wio_measure_set(measure, WIO_PARAM_slice, distance_of(ends_s, count), (double)NAN);
    return WIO_OK;
}

enum wio_status wio_measure_credit(struct wio_measure *measure, struct wio_error *err)
{
    double credit;
    double seconds;
    if (wio_measure_get(measure, WIO_PARAM_burst_size) > 0) {
        return WIO_OK;
    }
    WIO_TRY(most_ahead(measure, &credit, err));
    uint64_t half = (uint64_t)(credit / 2) / BLOCK * BLOCK;
    if (half == 0) {
        return WIO_OK;
    }
    WIO_TRY(write_rested(measure, half, &seconds, err));
    double rate = (double)half / seconds;
    if (rate > FASTER * wio_measure_get(measure, WIO_PARAM_bw_dev)) {
        wio_measure_set(measure, WIO_PARAM_bw_burst, rate, (double)NAN);
        wio_measure_set(measure, WIO_PARAM_burst_size, credit, (double)NAN);
        WIO_TRY(measure_slice(measure, credit, err));
    }
    return WIO_OK;
}
