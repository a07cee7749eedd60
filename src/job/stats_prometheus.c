/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/utf8.h"
#include "job/stats_text.h"
#include "job/text_buffer.h"

#define US_DIGITS 6u

struct family {
    const char *name;
    const char *help;
    const char *unit; /* of the operations in it */
    unsigned digits;  /* behind the point */
};

static const struct family families[] = {
    {"whyio_job_duration_seconds", "Durations of operations by job.", "usecs", US_DIGITS},
    {"whyio_job_size_bytes", "Sizes of transfers by job.", "bytes", 0},
};

/* A label's text: UTF-8; other bytes as \xHH, which is four characters to a reader. */
static void put_label(struct wio_job_buffer *buffer, const char *text, size_t bytes)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t at = 0; at < bytes;) {
        const size_t length = wio_utf8_length(text + at, bytes - at);
        const unsigned char byte = (unsigned char)text[at];
        if (length == 0 || (byte < ' ' && byte != '\n')) {
            const char hex[] = {'\\', '\\', 'x', digits[byte >> 4], digits[byte & 15]};
            wio_job_buffer_bytes(buffer, hex, sizeof(hex));
            at++;
            continue;
        }
        if (byte == '"' || byte == '\\' || byte == '\n') {
            WIO_JOB_LITERAL(buffer, "\\");
        }
        wio_job_buffer_bytes(buffer, byte == '\n' ? "n" : text + at, length);
        at += length;
    }
}

static void put_number(struct wio_job_buffer *buffer, uint64_t value, unsigned digits)
{
    if (digits > 0) {
        wio_job_buffer_fixed(buffer, value, digits);
    } else {
        wio_job_buffer_u64(buffer, value, 0);
    }
}

struct series {
    const struct family *family;
    const struct wio_job_counter *counter;
    const char *job;
    size_t job_bytes;
    const char *operation;
};

/* NAME_suffix{job="..",operation=".." without what closes the labels. */
static void begin_sample(struct wio_job_buffer *buffer, const struct series *series,
                         const char *suffix)
{
    wio_job_buffer_text(buffer, series->family->name);
    wio_job_buffer_text(buffer, suffix);
    WIO_JOB_LITERAL(buffer, "{job=\"");
    put_label(buffer, series->job, series->job_bytes);
    WIO_JOB_LITERAL(buffer, "\",operation=\"");
    wio_job_buffer_text(buffer, series->operation);
    WIO_JOB_LITERAL(buffer, "\"");
}

static void put_buckets(struct wio_job_buffer *buffer, const struct series *series)
{
    const struct wio_job_counter *counter = series->counter;
    uint64_t below = 0;
    for (unsigned i = 0; i < counter->bucket_count; i++) {
        below += counter->buckets[i];
        if (counter->buckets[i] != 0 && counter->bucket_first + i < 64) {
            begin_sample(buffer, series, "_bucket");
            WIO_JOB_LITERAL(buffer, ",le=\"");
            put_number(buffer, wio_job_bucket_most(counter->bucket_first + i),
                       series->family->digits);
            WIO_JOB_LITERAL(buffer, "\"} ");
            wio_job_buffer_u64(buffer, below, 0);
            WIO_JOB_LITERAL(buffer, "\n");
        }
    }
}

static void put_series(struct wio_job_buffer *buffer, const struct series *series)
{
    put_buckets(buffer, series);
    begin_sample(buffer, series, "_bucket");
    WIO_JOB_LITERAL(buffer, ",le=\"+Inf\"} ");
    wio_job_buffer_u64(buffer, series->counter->samples, 0);
    WIO_JOB_LITERAL(buffer, "\n");
    begin_sample(buffer, series, "_sum");
    WIO_JOB_LITERAL(buffer, "} ");
    put_number(buffer, series->counter->sum, series->family->digits);
    WIO_JOB_LITERAL(buffer, "\n");
    begin_sample(buffer, series, "_count");
    WIO_JOB_LITERAL(buffer, "} ");
    wio_job_buffer_u64(buffer, series->counter->samples, 0);
    WIO_JOB_LITERAL(buffer, "\n");
}

static void put_family(struct wio_job_buffer *buffer, const struct wio_job_output *output,
                       const struct family *family)
{
    const struct wio_job_row *row;
    WIO_JOB_LITERAL(buffer, "# HELP ");
    wio_job_buffer_text(buffer, family->name);
    WIO_JOB_LITERAL(buffer, " ");
    wio_job_buffer_text(buffer, family->help);
    WIO_JOB_LITERAL(buffer, "\n# TYPE ");
    wio_job_buffer_text(buffer, family->name);
    WIO_JOB_LITERAL(buffer, " histogram\n");
    for (size_t i = 0; (row = wio_job_output_row(output, i)) != NULL; i++) {
        struct series series = {.family = family};
        series.job = wio_job_names_text(output->names, row->job, &series.job_bytes);
        for (unsigned op = 0; op < WIO_JOB_OP_COUNT; op++) {
            series.counter = wio_job_stats_counter(output->stats, row, op);
            series.operation = wio_job_op_name(op);
            if (series.counter != NULL && strcmp(wio_job_op_unit(op), family->unit) == 0) {
                put_series(buffer, &series);
            }
        }
    }
}

void wio_job_stats_prometheus(const struct wio_job_output *output, const struct wio_job_sink *sink)
{
    struct wio_job_buffer buffer;
    buffer.sink = sink;
    buffer.used = 0;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        put_family(&buffer, output, &families[i]);
    }
    wio_job_buffer_flush(&buffer);
}
