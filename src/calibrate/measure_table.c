/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes that wait for the device, by size: sizes are four times as large as the one before, up to
 * L. All of one size come in a row, the largest size first: a limit of the rate that lets some
 * bytes pass after a rest has no more to give then.
 */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "calibrate/measure.h"

#define BLOCK UINT64_C(4096)
#define LEVELS 9 /* 4 KiB to 64 MiB, and one that is no power of four */
/* Repetitions of L, twice as many for each smaller size. */
#define LARGEST_TIMES 5
#define TIMES_MOST 40
/* So many of L, to see whether the device has a buffer; the first ones are not counted. */
#define IN_A_ROW 12
#define NOT_COUNTED 2
/* The smallest sizes say what a call costs, the largest ones what a byte costs. */
#define LINE_LEVELS 3

struct series {
    enum wio_rig_file file;
    enum wio_rig_way way;
    uint64_t offset;
    size_t levels;
    uint64_t size[LEVELS]; /* rising */
    double samples[LEVELS][TIMES_MOST];
    size_t count[LEVELS];
    struct wio_estimate_point points[LEVELS];
    double spread[LEVELS];
};

static struct series series_of(const struct wio_measure *measure, enum wio_rig_file file,
                               enum wio_rig_way way)
{
    struct series series = {.file = file, .way = way};
    for (uint64_t size = BLOCK; size < measure->largest; size *= 4) {
        series.size[series.levels++] = size;
    }
    series.size[series.levels++] = measure->largest;
    return series;
}

static size_t times_of(const struct series *series, size_t level)
{
    size_t smaller = series->levels - 1 - level;
    return smaller < 3 ? (size_t)LARGEST_TIMES << smaller : TIMES_MOST;
}

/* The base file is written over again and again; another grows, and begins anew at that length. */
static enum wio_status next_place(struct wio_measure *measure, struct series *series, uint64_t size,
                                  struct wio_error *err)
{
    if (series->offset + size <= measure->base_bytes) {
        return WIO_OK;
    }
    series->offset = 0;
    if (series->file == WIO_RIG_BASE) {
        return WIO_OK;
    }
    return measure->rig->remove(measure->rig->context, series->file, err);
}

static enum wio_status write_level(struct wio_measure *measure, struct series *series, size_t level,
                                   struct wio_error *err)
{
    const struct wio_rig_io io = {.file = series->file,
                                  .way = series->way,
                                  .offset = series->offset,
                                  .size = series->size[level]};
    series->offset += io.size;
    WIO_TRY(wio_measure_write(measure, &io, &series->samples[level][series->count[level]], err));
    series->count[level]++;
    return WIO_OK;
}

static enum wio_status write_row(struct wio_measure *measure, struct series *series, size_t level,
                                 size_t times, struct wio_error *err)
{
    uint64_t size = series->size[level];
    while (wio_measure_more(measure, series->count[level], times, size)) {
        WIO_TRY(next_place(measure, series, size, err));
        WIO_TRY(write_level(measure, series, level, err));
    }
    return WIO_OK;
}

/* The so many smallest sizes. */
static enum wio_status write_rows(struct wio_measure *measure, struct series *series, size_t levels,
                                  struct wio_error *err)
{
    for (size_t level = levels; level-- > 0;) {
        WIO_TRY(write_row(measure, series, level, times_of(series, level), err));
    }
    return WIO_OK;
}

/* A larger write never costs less, and none goes on faster than the largest ones do: what is faster
 * for a moment lives on the credit of a limit, whose debt others pay. */
static void lift_points(struct series *series)
{
    const struct wio_estimate_point *last = &series->points[series->levels - 1];
    double byte_s = last->seconds / last->bytes;
    double most = 0;
    for (size_t i = 0; i < series->levels; i++) {
        struct wio_estimate_point *point = &series->points[i];
        most = fmax(fmax(most, point->seconds), point->bytes * byte_s);
        point->seconds = most;
    }
}

static void find_centers(struct series *series)
{
    size_t kept = 0;
    for (size_t i = 0; i < series->levels; i++) {
        if (series->count[i] == 0) {
            continue;
        }
        struct wio_estimate center = wio_estimate_center(series->samples[i], series->count[i]);
        series->points[kept] = (struct wio_estimate_point){(double)series->size[i], center.value};
        series->spread[kept] = center.spread;
        kept++;
    }
    series->levels = kept;
    lift_points(series);
}

/* What a byte costs, by the largest sizes; where they contradict each other, by the largest. */
static double seconds_per_byte(const struct series *series)
{
    struct wio_estimate_line line;
    size_t count = series->levels < LINE_LEVELS ? series->levels : LINE_LEVELS;
    const struct wio_estimate_point *last = &series->points[series->levels - 1];
    if (wio_estimate_line(last + 1 - count, count, &line) && line.seconds_per_byte > 0) {
        return line.seconds_per_byte;
    }
    return last->seconds / last->bytes;
}

