/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the data of a reply to JOB_STATS consist of: rows, one for each job, each followed by the
 * counters of its operations (docs/STORE-PROTOCOL.md#replies, R-WIRE-20). Pure.
 */
#ifndef WIO_STORE_WIRE_JOB_ROWS_H
#define WIO_STORE_WIRE_JOB_ROWS_H

#include "base/buf.h"
#include "store/messages.h"

enum { WIO_WIRE_JOB_BUCKETS = 65, WIO_WIRE_JOB_COUNTERS_MAX = 255 };

struct wio_wire_job_row {
    const char *name; /* borrowed, not ended by NUL; no bytes: no job, or not known */
    uint32_t name_size;
    uint64_t first_ns; /* since 1970; of the first sample, and of the last */
    uint64_t last_ns;
    uint64_t errors; /* operations that failed */
    uint8_t counters;
};

/* As struct wio_job_counter; bucket_count numbers, the first one for bucket_first. */
struct wio_wire_job_counter {
    uint8_t op; /* enum wio_job_op; not its highest number, which grows */
    uint64_t samples;
    uint64_t least;
    uint64_t greatest;
    uint64_t sum;
    uint64_t squares[2]; /* low, high */
    uint8_t bucket_first;
    uint8_t bucket_count;
    uint64_t buckets[WIO_WIRE_JOB_BUCKETS];
};

/* The caller appends row.counters counters behind it. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_wire_put_job_row(struct wio_blob *out,
                                                    const struct wio_wire_job_row *row);
WIO_MUST_CHECK enum wio_status wio_wire_put_job_counter(struct wio_blob *out,
                                                        const struct wio_wire_job_counter *counter);
/* The next row: WIO_END behind the last. WIO_ERR_FORMAT, WIO_ERR_TRUNCATED. */
WIO_MUST_CHECK enum wio_status wio_wire_get_job_row(struct wio_buf *data,
                                                    struct wio_wire_job_row *row_out);
WIO_MUST_CHECK enum wio_status wio_wire_get_job_counter(struct wio_buf *data,
                                                        struct wio_wire_job_counter *counter_out);

#endif
