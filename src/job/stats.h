/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of jobs: for each job and operation the number of samples, their least, greatest, sum,
 * sum of squares, and how many lie in (2^(n-1), 2^n] (0 and 1 in the first).
 *
 *     wio_job_stats_add(stats, job, WIO_JOB_OP_WRITE_BYTES, 65536, now_ns);
 *
 * Jobs are the numbers of names.h. An object belongs to one thread; each event loop has its own,
 * and the reader merges them. Sums of squares have 128 bits, all others 64: nothing wraps before
 * 1.8e19 (sums stay there).
 *
 * Memory: 120 bytes a job, and 64 and the histogram (8 bytes for each power of two between the
 * least and the greatest value) for each operation of it that occurred.
 */
#ifndef WIO_JOB_STATS_H
#define WIO_JOB_STATS_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/alloc.h"

enum wio_job_op {
#define WIO_JOB_OP(id, name, unit) WIO_JOB_OP_##id,
#include "job/stats_ops.def"
#undef WIO_JOB_OP
    WIO_JOB_OP_COUNT
};

/* "write_bytes", "bytes"; never NULL. */
const char *wio_job_op_name(unsigned op);
const char *wio_job_op_unit(unsigned op);

#define WIO_JOB_BUCKETS 65u

/* One operation of one job. `buckets` has bucket_count numbers, the first one for `bucket_first`.
 */
struct wio_job_counter {
    uint64_t samples;
    uint64_t least;
    uint64_t greatest;
    uint64_t sum;
    uint64_t squares[2]; /* low, high */
    uint64_t *buckets;
    uint8_t bucket_first;
    uint8_t bucket_count;
};

struct wio_job_row {
    uint64_t first_ns; /* of the first sample */
    uint64_t last_ns;
    uint32_t job;
    uint32_t counters[WIO_JOB_OP_COUNT]; /* internal */
};

struct wio_job_stats;

/* The caller owns the result. Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_job_stats_create(const struct wio_alloc *alloc,
                                                    struct wio_job_stats **stats_out);
/* Accepts NULL. */
void wio_job_stats_destroy(struct wio_job_stats *stats);

/* One sample. Fails with WIO_ERR_NOMEM; the sample is not counted then. */
WIO_MUST_CHECK enum wio_status wio_job_stats_add(struct wio_job_stats *stats, uint32_t job,
                                                 enum wio_job_op op, uint64_t value,
                                                 uint64_t now_ns);
/* Add samples that were counted elsewhere: counter->buckets has counter->bucket_count numbers,
 * below WIO_JOB_BUCKETS. Fails with WIO_ERR_NOMEM; a part may have been added then. */
WIO_MUST_CHECK enum wio_status wio_job_stats_add_counter(struct wio_job_stats *stats, uint32_t job,
                                                         enum wio_job_op op,
                                                         const struct wio_job_counter *counter,
                                                         uint64_t first_ns, uint64_t last_ns);
/* Add all that `other` has. On WIO_ERR_NOMEM a part may have been added. */
WIO_MUST_CHECK enum wio_status wio_job_stats_merge(struct wio_job_stats *stats,
                                                   const struct wio_job_stats *other);

/* Drop one job, all, or those without a sample since `before_ns`. Gives the number of jobs. */
size_t wio_job_stats_clear(struct wio_job_stats *stats, uint32_t job);
size_t wio_job_stats_clear_all(struct wio_job_stats *stats);
size_t wio_job_stats_purge(struct wio_job_stats *stats, uint64_t before_ns);

/* Jobs, in order of first appearance as long as none was dropped. Borrowed, valid until the next
 * change. */
size_t wio_job_stats_count(const struct wio_job_stats *stats);
const struct wio_job_row *wio_job_stats_row(const struct wio_job_stats *stats, size_t i);
/* NULL where the job has none. */
const struct wio_job_row *wio_job_stats_find(const struct wio_job_stats *stats, uint32_t job);
/* NULL where the operation did not occur. */
const struct wio_job_counter *wio_job_stats_counter(const struct wio_job_stats *stats,
                                                    const struct wio_job_row *row, unsigned op);

/* The highest value of a bucket: 1, 2, 4, ...; for the last one 2^64 - 1. */
uint64_t wio_job_bucket_most(unsigned bucket);

/* Rows of the `count` jobs that moved the most bytes (read and written), then had the most samples,
 * then came first; the most first. `rows_out` has room for `count`; gives how many there are. */
size_t wio_job_stats_top(const struct wio_job_stats *stats, const struct wio_job_row **rows_out,
                         size_t count);

#endif
