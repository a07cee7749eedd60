/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "job/stats.h"

static uint64_t bytes_of(const struct wio_job_stats *stats, const struct wio_job_row *row)
{
    const struct wio_job_counter *read = wio_job_stats_counter(stats, row, WIO_JOB_OP_READ_BYTES);
    const struct wio_job_counter *write = wio_job_stats_counter(stats, row, WIO_JOB_OP_WRITE_BYTES);
    const uint64_t a = read != NULL ? read->sum : 0;
    const uint64_t b = write != NULL ? write->sum : 0;
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t samples_of(const struct wio_job_stats *stats, const struct wio_job_row *row)
{
    uint64_t samples = 0;
    for (unsigned op = 0; op < WIO_JOB_OP_COUNT; op++) {
        const struct wio_job_counter *counter = wio_job_stats_counter(stats, row, op);
        samples += counter != NULL ? counter->samples : 0;
    }
    return samples;
}

/* Does `a` stand in front of `b`? Rows lie in order of appearance. */
static bool is_before(const struct wio_job_stats *stats, const struct wio_job_row *a,
                      const struct wio_job_row *b)
{
    const uint64_t bytes_a = bytes_of(stats, a);
    const uint64_t bytes_b = bytes_of(stats, b);
    if (bytes_a != bytes_b) {
        return bytes_a > bytes_b;
    }
    const uint64_t samples_a = samples_of(stats, a);
    const uint64_t samples_b = samples_of(stats, b);
    return samples_a != samples_b ? samples_a > samples_b : a < b;
}

/* A heap whose first row is the last one of those that are kept. */
static void sink(const struct wio_job_stats *stats, const struct wio_job_row **heap, size_t count,
                 size_t at)
{
    const struct wio_job_row *row = heap[at];
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(stats, heap[child], heap[child + 1])) {
            child++;
        }
        if (!is_before(stats, row, heap[child])) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = row;
}

size_t wio_job_stats_top(const struct wio_job_stats *stats, const struct wio_job_row **rows_out,
                         size_t count)
{
    const size_t rows = wio_job_stats_count(stats);
    const size_t kept = count < rows ? count : rows;
    for (size_t i = 0; i < kept; i++) {
        rows_out[i] = wio_job_stats_row(stats, i);
    }
    for (size_t i = kept / 2; i-- > 0;) {
        sink(stats, rows_out, kept, i);
    }
    for (size_t i = kept; kept > 0 && i < rows; i++) {
        const struct wio_job_row *row = wio_job_stats_row(stats, i);
        if (is_before(stats, row, rows_out[0])) {
            rows_out[0] = row;
            sink(stats, rows_out, kept, 0);
        }
    }
    for (size_t left = kept; left > 1; left--) {
        const struct wio_job_row *last = rows_out[0];
        rows_out[0] = rows_out[left - 1];
        rows_out[left - 1] = last;
        sink(stats, rows_out, left - 1, 0);
    }
    return kept;
}
