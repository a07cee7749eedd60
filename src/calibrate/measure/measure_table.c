/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes that wait for the device: directly, synchronously, at the end of a file. All of them take
 * turns, so that each meets what the device is like in the course of the measurement.
 *
 * What a large direct write takes depends on where its bytes are: a request of pages that lie
 * anywhere in memory has a piece for each of them. Write-back has the page cache's folios, so
 * bw_dev is measured out of huge pages; the tables are of ordinary memory, as programs have it.
 */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "calibrate/measure/measure_rate.h"
#include "calibrate/measure/measure_sustained.h"

#define BLOCK UINT64_C(4096)
/* Rests between rounds, of the time for all: disks have moods that last for seconds. */
#define REST_SHARE 0.1
/* The file for direct writes, in L; not the others' file, since they would lose its pages. */
#define BYPASS_LARGEST 2
/* Repetitions of L in all rounds. */
#define LARGEST_TIMES 4
#define DIRECT_TIMES 4
#define INSTEAD_TIMES 10 /* of synchronous ones where there are no direct ones */
#define BULK_TIMES 4
#define APPEND_TIMES 4
#define NOSYNC_TIMES 3
/* Of the sizes whose line tells the rate. */
#define BULK_LEVELS 3
/* Of one page in a large folio. */
#define PAGE_TIMES 160
/* Of a row of L the first ones are not counted. */
#define NOT_COUNTED 2

/* What was in a buffer when it was full, after `before` writes of a row: what these left in it, and
 * what the making of the files may have left. */
static double buffered(const struct wio_measure *measure, const struct wio_series *series,
                       const struct wio_estimate_drop *drop)
{
    size_t level = series->levels - 1;
    size_t after = series->count[level] - drop->before;
    double row = (double)drop->before * (double)series->size[level];
    double elapsed_s = measure->rig->now_s(measure->rig->context) - measure->base_begun_s -
                       wio_estimate_sum(series->samples[level] + drop->before, after);
    return fmax(row * (1 - drop->slow / drop->fast),
                row + (double)(measure->base_bytes + series->bytes) - elapsed_s * drop->slow);
}

