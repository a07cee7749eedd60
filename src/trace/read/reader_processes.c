/* SPDX-License-Identifier: Apache-2.0 */
/* PROCESSES of a segment: records of tagged fields. FORMAT.md#tables. */
#include <stdlib.h>
#include <string.h>

#include <whyio/segment.h>

#include "base/cleanup.h"
#include "trace/read/trace_internal.h"

/* What memory that is kept takes besides its own bytes: in the heap, and in the list of it. */
#define KEPT_BYTES 48u

/* A text field, copied so that it ends in NUL; `before` is the same field of the process before,
 * which in most traces says the same (host, job, the program of a child): then that one serves. */
static enum wio_status keep_text(struct wio_trace *trace, struct wio_reader_segment *segment,
                                 const struct wio_buf *field, const char *before,
                                 const char **text_out)
{
    size_t bytes = strnlen((const char *)field->data, field->size);
    if (before != NULL && strlen(before) == bytes && memcmp(before, field->data, bytes) == 0) {
        *text_out = before;
        return WIO_OK;
    }
    WIO_TRY(wio_reader_charge(segment, bytes + KEPT_BYTES));
    char *copy = strndup((const char *)field->data, bytes);
    if (copy == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_trace_keep(trace, copy));
    *text_out = copy;
    return WIO_OK;
}

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
    case WIO_PROCESS_EXPECTED:
        info->is_expected = value != 0;
        return WIO_OK;
    case WIO_PROCESS_EVICTED:
        info->evicted = (uint64_t)value;
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

static enum wio_status keep_unseen(struct wio_trace *trace, struct wio_reader_segment *segment,
                                   struct process_row *row)
{
    if (row->info.unseen_count == 0) {
        return WIO_OK;
    }
    WIO_TRY(wio_reader_charge(segment, row->info.unseen_count * sizeof(uint64_t) + KEPT_BYTES));
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

/* R-BOUND-5 */
static enum wio_status parse_opened(struct wio_trace *trace, struct wio_reader_segment *segment,
                                    struct wio_buf field, struct wio_process_info *info)
{
    uint32_t count = 0;
    const size_t most = wio_buf_left(&field) / 3; /* a byte for each number at least */
    WIO_TRY(wio_reader_charge(segment, most * sizeof(struct wio_open_fd) + KEPT_BYTES));
    struct wio_open_fd *opened = calloc(most + 1, sizeof(*opened));
    if (opened == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_trace_keep(trace, opened));
    while (wio_buf_left(&field) > 0 && count < most) {
        uint64_t fd = 0;
        uint64_t path = 0;
        uint64_t flags = 0;
        WIO_TRY(wio_buf_varint(&field, &fd));
        WIO_TRY(wio_buf_varint(&field, &path));
        WIO_TRY(wio_buf_varint(&field, &flags));
        opened[count++] =
            (struct wio_open_fd){(int32_t)fd, wio_reader_string(segment, path), (int32_t)flags};
    }
    info->opened = opened;
    info->opened_count = count;
    return WIO_OK;
}

static enum wio_status parse_process(struct wio_trace *trace, struct wio_reader_segment *segment,
                                     struct wio_buf record, struct process_row *row)
{
    struct wio_process_info *before =
        trace->process_count == 0 ? NULL : &trace->processes[trace->process_count - 1];
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
        if (tag == WIO_PROCESS_OPENED) {
            WIO_TRY(parse_opened(trace, segment, field, &row->info));
            continue;
        }
        const char **text = text_field(&row->info, tag);
        if (text == NULL) {
            WIO_TRY(parse_number_field(row, tag, field));
            continue;
        }
        const char *same = before == NULL ? NULL : *text_field(before, tag);
        WIO_TRY(keep_text(trace, segment, &field, same, text));
    }
    return keep_unseen(trace, segment, row);
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
        WIO_TRY(wio_reader_charge(segment, sizeof(row.info)));
        WIO_TRY(parse_process(trace, segment, wio_buf_of(bytes, size), &row));
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
