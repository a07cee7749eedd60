/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/measure/measure_series.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"

#define SMALLEST UINT64_C(4096)
/* The smallest sizes say what a call costs, the largest ones what a byte costs. */
#define LINE_LEVELS 3
/* What a line says of a byte counts where bytes are this part of the largest's time at least: below
 * it is noise. */
#define BYTES_SHARE 0.1
/* So much of a time is as good as that, and so little is something else. */
#define AS_MEMORY 2
#define ON_CREDIT 0.6
/* A write that took so many times as long as the first quarter waited for something. */
#define WAITED_TIMES 8
/* A normal distribution has 1.5. */
#define DIVIDED 4
#define DIVIDED_LEAST 8
/* Of L, sizes that are no larger are written in rows. What comes first in a row takes a fifth to
 * twice as long as the rest: so many do not count, and so many do in each round at least. */
#define ROW_PART 16
#define WARM 2
#define COUNTED 2

struct wio_series wio_series_of(const struct wio_measure *measure, enum wio_rig_file file,
                                enum wio_rig_way way, size_t largest_times)
{
    struct wio_series series = {
        .file = file, .way = way, .bytes = measure->base_bytes, .largest_times = largest_times};
    for (uint64_t size = SMALLEST; size < measure->largest; size *= 4) {
        series.size[series.levels++] = size;
    }
    series.size[series.levels++] = measure->largest;
    return series;
}

/* Larger ones take so long that what was before plays no part. */
static bool is_in_rows(const struct wio_series *series, size_t level)
{
    return series->size[level] * ROW_PART <= series->size[series->levels - 1];
}

static size_t times_of(const struct wio_series *series, size_t level)
{
    size_t smaller = series->levels - 1 - level;
    size_t times = series->largest_times << smaller;
    size_t in_rows = (size_t)WIO_SERIES_ROUNDS * COUNTED;
    if (is_in_rows(series, level) && times < in_rows) {
        return in_rows;
    }
    return times < WIO_SERIES_TIMES_MOST ? times : WIO_SERIES_TIMES_MOST;
}

/* ---- writing ---- */

/* Files are written over again and again, but one grows and begins anew. */
static enum wio_status begin_anew(struct wio_measure *measure, struct wio_series *series,
                                  struct wio_error *err)
{
    series->offset = series->first;
    if (series->file != WIO_RIG_APPEND) {
        return WIO_OK;
    }
    return measure->rig->remove(measure->rig->context, series->file, err);
}

static enum wio_status write_one(struct wio_measure *measure, struct wio_series *series,
                                 uint64_t size, double *seconds_out, struct wio_error *err)
{
    bool is_small = size < series->small_below;
    if (series->offset + size > (is_small ? measure->bypass_bytes : series->bytes)) {
        WIO_TRY(begin_anew(measure, series, err));
    }
    const struct wio_rig_io io = {.file = is_small ? WIO_RIG_BYPASS : series->file,
                                  .way = series->way,
                                  .offset = series->offset,
                                  .size = size,
                                  .from_huge = series->from_huge};
    series->offset += size;
    return wio_measure_write(measure, &io, seconds_out, err);
}

enum wio_status wio_series_row(struct wio_measure *measure, struct wio_series *series, size_t level,
                               size_t times, struct wio_error *err)
{
    uint64_t size = series->size[level];
    size_t *count = &series->count[level];
    while (wio_measure_more(measure, *count, times, size)) {
        WIO_TRY(write_one(measure, series, size, &series->samples[level][*count], err));
        (*count)++;
    }
    return WIO_OK;
}

static enum wio_status warm_up(struct wio_measure *measure, struct wio_series *series, size_t level,
                               struct wio_error *err)
{
    uint64_t size = series->size[level];
    double seconds;
    for (size_t i = 0; i < WARM && is_in_rows(series, level) &&
                       wio_measure_more(measure, WIO_MEASURE_LEAST, SIZE_MAX, size);
         i++) {
        WIO_TRY(write_one(measure, series, size, &seconds, err));
        series->warm_s += seconds;
        series->warm_bytes += (double)size;
    }
    return WIO_OK;
}

