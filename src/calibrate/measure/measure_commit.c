/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an fsync does beside writing data. What the journal of the file system writes when a file
 * has become longer: what the device is seen to write beside the data. Bytes, not time: a limit of
 * the rate that gives credit hides the time. And what it takes where the file needs no new block,
 * and where there is nothing to write.
 */
#include <math.h>

#include "base/cleanup.h"
#include "calibrate/measure/measure.h"

#define COMMITS 25
#define FLUSHES 64
#define FLUSHES_SHARE 0.25 /* of the time */
#define BLOCK UINT64_C(4096)
/* Of a log, and how many of them count in each block. */
#define LINE UINT64_C(128)
#define COUNTED 2

struct appends {
    uint64_t offset;
    size_t count;
    double beside[COMMITS];           /* bytes */
    double block_s[COMMITS];          /* a block behind the end */
    double line_s[COMMITS * COUNTED]; /* a line within the last block */
};

static enum wio_status append(struct wio_measure *measure, struct appends *appends, uint64_t size,
                              double *seconds_out, struct wio_error *err)
{
    const struct wio_rig_io io = {
        .file = WIO_RIG_APPEND, .way = WIO_RIG_SYNC, .offset = appends->offset, .size = size};
    appends->offset += size;
    return wio_measure_write(measure, &io, seconds_out, err);
}

/* A block; behind it some lines, of which the first needs another block. The last one fills it:
 * else the file system writes zeros behind the end of the file, besides, when it goes on. */
static enum wio_status append_both(struct wio_measure *measure, struct appends *appends,
                                   struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    size_t i = appends->count++;
    double before = rig->device_bytes(rig->context);
    double seconds;
    WIO_TRY(append(measure, appends, BLOCK, &appends->block_s[i], err));
    appends->beside[i] = fmax(rig->device_bytes(rig->context) - before - (double)BLOCK, 0);
    WIO_TRY(append(measure, appends, LINE, &seconds, err));
    for (size_t k = 0; k < COUNTED; k++) {
        WIO_TRY(append(measure, appends, LINE, &appends->line_s[i * COUNTED + k], err));
    }
    return append(measure, appends, BLOCK - (COUNTED + 1) * LINE, &seconds, err);
}

/* Beside the block, which append_table is of: disks have moods. */
static struct wio_estimate length_part(struct appends *appends)
{
    struct wio_estimate line = wio_estimate_middle(appends->line_s, appends->count * COUNTED);
    double part = line.value / wio_estimate_median(appends->block_s, appends->count);
    return (struct wio_estimate){.value = fmin(part, 1), .spread = line.spread};
}

void wio_measure_length(struct wio_measure *measure)
{
    const struct wio_model_table *table = &measure->out->append_table;
    const struct wio_estimate *part = &measure->length_part;
    if (table->count > 0 && part->value > 0) {
        wio_measure_set(measure, WIO_PARAM_c_length, part->value * table->points[0].seconds,
                        part->spread);
    }
}

static enum wio_status measure_appends(struct wio_measure *measure, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    struct appends appends = {0};
    bool is_counted = !isnan(rig->device_bytes(rig->context));
    while (wio_measure_more(measure, appends.count, COMMITS, 2 * BLOCK)) {
        WIO_TRY(append_both(measure, &appends, err));
    }
    if (appends.count > 0 && is_counted) { /* the median: now and then others write, too */
        struct wio_estimate middle = wio_estimate_middle(appends.beside, appends.count);
        wio_measure_set(measure, WIO_PARAM_commit_bytes, middle.value, middle.spread);
    }
    if (appends.count > 0) {
        measure->length_part = length_part(&appends);
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
    double end_s = measure->stage_end_s;
    double now_s = measure->rig->now_s(measure->rig->context);
    measure->stage_end_s = end_s - FLUSHES_SHARE * fmax(end_s - now_s, 0);
    WIO_TRY(measure_appends(measure, err));
    measure->stage_end_s = end_s;
    return measure_flush(measure, err);
}