/* The first writes of L may have gone into a buffer of the device: then they do not count. */
static void find_buffer(struct wio_measure *measure, struct wio_series *series)
{
    double rates[WIO_MEASURE_ROW];
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
    WIO_TRY(rig->drop(rig->context, WIO_RIG_BYPASS, &seconds, err));
    wio_measure_set(measure, WIO_PARAM_c_forget,
                    seconds * (double)BLOCK / (double)measure->bypass_bytes, (double)NAN);
    return WIO_OK;
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

/* Between rounds; meanwhile a buffer of the device would empty, and a limit's credit grow. */
static double rest_of(const struct wio_measure *measure, const struct wio_series *row)
{
    bool has_credit =
        wio_measure_get(measure, WIO_PARAM_burst_size) > 0 || wio_pace_comes_in_bunches(row);
    return has_credit ? 0 : REST_SHARE * measure->params->budget_s / WIO_SERIES_ROUNDS;
}

/* Round by round, one series after the other. Each round writes from other memory: what a large
 * direct write takes depends on how its pages lie, and that is chance. */
static enum wio_status take_turns(struct wio_measure *measure, struct wio_series *series,
                                  size_t count, double rest_s, struct wio_error *err)
{
    double end_s = measure->stage_end_s;
    for (size_t round = 0; round < WIO_SERIES_ROUNDS; round++) {
        WIO_TRY(measure->rig->renew_memory(measure->rig->context, measure->largest, err));
        for (size_t i = 0; i < count; i++) {
            slice_time(measure, end_s, (WIO_SERIES_ROUNDS - round) * count - i);
            WIO_TRY(wio_series_round(measure, &series[i], round, err));
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

enum { DIRECT, SYNC, APPEND, WITHOUT_DIRECT, NOSYNC = WITHOUT_DIRECT, BULK, PAGE, COUNT };

static struct wio_series bypass_series(const struct wio_measure *measure, enum wio_rig_way way,
                                       size_t largest_times)
{
    struct wio_series series = wio_series_of(measure, WIO_RIG_BYPASS, way, largest_times);
    series.bytes = measure->bypass_bytes;
    return series;
}

/* The largest sizes out of huge pages. */
static struct wio_series bulk_series(const struct wio_measure *measure)
{
    struct wio_series series = bypass_series(measure, WIO_RIG_DIRECT, BULK_TIMES);
    size_t left_out = series.levels > BULK_LEVELS ? series.levels - BULK_LEVELS : 0;
    series.from_huge = true;
    series.levels -= left_out;
    memmove(series.size, series.size + left_out, series.levels * sizeof(series.size[0]));
    return series;
}

/* Bytes of the folios that the base file has where it was written in pieces of L. */
static uint64_t folio_of(const struct wio_measure *measure)
{
    double most = fmin(wio_measure_get(measure, WIO_PARAM_balance_step), (double)measure->largest);
    uint64_t folio = BLOCK;
    while (2 * (double)folio <= most) {
        folio *= 2;
    }
    return folio;
}

/* One page of a large folio. */
static struct wio_series page_series(const struct wio_measure *measure)
{
    struct wio_series series = wio_series_of(measure, WIO_RIG_BASE, WIO_RIG_SYNC, PAGE_TIMES);
    series.levels = 1;
    series.first = measure->base_bytes / 2 / folio_of(measure) * folio_of(measure);
    return series;
}

/* Of the first size's median, in seconds. */
static double error_of(const struct wio_series *series)
{
    return series->spread[0] * series->middle[0] / sqrt((double)series->count[0]);
}

/* What each further page of a folio adds; 0 where no difference can be seen. */
static void set_page_cost(struct wio_measure *measure, const struct wio_series *page,
                          const struct wio_series *sync)
{
    uint64_t pages = folio_of(measure) / BLOCK - 1;
    bool is_known = pages > 0 && page->levels > 0 && sync->levels > 0;
    double more = is_known ? page->middle[0] - sync->middle[0] : 0;
    double error = is_known ? hypot(error_of(page), error_of(sync)) : 0;
    bool is_seen = more > 2 * error;
    wio_measure_set(measure, WIO_PARAM_c_page_sync, is_seen ? more / (double)pages : 0,
                    is_seen ? error / more : (double)NAN);
}

/* Memory for buffers is taken from what lies about in pieces first: the larger a buffer, the more
 * of it lies in one piece. How much is not known, so what is larger than L goes on at a rate in the
 * middle between both. */
static struct wio_model_table direct_table(const struct wio_series *series, double byte_s)
{
    const struct wio_series_bounds bounds = {
        .least_byte_s = byte_s,
        .tail_byte_s = sqrt(byte_s * fmax(wio_series_byte_s(series), byte_s)),
    };
    return wio_series_table(series, &bounds);
}

/* Behind the background limit the kernel writes while the rest is copied, so that the slower one of
 * both decides. */
static struct wio_model_table cached_table(const struct wio_measure *measure,
                                           const struct wio_series *series, double byte_s)
{
    const struct wio_series_bounds bounds = {
        .least_byte_s = byte_s,
        .bend = wio_measure_get(measure, WIO_PARAM_limit_bg),
        .tail_byte_s = 1 / wio_measure_get(measure, WIO_PARAM_bw_ramdisk),
    };
    return wio_series_table(series, &bounds);
}

static void set_spread(struct wio_measure *measure, enum wio_calibrate_table table,
                       const struct wio_series *series)
{
    memcpy(measure->out->table_spread[table], series->spread,
           series->levels * sizeof(series->spread[0]));
}

static void set_tables(struct wio_measure *measure, const struct wio_series series[COUNT],
                       double byte_s)
{
    struct wio_calibration *out = measure->out;
    out->direct_table = direct_table(&series[DIRECT], byte_s);
    out->sync_table = cached_table(measure, &series[SYNC], byte_s);
    out->append_table = cached_table(measure, &series[APPEND], byte_s);
    set_spread(measure, WIO_CALIBRATE_DIRECT, &series[DIRECT]);
    set_spread(measure, WIO_CALIBRATE_SYNC, &series[SYNC]);
    set_spread(measure, WIO_CALIBRATE_APPEND, &series[APPEND]);
    if (out->is_direct) {
        set_spread(measure, WIO_CALIBRATE_DIRECT_NOSYNC, &series[NOSYNC]);
        out->direct_nosync_table = direct_table(&series[NOSYNC], byte_s);
        set_page_cost(measure, &series[PAGE], &series[SYNC]);
    }
}

static void keep_middles(struct wio_measure *measure, const struct wio_series series[COUNT])
{
    measure->unwaited[WIO_CALIBRATE_DIRECT] = wio_series_middle(&series[DIRECT]);
    measure->unwaited[WIO_CALIBRATE_SYNC] = wio_series_middle(&series[SYNC]);
    measure->unwaited[WIO_CALIBRATE_APPEND] = wio_series_middle(&series[APPEND]);
    if (measure->out->is_direct) {
        measure->unwaited[WIO_CALIBRATE_DIRECT_NOSYNC] = wio_series_middle(&series[NOSYNC]);
    }
}

/* What a limit by slices is to a model. */
static void set_hold(struct wio_measure *measure, const struct wio_sustained_rate *hold)
{
    measure->is_hold_unclear = hold->is_unclear;
    measure->out->params[WIO_PARAM_bw_dev].is_better_with_bytes = hold->is_short;
    if (!isnan(hold->byte_s)) {
        wio_measure_set(measure, WIO_PARAM_bw_burst, hold->burst_bw, (double)NAN);
        wio_measure_set(measure, WIO_PARAM_burst_size, hold->slice_s / hold->byte_s, (double)NAN);
        wio_measure_set(measure, WIO_PARAM_slice, hold->slice_s, hold->spread);
    }
}

/* What a byte takes in the long run; NaN: what the sizes say. */
static double limit_of(const struct wio_sustained_rate *hold, const struct wio_series *bulk,
                       const struct wio_series *all, double pace_s)
{
    if (!isnan(hold->byte_s)) {
        return hold->byte_s;
    }
    return wio_pace_is_limited(bulk, all, pace_s) ? pace_s : (double)NAN;
}

enum wio_status wio_measure_tables(struct wio_measure *measure, struct wio_error *err)
{
    enum wio_rig_way way;
    struct wio_sustained_rate hold;
    WIO_TRY(make_bypass(measure, err));
    WIO_TRY(choose_way(measure, &way, err));
    bool is_direct = measure->out->is_direct;
    struct wio_series series[COUNT] = {
        [DIRECT] = bypass_series(measure, way, is_direct ? DIRECT_TIMES : INSTEAD_TIMES),
        [SYNC] = wio_series_of(measure, WIO_RIG_BASE, WIO_RIG_SYNC, LARGEST_TIMES),
        [APPEND] = wio_series_of(measure, WIO_RIG_APPEND, WIO_RIG_SYNC, APPEND_TIMES),
        [NOSYNC] = bypass_series(measure, WIO_RIG_DIRECT_NOSYNC, NOSYNC_TIMES),
        [BULK] = bulk_series(measure),
        [PAGE] = page_series(measure),
    };
    struct wio_series *bulk = &series[is_direct ? BULK : DIRECT];
    series[SYNC].small_below = is_direct ? folio_of(measure) : 0;
    series[APPEND].is_thin = true;
    double end_s = measure->stage_end_s;
    slice_time(measure, end_s, WIO_SERIES_ROUNDS);
    WIO_TRY(wio_series_row(measure, bulk, bulk->levels - 1, WIO_MEASURE_ROW, err));
    find_buffer(measure, bulk);
    WIO_TRY(wio_measure_hold(measure, bulk, &hold, err));
    set_hold(measure, &hold);
    double pace_s = wio_pace_of_row(bulk);
    double rest_s = rest_of(measure, bulk);
    measure->stage_end_s = end_s;
    WIO_TRY(take_turns(measure, series, is_direct ? COUNT : WITHOUT_DIRECT, rest_s, err));
    double byte_s = limit_of(&hold, bulk, &series[DIRECT], pace_s);
    for (size_t i = 0; i < COUNT && !isnan(byte_s); i++) {
        wio_series_limit(&series[i], byte_s);
    }
    byte_s = isnan(byte_s) ? wio_series_byte_s(bulk) : byte_s;
    wio_measure_set(measure, WIO_PARAM_bw_dev, 1 / byte_s,
                    isnan(hold.byte_s) ? bulk->spread[bulk->levels - 1] : hold.spread);
    wio_measure_set(measure, WIO_PARAM_sc_sw, wio_series_call_s(&series[DIRECT], byte_s),
                    series[DIRECT].spread[0]);
    set_tables(measure, series, byte_s);
    keep_middles(measure, series);
    return measure->rig->remove(measure->rig->context, WIO_RIG_APPEND, err);
}