enum wio_status wio_series_round(struct wio_measure *measure, struct wio_series *series,
                                 size_t round, struct wio_error *err)
{
    WIO_TRY(begin_anew(measure, series, err)); /* in other blocks */
    for (size_t level = series->levels; level-- > 0;) {
        size_t times =
            (times_of(series, level) * (round + 1) + WIO_SERIES_ROUNDS - 1) / WIO_SERIES_ROUNDS;
        WIO_TRY(warm_up(measure, series, level, err));
        WIO_TRY(wio_series_row(measure, series, level, times, err));
        if (series->size[level] < series->small_below) { /* the next size makes its own folios */
            double seconds;
            WIO_TRY(measure->rig->drop(measure->rig->context, WIO_RIG_BYPASS, &seconds, err));
        }
    }
    return WIO_OK;
}

void wio_series_skip(struct wio_series *series, size_t level, size_t count)
{
    series->count[level] -= count;
    memmove(series->samples[level], series->samples[level] + count,
            series->count[level] * sizeof(double));
}

/* ---- what follows ---- */

/* A larger write never costs less: halfway between raising it and lowering the smaller one. */
static void make_rise(struct wio_series *series)
{
    double raised[WIO_SERIES_LEVELS] = {0};
    double most = 0;
    double least = INFINITY;
    for (size_t i = 0; i < series->levels; i++) {
        raised[i] = most = fmax(most, series->points[i].seconds);
    }
    for (size_t i = series->levels; i-- > 0;) {
        least = fmin(least, series->points[i].seconds);
        series->points[i].seconds = sqrt(raised[i] * least);
    }
}

/* Do writes pass in no time, for which others wait, since a limit of the rate gives credit? The
 * middle one as fast as memory, or a quarter of them much faster than that one. */
static bool is_on_credit(const struct wio_measure *measure, const double *sorted, size_t count,
                         double bytes)
{
    double median = sorted[count / 2];
    double memory_s = bytes / wio_measure_get(measure, WIO_PARAM_bw_ramdisk);
    return median < AS_MEMORY * memory_s || sorted[count / 4] < ON_CREDIT * median;
}

/* Are the slower ones something else? Then they are farther from the faster ones than these are
 * from each other: three quarters of them from the first quarter, than that from the fastest ones.
 * Few count as divided. */
static bool is_divided(const double *sorted, size_t count)
{
    double quarter = sorted[count / 4];
    return count < DIVIDED_LEAST ||
           sorted[count * 3 / 4] - quarter > DIVIDED * (quarter - sorted[count / 16]);
}

/* The median: now and then a write needs new memory, which a virtual machine may have to ask for.
 * Of a thin device the middle of the faster half, where the slower one shows that it is thin. */
static double middle_of(const struct wio_series *series, double *samples, size_t count)
{
    double median = wio_estimate_median(samples, count);
    return series->is_thin && is_divided(samples, count)
               ? wio_estimate_center(samples, (count + 1) / 2).value
               : median;
}

/* The median of those that waited for no limit. */
static double unwaited_of(const struct wio_series *series, double *sorted, size_t count)
{
    size_t kept = count;
    while (kept > 1 && sorted[kept - 1] > WAITED_TIMES * sorted[(count - 1) / 4]) {
        kept--;
    }
    return middle_of(series, sorted, kept);
}

/* With credit the mean. */
static struct wio_estimate center_of(const struct wio_measure *measure, struct wio_series *series,
                                     size_t level)
{
    double *samples = series->samples[level];
    size_t count = series->count[level];
    struct wio_estimate center = wio_estimate_center(samples, count); /* sorts */
    if (series->is_thin || !is_on_credit(measure, samples, count, (double)series->size[level])) {
        center.value = middle_of(series, samples, count);
    }
    return center;
}