/* What a call costs, by the smallest sizes; where they say nothing, by the smallest. */
static double seconds_per_call(const struct series *series, double byte_s)
{
    struct wio_estimate_line line;
    size_t count = series->levels < LINE_LEVELS ? series->levels : LINE_LEVELS;
    if (wio_estimate_line(series->points, count, &line) && line.seconds > 0) {
        return line.seconds;
    }
    return fmax(series->points[0].seconds - series->points[0].bytes * byte_s, 0);
}

/* Nothing is faster than the device; behind the largest size it goes on at the rate of the largest.
 */
static void make_table(const struct wio_measure *measure, const struct series *series,
                       struct wio_model_table *out)
{
    double device_s = 1 / wio_measure_get(measure, WIO_PARAM_bw_dev);
    double byte_s = fmax(seconds_per_byte(series), device_s);
    out->count = 0;
    for (size_t i = 0; i < series->levels; i++) {
        const struct wio_estimate_point *point = &series->points[i];
        out->points[out->count++] =
            (struct wio_model_point){point->bytes, fmax(point->seconds, point->bytes * device_s)};
    }
    struct wio_model_point last = out->points[out->count - 1];
    out->points[out->count++] =
        (struct wio_model_point){16 * last.bytes, last.seconds + 15 * last.bytes * byte_s};
}

static void skip_samples(struct series *series, size_t level, size_t count)
{
    series->count[level] -= count;
    memmove(series->samples[level], series->samples[level] + count,
            series->count[level] * sizeof(double));
}

/* The first writes of L may have gone into a buffer of the device: then they do not count. */
static void find_buffer(struct wio_measure *measure, struct series *series)
{
    double rates[IN_A_ROW];
    size_t level = series->levels - 1;
    size_t count = series->count[level];
    double bytes = (double)series->size[level];
    double size = 0;
    struct wio_estimate_drop drop;
    for (size_t i = 0; i < count; i++) {
        rates[i] = bytes / series->samples[level][i];
    }
    if (wio_estimate_drop(rates, count, &drop)) {
        /* While it was filled, the device emptied it. */
        size = (double)drop.before * bytes * (1 - drop.slow / drop.fast);
    } else {
        drop = (struct wio_estimate_drop){.before = count > NOT_COUNTED ? NOT_COUNTED : 0};
    }
    wio_measure_set(measure, WIO_PARAM_bw_burst, drop.fast, (double)NAN);
    wio_measure_set(measure, WIO_PARAM_burst_size, size, (double)NAN);
    skip_samples(series, level, drop.before);
}

/* Is O_DIRECT accepted here? */
static enum wio_status choose_way(struct wio_measure *measure, enum wio_rig_way *way_out,
                                  struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    const struct wio_rig_io io = {.file = WIO_RIG_BASE, .way = WIO_RIG_DIRECT, .size = BLOCK};
    double seconds;
    WIO_TRY(rig->fsync(rig->context, WIO_RIG_BASE, &seconds, err));
    WIO_TRY(rig->drop(rig->context, WIO_RIG_BASE, err));
    enum wio_status status = wio_measure_write(measure, &io, &seconds, err);
    measure->out->is_direct = status == WIO_OK;
    *way_out = measure->out->is_direct ? WIO_RIG_DIRECT : WIO_RIG_SYNC;
    return status == WIO_ERR_UNSUPPORTED ? WIO_OK : status;
}

enum wio_status wio_measure_direct(struct wio_measure *measure, struct wio_error *err)
{
    enum wio_rig_way way;
    WIO_TRY(choose_way(measure, &way, err));
    struct series series = series_of(measure, WIO_RIG_BASE, way);
    WIO_TRY(write_row(measure, &series, series.levels - 1, IN_A_ROW, err));
    WIO_TRY(write_rows(measure, &series, series.levels - 1, err));
    find_buffer(measure, &series);
    find_centers(&series);
    double byte_s = seconds_per_byte(&series);
    wio_measure_set(measure, WIO_PARAM_bw_dev, 1 / byte_s, series.spread[series.levels - 1]);
    wio_measure_set(measure, WIO_PARAM_sc_sw, seconds_per_call(&series, byte_s), series.spread[0]);
    make_table(measure, &series, &measure->out->direct_table);
    return WIO_OK;
}

enum wio_status wio_measure_sync(struct wio_measure *measure, struct wio_error *err)
{
    struct series over = series_of(measure, WIO_RIG_BASE, WIO_RIG_SYNC);
    struct series append = series_of(measure, WIO_RIG_APPEND, WIO_RIG_SYNC);
    double end_s = measure->stage_end_s;
    double now_s = measure->rig->now_s(measure->rig->context);
    measure->stage_end_s = now_s + (end_s - now_s) / 2;
    WIO_TRY(write_rows(measure, &over, over.levels, err));
    measure->stage_end_s = end_s;
    WIO_TRY(write_rows(measure, &append, append.levels, err));
    find_centers(&over);
    find_centers(&append);
    make_table(measure, &over, &measure->out->sync_table);
    make_table(measure, &append, &measure->out->append_table);
    return measure->rig->remove(measure->rig->context, WIO_RIG_APPEND, err);
}
