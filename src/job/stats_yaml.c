/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "job/quote.h"
#include "job/stats_text.h"
#include "job/text_buffer.h"

#define NS_DIGITS 9u
#define KEY_COLUMNS 17u /* "snapshot_time:" and blanks up to the values */

const struct wio_job_row *wio_job_output_row(const struct wio_job_output *output, size_t i)
{
    if (output->rows != NULL) {
        return i < output->row_count ? output->rows[i] : NULL;
    }
    return wio_job_stats_row(output->stats, i);
}

size_t wio_job_squares_text(const uint64_t squares[2], char *text_out)
{
    /* Four parts of 32 bits, divided by ten again and again. */
    uint32_t parts[4] = {(uint32_t)(squares[1] >> 32), (uint32_t)squares[1],
                         (uint32_t)(squares[0] >> 32), (uint32_t)squares[0]};
    char digits[WIO_JOB_SQUARES_BYTES];
    size_t at = sizeof(digits);
    do {
        uint64_t rest = 0;
        for (unsigned i = 0; i < 4; i++) {
            rest = rest << 32 | parts[i];
            parts[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digits[--at] = (char)('0' + rest);
    } while ((parts[0] | parts[1] | parts[2] | parts[3]) != 0);
    memcpy(text_out, digits + at, sizeof(digits) - at);
    return sizeof(digits) - at;
}

static void put_squares(struct wio_job_buffer *buffer, const uint64_t squares[2])
{
    if (squares[1] == 0) {
        wio_job_buffer_u64(buffer, squares[0], 18);
        return;
    }
    buffer->used +=
        wio_job_squares_text(squares, wio_job_buffer_room(buffer, WIO_JOB_SQUARES_BYTES));
}

/* The highest value of a bucket, as Lustre has it: 512, 1K, 2M, 4G and so on. */
static void put_bucket(struct wio_job_buffer *buffer, unsigned bucket)
{
    static const char units[] = " KMGTPE";
    if (bucket >= 64) {
        wio_job_buffer_text(buffer, "16E");
        return;
    }
    wio_job_buffer_u64(buffer, UINT64_C(1) << (bucket % 10), 0);
    if (bucket >= 10) {
        wio_job_buffer_bytes(buffer, &units[bucket / 10], 1);
    }
}

static void put_histogram(struct wio_job_buffer *buffer, const struct wio_job_counter *counter)
{
    const char *separator = "";
    WIO_JOB_LITERAL(buffer, ", hist: { ");
    for (unsigned i = 0; i < counter->bucket_count; i++) {
        if (counter->buckets[i] != 0) {
            wio_job_buffer_text(buffer, separator);
            put_bucket(buffer, counter->bucket_first + i);
            WIO_JOB_LITERAL(buffer, ": ");
            wio_job_buffer_u64(buffer, counter->buckets[i], 0);
            separator = ", ";
        }
    }
    wio_job_buffer_text(buffer, separator[0] != '\0' ? " } }\n" : "} }\n");
}

/* "  name:" and blanks. */
static void put_key(struct wio_job_buffer *buffer, const char *name)
{
    static const char blanks[] = "                 ";
    const size_t bytes = strlen(name) + 1;
    WIO_JOB_LITERAL(buffer, "  ");
    wio_job_buffer_bytes(buffer, name, bytes - 1);
    WIO_JOB_LITERAL(buffer, ":");
    wio_job_buffer_bytes(buffer, blanks, bytes < KEY_COLUMNS ? KEY_COLUMNS - bytes : 1);
}

static void put_counter(struct wio_job_buffer *buffer, unsigned op,
                        const struct wio_job_counter *counter)
{
    put_key(buffer, wio_job_op_name(op));
    WIO_JOB_LITERAL(buffer, "{ samples: ");
    wio_job_buffer_u64(buffer, counter->samples, 11);
    WIO_JOB_LITERAL(buffer, ", unit: ");
    wio_job_buffer_text(buffer, wio_job_op_unit(op));
    WIO_JOB_LITERAL(buffer, ", min: ");
    wio_job_buffer_u64(buffer, counter->least, 8);
    WIO_JOB_LITERAL(buffer, ", max: ");
    wio_job_buffer_u64(buffer, counter->greatest, 8);
    WIO_JOB_LITERAL(buffer, ", sum: ");
    wio_job_buffer_u64(buffer, counter->sum, 16);
    WIO_JOB_LITERAL(buffer, ", sumsq: ");
    put_squares(buffer, counter->squares);
    put_histogram(buffer, counter);
}

static void put_time(struct wio_job_buffer *buffer, const char *name, uint64_t ns)
{
    put_key(buffer, name);
    wio_job_buffer_fixed(buffer, ns, NS_DIGITS);
    WIO_JOB_LITERAL(buffer, " secs.nsecs\n");
}

static void put_name(struct wio_job_buffer *buffer, const struct wio_job_names *names, uint32_t job)
{
    size_t bytes;
    const char *name = wio_job_names_text(names, job, &bytes);
    WIO_JOB_LITERAL(buffer, "- job_id:          ");
    buffer->used +=
        wio_job_quote(name, bytes, wio_job_buffer_room(buffer, WIO_JOB_QUOTED_BYTES(bytes)));
    WIO_JOB_LITERAL(buffer, "\n");
}

static void put_job(struct wio_job_buffer *buffer, const struct wio_job_output *output,
                    const struct wio_job_row *row)
{
    static const struct wio_job_counter none = {0};
    put_name(buffer, output->names, row->job);
    put_time(buffer, "snapshot_time", output->unix_ns + row->last_ns);
    put_time(buffer, "start_time", output->unix_ns + row->first_ns);
    put_time(buffer, "elapsed_time", row->last_ns - row->first_ns);
    for (unsigned op = 0; op < WIO_JOB_OP_COUNT; op++) {
        const struct wio_job_counter *counter = wio_job_stats_counter(output->stats, row, op);
        if (counter != NULL || output->is_all) {
            put_counter(buffer, op, counter != NULL ? counter : &none);
        }
    }
}

void wio_job_stats_yaml(const struct wio_job_output *output, const struct wio_job_sink *sink)
{
    struct wio_job_buffer buffer;
    const struct wio_job_row *row;
    buffer.sink = sink;
    buffer.used = 0;
    WIO_JOB_LITERAL(&buffer, "job_stats:\n");
    for (size_t i = 0; (row = wio_job_output_row(output, i)) != NULL; i++) {
        put_job(&buffer, output, row);
    }
    wio_job_buffer_flush(&buffer);
}
