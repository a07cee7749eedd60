/* SPDX-License-Identifier: Apache-2.0 */
/* PROCESSES of a segment: records of tagged fields. FORMAT.md#tables. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/segment.h"
#include "trace/trace_internal.h"

/* A text field, copied so that it ends in NUL. */
static enum wio_status keep_text(struct wio_trace *trace, const struct wio_buf *field,
                                 const char **text_out)
{
    char *copy = strndup((const char *)field->data, field->size);
    if (copy == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_trace_keep(trace, copy));
    *text_out = copy;
    return WIO_OK;
}

/* What a byte of a process record can take at most, as a text or number of its own. */
#define KEPT_BYTES 32u

struct process_row {
    struct wio_process_info info;
    uint64_t unseen[WIO_UNSEEN_MAX];
};

static enum wio_status parse_number_field(struct process_row *row, uint64_t tag,
                                          struct wio_buf field)
{
    int64_t value = 0;
    WIO_TRY(wio_buf_svarint(&field, &value));
    struct wio_process_info *info = &row->info;
    switch (tag) {
    case WIO_PROCESS_PID:
        info->pid = (int32_t)value;
        return WIO_OK;
    case WIO_PROCESS_PPID:
        info->ppid = (int32_t)value;
        return WIO_OK;
    case WIO_PROCESS_RANK:
        info->rank = (int32_t)(value - 1);
        return WIO_OK;
    case WIO_PROCESS_RANKS:
        info->ranks = (uint32_t)value;
        return WIO_OK;
    case WIO_PROCESS_START:
        info->start_ns = (uint64_t)value;
        return WIO_OK;
    case WIO_PROCESS_END_NS:
        info->end_ns = (uint64_t)value;
        return WIO_OK;
    case WIO_PROCESS_PARENT:
        info->parent = value <= 0 || value > UINT32_MAX ? UINT32_MAX : (uint32_t)(value - 1);
        return WIO_OK;
    case WIO_PROCESS_END:
        info->end = (uint32_t)value;
        return WIO_OK;
    case WIO_PROCESS_END_STATUS:
        info->end_status = (int32_t)value;
        return WIO_OK;
    case WIO_PROCESS_DROPPED:
        info->dropped = (uint64_t)value;
        return WIO_OK;
    default:
        break;
    }
    uint64_t kind = tag - WIO_PROCESS_UNSEEN;
    if (tag >= WIO_PROCESS_UNSEEN && kind < WIO_UNSEEN_MAX) {
        row->unseen[kind] = (uint64_t)value;
        info->unseen_count =
            kind + 1 > info->unseen_count ? (uint32_t)kind + 1 : info->unseen_count;
    }
    return WIO_OK;
}

static const char **text_field(struct wio_process_info *info, uint64_t tag)
{
    switch (tag) {
    case WIO_PROCESS_HOST:
        return &info->host;
    case WIO_PROCESS_JOB:
        return &info->job;
    case WIO_PROCESS_EXE:
        return &info->exe;
    case WIO_PROCESS_ARGV:
        return &info->argv;
    case WIO_PROCESS_CWD:
        return &info->cwd;
    default:
        return NULL;
    }
}

static enum wio_status keep_unseen(struct wio_trace *trace, struct process_row *row)
{
    if (row->info.unseen_count == 0) {
        return WIO_OK;
    }
    uint64_t *copy = calloc(row->info.unseen_count, sizeof(*copy));
    if (copy == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < row->info.unseen_count; i++) {
        copy[i] = row->unseen[i];
    }
    row->info.unseen = copy;
    return wio_trace_keep(trace, copy);
}

static enum wio_status parse_process(struct wio_trace *trace, struct wio_buf record,
                                     struct process_row *row)
{
    *row = (struct process_row){
        .info = {.rank = -1,
                 .parent = UINT32_MAX,
                 .host = "",
                 .job = "",
                 .exe = "",
                 .argv = "",
                 .cwd = ""},
    };
    while (wio_buf_left(&record) > 0) {
        uint64_t tag = 0;
        uint64_t bytes = 0;
        struct wio_buf field;
        WIO_TRY(wio_buf_varint(&record, &tag));
        WIO_TRY(wio_buf_varint(&record, &bytes));
        if (bytes > wio_buf_left(&record)) {
            return WIO_ERR_TRUNCATED;
        }
        WIO_TRY(wio_buf_sub(&record, (size_t)bytes, &field));
        const char **text = text_field(&row->info, tag);
        WIO_TRY(text != NULL ? keep_text(trace, &field, text)
                             : parse_number_field(row, tag, field));
    }
    return keep_unseen(trace, row);
}

enum wio_status wio_reader_processes(struct wio_trace *trace, struct wio_reader_segment *segment,
                                     struct wio_buf *buf)
{
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &count));
    while (count-- > 0) {
        const char *bytes = NULL;
        size_t size = 0;
        struct process_row row;
        WIO_TRY(wio_buf_text(buf, &bytes, &size));
        WIO_TRY(parse_process(trace, wio_buf_of(bytes, size), &row));
        WIO_TRY(wio_reader_charge(segment, sizeof(row.info) + size * KEPT_BYTES));
        if (row.info.parent != UINT32_MAX) {
            /* Checked against the number of processes once all are there. */
            row.info.parent = row.info.parent >= UINT32_MAX - segment->process_base
                                  ? UINT32_MAX
                                  : row.info.parent + segment->process_base;
        }
        void *array = trace->processes;
        WIO_TRY(wio_grow(&array, sizeof(*trace->processes), &trace->process_capacity,
                         trace->process_count + 1));
        trace->processes = array;
        trace->processes[trace->process_count++] = row.info;
        segment->process_count++;
    }
    return WIO_OK;
}
