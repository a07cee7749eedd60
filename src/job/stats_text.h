/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of jobs as text, in pieces to a function of the caller's.
 *
 * YAML has the layout of job_stats of Lustre's servers (lctl get_param *.*.job_stats):
 *
 *     job_stats:
 *     - job_id:          4711
 *       snapshot_time:   1763920001.250000000 secs.nsecs
 *       start_time:      1763920000.000000000 secs.nsecs
 *       elapsed_time:    1.250000000 secs.nsecs
 *       write_bytes:     { samples:          16, unit: bytes, min:    65536, max:    65536, sum:
 * ...
 *
 * with names as quote.h writes them. A histogram's keys are the highest value of a bucket, as
 * there: 4K is 2,049 to 4,096. Lustre prints operations without a sample, too: `is_all`.
 *
 * Prometheus has the text exposition format, version 0.0.4: histograms whyio_job_duration_seconds
 * and whyio_job_size_bytes with labels job and operation.
 */
#ifndef WIO_JOB_STATS_TEXT_H
#define WIO_JOB_STATS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/names.h"
#include "job/stats.h"

struct wio_job_sink {
    void (*put)(void *context, const char *text, size_t bytes);
    void *context;
};

struct wio_job_output {
    const struct wio_job_stats *stats;
    const struct wio_job_names *names;
    const struct wio_job_row *const *rows; /* which, in this order; NULL = all */
    size_t row_count;
    uint64_t unix_ns; /* added to the times of samples: since 1970 */
    bool is_all;      /* operations without a sample, too */
};

void wio_job_stats_yaml(const struct wio_job_output *output, const struct wio_job_sink *sink);
void wio_job_stats_prometheus(const struct wio_job_output *output, const struct wio_job_sink *sink);

/* The i-th row of an output, NULL behind the last. */
const struct wio_job_row *wio_job_output_row(const struct wio_job_output *output, size_t i);

/* Decimal digits of a sum of squares, without a NUL: at most WIO_JOB_SQUARES_BYTES. */
#define WIO_JOB_SQUARES_BYTES 39u
size_t wio_job_squares_text(const uint64_t squares[2], char *text_out);

#endif
