/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes that wait for the device: directly, synchronously, at the end of a file. All of them take
 * turns, so that each meets what the device is like in the course of the measurement.
 */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "calibrate/measure_series.h"

#define BLOCK UINT64_C(4096)
#define ROUNDS 8
/* Rests between rounds, of the time for all: disks have moods that last for seconds. */
#define REST_SHARE 0.1
/* The file for direct writes, in L; not the others' file, since they would lose its pages. */
#define BYPASS_LARGEST 2
/* Repetitions of L in all rounds. */
#define LARGEST_TIMES 5
#define DIRECT_TIMES 10
#define APPEND_TIMES 6
#define NOSYNC_TIMES 3
/* So many of L, to see whether the device has a buffer; the first ones are not counted. */
#define IN_A_ROW 11
#define NOT_COUNTED 2
/* So many times faster than the largest is too fast. */
#define PASSES_AT_ONCE 3
#define WAITED_LEAST 3
#define UNLUCKY 1.6

static double sum_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

/* What was in a buffer when it was full, after `before` writes of a row: what these left in it, and
 * what the making of the files may have left. */
static double buffered(const struct wio_measure *measure, const struct wio_series *series,
                       const struct wio_estimate_drop *drop)
{
    size_t level = series->levels - 1;
    size_t after = series->count[level] - drop->before;
    double row = (double)drop->before * (double)series->size[level];
    double elapsed_s = measure->rig->now_s(measure->rig->context) - measure->base_begun_s -
                       sum_of(series->samples[level] + drop->before, after);
    return fmax(row * (1 - drop->slow / drop->fast),
                row + (double)(measure->base_bytes + series->bytes) - elapsed_s * drop->slow);
}

/* The first writes of L may have gone into a buffer of the device: then they do not count. */
static void find_buffer(struct wio_measure *measure, struct wio_series *series)
{
    double rates[IN_A_ROW];
    size_t level = series->levels - 1;
    size_t count = series->count[level];
    double size = 0;
    struct wio_estimate_drop drop;
    for (size_t i = 0; i < count; i++) {
        rates[i] = (double)series->size[level] / series->samples[level][i];
    }
    if (wio_estimate_drop(rates, count, &drop)) {
        size = buffered(measure, series, &drop);
    } else {
        drop = (struct wio_estimate_drop){.before = count > NOT_COUNTED ? NOT_COUNTED : 0};
    }
    wio_measure_set(measure, WIO_PARAM_bw_burst, drop.fast, (double)NAN);
    wio_measure_set(measure, WIO_PARAM_burst_size, size, (double)NAN);
    wio_series_skip(series, level, drop.before);
}

static double median_of(const struct wio_series *series, size_t level)
{
    double samples[WIO_SERIES_TIMES_MOST];
    memcpy(samples, series->samples[level], series->count[level] * sizeof(*samples));
    return wio_estimate_median(samples, series->count[level]);
}

/* From the end of the first write that waited for those that passed at once to the end of the last
 * such one: the mean of a write. NaN if they are too few, since some are late by themselves. */
static double mean_between_waits(const double *samples, size_t count, double least)
{
    double since_s = 0;
    double end_s = 0;
    size_t since = 0;
    size_t writes = 0;
    size_t waited = 0;
    for (size_t i = 0; i < count; i++) {
        since_s += samples[i];
        since++;
        if (samples[i] > least) {
            end_s += waited > 0 ? since_s : 0;
            writes += waited > 0 ? since : 0;
            since_s = 0;
            since = 0;
            waited++;
        }
    }
    return waited >= WAITED_LEAST ? end_s / (double)writes : (double)NAN;
}

/* What a byte takes in a row of L. */
static double row_byte_s(const struct wio_series *series)
{
    double samples[WIO_SERIES_TIMES_MOST];
    size_t level = series->levels - 1;
    size_t count = series->count[level];
    double least = PASSES_AT_ONCE * median_of(series, level);
    double write_s = mean_between_waits(series->samples[level], count, least);
    if (isnan(write_s)) {
        memcpy(samples, series->samples[level], count * sizeof(*samples));
        write_s = wio_estimate_center(samples, count).value;
    }
    return write_s / (double)series->size[level];
}

/* Smaller writes that are much faster per byte than large ones live on what a limit lets pass: no
 * device is like that by itself. A row that all writes together contradict only had bad luck. */
static bool is_limited(const struct wio_series *series, size_t largest, double byte_s)
{
    double all_s = 0;
    double bytes = 0;
    for (size_t i = 0; i <= largest; i++) {
        all_s += sum_of(series->samples[i], series->count[i]);
        bytes += (double)series->count[i] * (double)series->size[i];
    }
    if (bytes * byte_s > UNLUCKY * all_s) {
        return false;
    }
    for (size_t i = 0; i < largest; i++) {
        if (series->count[i] > 0 &&
            median_of(series, i) < (double)series->size[i] * byte_s / PASSES_AT_ONCE) {
            return true;
        }
    }
    return false;
}

