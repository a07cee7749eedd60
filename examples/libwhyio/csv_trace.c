/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace from a table that a program's own instrumentation has written, so that every command of
 * whyio can be used on it. An example of a program on top of libwhyio: writing a segment.
 *
 *     cc csv_trace.c $(pkg-config --cflags --libs whyio) -o csv_trace
 *     mkdir run.whyio && ./csv_trace run.whyio/import.seg < table.csv
 *     whyio info run.whyio
 *
 * Each line of standard input: RANK,BEGIN,DURATION,OPERATION,PATH,OFFSET,BYTES with times in
 * seconds, for example 0,0.25,0.001,pwrite,/scratch/out,4096,1024. Lines of a rank are in the order
 * of their begin. Ranks are below 1,024.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/ops.h>
#include <whyio/segment.h>

#define RANKS 1024

struct table {
    struct wio_segment *segment;
    uint64_t line;
    uint32_t stream_of[RANKS]; /* + 1; 0: no line of this rank yet */
};

struct row {
    int rank;
    double begin_s;
    double duration_s;
    char op[64];
    char path[4096];
    int64_t offset;
    uint64_t bytes;
};

static enum wio_status bad_line(const struct table *table, const char *expected,
                                struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_FORMAT, "standard input", WIO_ERROR_NO_OFFSET,
                         "line %" PRIu64 ": expected %s", table->line, expected);
}

static enum wio_status parse(const struct table *table, const char *line, struct row *row,
                             struct wio_error *err)
{
    int fields =
        sscanf(line, "%d,%lf,%lf,%63[^,],%4095[^,],%" SCNd64 ",%" SCNu64, &row->rank, &row->begin_s,
               &row->duration_s, row->op, row->path, &row->offset, &row->bytes);

    if (fields != 7) {
        return bad_line(table, "RANK,BEGIN,DURATION,OPERATION,PATH,OFFSET,BYTES", err);
    }
    if (row->rank < 0 || row->rank >= RANKS) {
        return bad_line(table, "a rank from 0 to 1023", err);
    }
    if (!(row->begin_s >= 0 && row->begin_s < 1e9) ||
        !(row->duration_s >= 0 && row->duration_s < 1e9)) {
        return bad_line(table, "times from 0 to 1e9 seconds", err);
    }
    if (row->offset < 0 || row->bytes > INT64_MAX) {
        return bad_line(table, "an offset and a number of bytes below 2^63", err);
    }
    if (wio_op_find(row->op) == WIO_OP_unknown) {
        return bad_line(table, "an operation of whyio, such as pread or pwrite", err);
    }
    return WIO_OK;
}

/* The stream of a rank: a process with one thread, made with the first line of the rank. */
static enum wio_status find_stream(struct table *table, int rank, uint32_t *stream_out,
                                   struct wio_error *err)
{
    const struct wio_process_info process = {.pid = rank + 1,
                                             .rank = rank,
                                             .parent = UINT32_MAX,
                                             .end = 1, /* exit */
                                             .host = "",
                                             .job = "",
                                             .exe = "",
                                             .argv = "",
                                             .cwd = "/"};
    uint32_t index;
    enum wio_status status = WIO_OK;

    if (table->stream_of[rank] == 0) {
        status = wio_segment_process(table->segment, &process, &index, err);
        if (status == WIO_OK) {
            status = wio_segment_stream(table->segment, index, process.pid, 0, &index, err);
        }
        if (status != WIO_OK) {
            return status;
        }
        table->stream_of[rank] = index + 1;
    }
    *stream_out = table->stream_of[rank] - 1;
    return WIO_OK;
}

static enum wio_status add_row(struct table *table, const struct row *row, struct wio_error *err)
{
    struct wio_event event = {
        .t_ns = (uint64_t)(row->begin_s * 1e9),
        .dur_ns = (uint64_t)(row->duration_s * 1e9),
        .op = (uint16_t)wio_op_find(row->op),
        .fd = WIO_NO_FD,
        .fd2 = WIO_NO_FD,
        .offset = row->offset,
        .offset2 = WIO_NO_OFFSET,
        .size = row->bytes,
        .result = (int64_t)row->bytes,
    };
    enum wio_status status = find_stream(table, row->rank, &event.stream, err);

    if (status == WIO_OK) {
        status = wio_segment_string(table->segment, row->path, strlen(row->path), &event.path, err);
    }
    return status == WIO_OK ? wio_segment_append(table->segment, &event, err) : status;
}

static enum wio_status add_all(struct table *table, struct wio_error *err)
{
    char line[8192];
    struct row row;
    enum wio_status status = WIO_OK;

    while (status == WIO_OK && fgets(line, sizeof(line), stdin) != NULL) {
        table->line++;
        status = parse(table, line, &row, err);
        if (status == WIO_OK) {
            status = add_row(table, &row, err);
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    const struct wio_segment_params params = {.struct_size = sizeof(params), .boot_id = ""};
    static struct table table;
    struct wio_error err = WIO_ERROR_INIT;
    char text[2048];

    if (argc != 2) {
        fprintf(stderr, "usage: csv_trace DIRECTORY/NAME.seg < TABLE\n");
        return 2;
    }
    enum wio_status status = wio_segment_create(argv[1], &params, &table.segment, &err);
    if (status == WIO_OK) {
        status = add_all(&table, &err);
        if (status == WIO_OK) {
            /* The table has the whole run: `whyio info` calls the trace complete. */
            status = wio_segment_meta(table.segment, WIO_SEGMENT_META_RECORDER_DONE, "1", 1, &err);
        }
        if (status == WIO_OK) {
            status = wio_segment_finish(table.segment, &err);
        } else {
            wio_segment_abandon(table.segment);
        }
    }
    if (status != WIO_OK) {
        wio_error_format(&err, text, sizeof(text));
        fprintf(stderr, "csv_trace: %s\n", text);
    }
    return wio_status_exit(status);
}
