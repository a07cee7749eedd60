/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes that wait for the device, by size: sizes are four times as large as the one before, up to
 * L. All of one size come in a row, as a program's do; the largest size first: a limit of the rate
 * that lets some bytes pass after a rest has no more to give then. The thread is on the processor
 * that the kernel gives it, as a program is that is tied to none: from another one than that which
 * the device interrupts a small write may take half as long again.
 */
#ifndef WIO_CALIBRATE_MEASURE_MEASURE_SERIES_H
#define WIO_CALIBRATE_MEASURE_MEASURE_SERIES_H

#include "calibrate/measure/measure.h"

#define WIO_SERIES_LEVELS 9 /* 4 KiB to 64 MiB, and one that is no power of four */
#define WIO_SERIES_TIMES_MOST 160
#define WIO_SERIES_ROUNDS 8

struct wio_series {
    enum wio_rig_file file;
    enum wio_rig_way way;
    uint64_t bytes;       /* of the file: behind them comes its beginning */
    size_t largest_times; /* repetitions of L; twice as many for each smaller size */
    /* Only the faster half counts, where there are two: a thin device takes several times as long
     * for blocks that it never had, and which ones the file system takes is not known. What was in
     * use for long has had them all. */
    bool is_thin;
    bool from_huge; /* as of struct wio_rig_io */
    /* Writes of less than so many bytes go into WIO_RIG_BYPASS and find none of its pages in
     * memory: so they make folios of their own size. 0: all go into `file`. */
    uint64_t small_below;
    uint64_t first; /* offset at which a round begins */
    uint64_t offset;
    size_t levels;
    uint64_t size[WIO_SERIES_LEVELS]; /* rising */
    double samples[WIO_SERIES_LEVELS][WIO_SERIES_TIMES_MOST];
    size_t count[WIO_SERIES_LEVELS];
    double warm_s; /* of writes that are no samples, which a limit counts all the same */
    double warm_bytes;
    struct wio_estimate_point points[WIO_SERIES_LEVELS];
    double middle[WIO_SERIES_LEVELS]; /* seconds: medians of what waited for no limit */
    double spread[WIO_SERIES_LEVELS];
};

struct wio_series wio_series_of(const struct wio_measure *measure, enum wio_rig_file file,
                                enum wio_rig_way way, size_t largest_times);

/* One size until it was written so often, as long as there is time. */
WIO_MUST_CHECK enum wio_status wio_series_row(struct wio_measure *measure,
                                              struct wio_series *series, size_t level, size_t times,
                                              struct wio_error *err);
/* All sizes: a round, counted from 0 to WIO_SERIES_ROUNDS, with its part of the repetitions. */
WIO_MUST_CHECK enum wio_status wio_series_round(struct wio_measure *measure,
                                                struct wio_series *series, size_t round,
                                                struct wio_error *err);
/* Forget the first samples of a size. */
void wio_series_skip(struct wio_series *series, size_t level, size_t count);

/* Once all is written: `points` and `spread`, and only the sizes that were. */
void wio_series_end(const struct wio_measure *measure, struct wio_series *series);
/* Afterwards: no byte takes less than `byte_s`, the pace of a device whose rate is limited. */
void wio_series_limit(struct wio_series *series, double byte_s);
/* What a byte costs, by the largest sizes. Of no size: NaN, as the next one. */
double wio_series_byte_s(const struct wio_series *series);
/* What a call costs, by the smallest. */
double wio_series_call_s(const struct wio_series *series, double byte_s);

/* What is known of a table beyond its sizes. */
struct wio_series_bounds {
    double least_byte_s; /* that a byte takes at any size: what is faster for a moment lives on the
                          * credit of a limit, whose debt others pay */
    double bend;         /* bytes up to which the line of the largest sizes goes on .. */
    double tail_byte_s;  /* .. and what a byte takes behind it */
};
/* A table is written down to so many times its largest size. */
#define WIO_SERIES_TAIL_TIMES 16

/* What most writes of a size took, which waited for no limit. */
struct wio_model_table wio_series_middle(const struct wio_series *series);
/* Empty where no size was written. */
struct wio_model_table wio_series_table(const struct wio_series *series,
                                        const struct wio_series_bounds *bounds);

#endif