static enum wio_status make_bypass(struct wio_measure *measure, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    double seconds;
    for (uint64_t i = 0; i < BYPASS_LARGEST; i++) {
        const struct wio_rig_io io = {.file = WIO_RIG_BYPASS,
                                      .way = WIO_RIG_SYNC,
                                      .offset = i * measure->largest,
                                      .size = measure->largest};
        WIO_TRY(wio_measure_write(measure, &io, &seconds, err));
        measure->bypass_bytes += io.size;
    }
    WIO_TRY(rig->fsync(rig->context, WIO_RIG_BYPASS, &seconds, err));
    return rig->drop(rig->context, WIO_RIG_BYPASS, err);
}

/* Is O_DIRECT accepted here? */
static enum wio_status choose_way(struct wio_measure *measure, enum wio_rig_way *way_out,
                                  struct wio_error *err)
{
    const struct wio_rig_io io = {.file = WIO_RIG_BYPASS, .way = WIO_RIG_DIRECT, .size = BLOCK};
    double seconds;
    enum wio_status status = wio_measure_write(measure, &io, &seconds, err);
    measure->out->is_direct = status == WIO_OK;
    *way_out = measure->out->is_direct ? WIO_RIG_DIRECT : WIO_RIG_SYNC;
    return status == WIO_ERR_UNSUPPORTED ? WIO_OK : status;
}

/* Of what is left of the time, each of `parts` gets as much. */
static void slice_time(struct wio_measure *measure, double end_s, size_t parts)
{
    double now_s = measure->rig->now_s(measure->rig->context);
    measure->stage_end_s = now_s + (end_s - now_s) / (double)parts;
}

/* Round by round, one series after the other. */
static enum wio_status take_turns(struct wio_measure *measure, struct wio_series *series,
                                  size_t count, struct wio_error *err)
{
    double end_s = measure->stage_end_s;
    bool has_buffer = wio_measure_get(measure, WIO_PARAM_burst_size) > 0; /* it would empty */
    double rest_s = has_buffer ? 0 : REST_SHARE * measure->params->budget_s / ROUNDS;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            slice_time(measure, end_s, (ROUNDS - round) * count - i);
            WIO_TRY(wio_series_round(measure, &series[i], round, ROUNDS, err));
        }
        if (wio_measure_has_time(measure)) {
            measure->rig->rest(measure->rig->context, rest_s);
        }
    }
    measure->stage_end_s = end_s;
    for (size_t i = 0; i < count; i++) {
        wio_series_end(measure, &series[i]);
    }
    return WIO_OK;
}

static struct wio_series bypass_series(const struct wio_measure *measure, enum wio_rig_way way,
                                       size_t largest_times)
{
    struct wio_series series = wio_series_of(measure, WIO_RIG_BYPASS, way, largest_times);
    series.bytes = measure->bypass_bytes;
    return series;
}

enum wio_status wio_measure_tables(struct wio_measure *measure, struct wio_error *err)
{
    enum { DIRECT, SYNC, APPEND, NOSYNC, COUNT };
    enum wio_rig_way way;
    WIO_TRY(make_bypass(measure, err));
    WIO_TRY(choose_way(measure, &way, err));
    struct wio_series series[COUNT] = {
        [DIRECT] = bypass_series(measure, way, DIRECT_TIMES),
        [SYNC] = wio_series_of(measure, WIO_RIG_BASE, WIO_RIG_SYNC, LARGEST_TIMES),
        [APPEND] = wio_series_of(measure, WIO_RIG_APPEND, WIO_RIG_SYNC, APPEND_TIMES),
        [NOSYNC] = bypass_series(measure, WIO_RIG_DIRECT_NOSYNC, NOSYNC_TIMES),
    };
    struct wio_series *direct = &series[DIRECT];
    series[APPEND].is_thin = true;
    double end_s = measure->stage_end_s;
    slice_time(measure, end_s, ROUNDS);
    const size_t largest = direct->levels - 1;
    WIO_TRY(wio_series_row(measure, direct, largest, IN_A_ROW, err));
    find_buffer(measure, direct);
    double pace_s = row_byte_s(direct);
    measure->stage_end_s = end_s;
    WIO_TRY(take_turns(measure, series, measure->out->is_direct ? COUNT : NOSYNC, err));
    if (is_limited(direct, largest, pace_s)) {
        for (size_t i = 0; i < COUNT; i++) {
            wio_series_limit(&series[i], pace_s);
        }
    }
    double byte_s = wio_series_byte_s(direct);
    wio_measure_set(measure, WIO_PARAM_bw_dev, 1 / byte_s, direct->spread[direct->levels - 1]);
    wio_measure_set(measure, WIO_PARAM_sc_sw, wio_series_call_s(direct, byte_s), direct->spread[0]);
    measure->out->direct_table = wio_series_table(direct, byte_s);
    measure->out->sync_table = wio_series_table(&series[SYNC], 0);
    measure->out->append_table =
        wio_series_table(&series[APPEND], wio_series_byte_s(&series[SYNC]));
    if (measure->out->is_direct) {
        measure->out->direct_nosync_table = wio_series_table(&series[NOSYNC], 0);
    }
    return measure->rig->remove(measure->rig->context, WIO_RIG_APPEND, err);
}