void wio_series_end(const struct wio_measure *measure, struct wio_series *series)
{
    size_t kept = 0;
    for (size_t i = 0; i < series->levels; i++) {
        if (series->count[i] == 0) {
            continue;
        }
        struct wio_estimate center = center_of(measure, series, i);
        series->points[kept] = (struct wio_estimate_point){(double)series->size[i], center.value};
        series->middle[kept] = unwaited_of(series, series->samples[i], series->count[i]);
        series->spread[kept] = center.spread;
        kept++;
    }
    series->levels = kept;
    if (kept == 0) {
        return;
    }
    make_rise(series);
}

void wio_series_limit(struct wio_series *series, double byte_s)
{
    for (size_t i = 0; i < series->levels; i++) {
        struct wio_estimate_point *point = &series->points[i];
        point->seconds = fmax(point->seconds, point->bytes * byte_s);
    }
}

/* The line of some sizes, of which none goes on faster than `byte_s`: what is faster for a moment
 * lives on the credit of a limit, whose debt others pay. */
static bool find_line(const struct wio_estimate_point *points, size_t count, double byte_s,
                      struct wio_estimate_line *line_out)
{
    struct wio_estimate_point paid[LINE_LEVELS] = {0};
    for (size_t i = 0; i < count; i++) {
        paid[i].bytes = points[i].bytes;
        paid[i].seconds = fmax(points[i].seconds, points[i].bytes * byte_s);
    }
    return wio_estimate_line(paid, count, line_out);
}

static size_t line_levels(const struct wio_series *series)
{
    return series->levels < LINE_LEVELS ? series->levels : LINE_LEVELS;
}

/* Where the largest sizes contradict each other, or took as long as each other, by the largest. */
double wio_series_byte_s(const struct wio_series *series)
{
    struct wio_estimate_line line;
    size_t count = line_levels(series);
    if (count == 0) {
        return (double)NAN;
    }
    const struct wio_estimate_point *last = &series->points[series->levels - 1];
    double mean = last->seconds / last->bytes;
    bool is_line = find_line(last + 1 - count, count, mean, &line);
    return is_line && line.seconds_per_byte >= BYTES_SHARE * mean ? line.seconds_per_byte : mean;
}

/* Where the smallest sizes say nothing, by the smallest. */
double wio_series_call_s(const struct wio_series *series, double byte_s)
{
    struct wio_estimate_line line;
    if (series->levels == 0) {
        return (double)NAN;
    }
    const struct wio_estimate_point *first = &series->points[0];
    if (find_line(first, line_levels(series), byte_s, &line) && line.seconds > 0) {
        return line.seconds;
    }
    return fmax(first->seconds - first->bytes * byte_s, 0);
}

static void add_point(struct wio_model_table *table, double bytes, double byte_s)
{
    struct wio_model_point last = table->points[table->count - 1];
    table->points[table->count++] =
        (struct wio_model_point){bytes, last.seconds + (bytes - last.bytes) * byte_s};
}

struct wio_model_table wio_series_middle(const struct wio_series *series)
{
    struct wio_model_table table = {.count = series->levels};
    double most = 0;
    for (size_t i = 0; i < series->levels; i++) {
        most = fmax(most, series->middle[i]);
        table.points[i] = (struct wio_model_point){series->points[i].bytes, most};
    }
    return table;
}

struct wio_model_table wio_series_table(const struct wio_series *series,
                                        const struct wio_series_bounds *bounds)
{
    struct wio_model_table table = {.count = series->levels};
    if (table.count == 0) {
        return table;
    }
    double least = bounds->least_byte_s;
    for (size_t i = 0; i < series->levels; i++) {
        const struct wio_estimate_point *point = &series->points[i];
        table.points[i] =
            (struct wio_model_point){point->bytes, fmax(point->seconds, point->bytes * least)};
    }
    if (bounds->bend > table.points[table.count - 1].bytes) {
        add_point(&table, bounds->bend, fmax(wio_series_byte_s(series), least));
    }
    add_point(&table, WIO_SERIES_TAIL_TIMES * table.points[table.count - 1].bytes,
              fmax(bounds->tail_byte_s, least));
    return table;
}
