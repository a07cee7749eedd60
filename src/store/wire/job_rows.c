/* SPDX-License-Identifier: Apache-2.0 */
/* R-WIRE-20 */
#include "store/wire/job_rows.h"

#include <string.h>

#include "base/cleanup.h"
#include "store/wire/parts.h"

enum wio_status wio_wire_put_job_row(struct wio_blob *out, const struct wio_wire_job_row *row)
{
    WIO_TRY(wio_wire_put_text(out, row->name, row->name_size));
    WIO_TRY(wio_blob_u64(out, row->first_ns));
    WIO_TRY(wio_blob_u64(out, row->last_ns));
    WIO_TRY(wio_blob_u64(out, row->errors));
    return wio_blob_u8(out, row->counters);
}

enum wio_status wio_wire_get_job_row(struct wio_buf *data, struct wio_wire_job_row *row_out)
{
    *row_out = (struct wio_wire_job_row){0};
    if (wio_buf_left(data) == 0) {
        return WIO_END;
    }
    WIO_TRY(wio_wire_get_text(data, WIO_STORE_PATH_MAX, &row_out->name, &row_out->name_size));
    WIO_TRY(wio_buf_u64(data, &row_out->first_ns));
    WIO_TRY(wio_buf_u64(data, &row_out->last_ns));
    WIO_TRY(wio_buf_u64(data, &row_out->errors));
    WIO_TRY(wio_buf_u8(data, &row_out->counters));
    bool is_name =
        row_out->name_size == 0 || memchr(row_out->name, '\0', row_out->name_size) == NULL;
    return is_name && row_out->last_ns >= row_out->first_ns ? WIO_OK : WIO_ERR_FORMAT;
}

enum wio_status wio_wire_put_job_counter(struct wio_blob *out,
                                         const struct wio_wire_job_counter *counter)
{
    WIO_TRY(wio_blob_u8(out, counter->op));
    WIO_TRY(wio_blob_u64(out, counter->samples));
    WIO_TRY(wio_blob_u64(out, counter->least));
    WIO_TRY(wio_blob_u64(out, counter->greatest));
    WIO_TRY(wio_blob_u64(out, counter->sum));
    WIO_TRY(wio_blob_u64(out, counter->squares[0]));
    WIO_TRY(wio_blob_u64(out, counter->squares[1]));
    WIO_TRY(wio_blob_u8(out, counter->bucket_first));
    WIO_TRY(wio_blob_u8(out, counter->bucket_count));
    for (unsigned i = 0; i < counter->bucket_count; i++) {
        WIO_TRY(wio_blob_u64(out, counter->buckets[i]));
    }
    return WIO_OK;
}

enum wio_status wio_wire_get_job_counter(struct wio_buf *data,
                                         struct wio_wire_job_counter *counter_out)
{
    WIO_TRY(wio_buf_u8(data, &counter_out->op));
    WIO_TRY(wio_buf_u64(data, &counter_out->samples));
    WIO_TRY(wio_buf_u64(data, &counter_out->least));
    WIO_TRY(wio_buf_u64(data, &counter_out->greatest));
    WIO_TRY(wio_buf_u64(data, &counter_out->sum));
    WIO_TRY(wio_buf_u64(data, &counter_out->squares[0]));
    WIO_TRY(wio_buf_u64(data, &counter_out->squares[1]));
    WIO_TRY(wio_buf_u8(data, &counter_out->bucket_first));
    WIO_TRY(wio_buf_u8(data, &counter_out->bucket_count));
    if (counter_out->bucket_first + counter_out->bucket_count > WIO_WIRE_JOB_BUCKETS ||
        counter_out->samples == 0 || counter_out->least > counter_out->greatest) {
        return WIO_ERR_FORMAT;
    }
    for (unsigned i = 0; i < counter_out->bucket_count; i++) {
        WIO_TRY(wio_buf_u64(data, &counter_out->buckets[i]));
    }
    return WIO_OK;
}
