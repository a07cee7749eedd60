/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/waiting/edge_rows.h"

#include <stdlib.h>

#include "base/cleanup.h"

/* Rows that all streams hold together, and the least and most of one. */
#define ALL_ROWS 262144u
#define LEAST_ROWS 16u
#define MOST_ROWS 4096u
/* With more streams the first batches of all are read in one go, not by a cursor for each. */
#define MANY_STREAMS 64u

struct wio_edge_batch {
    struct wio_edge_link *links;
    uint32_t count;
    uint32_t at;
    bool is_last; /* no rows behind these */
};

static void cursor_cleanup(struct wio_edge_cursor **cursor)
{
    wio_edge_cursor_destroy(*cursor);
}

static enum wio_status read_row(struct wio_edge_cursor *cursor, enum wio_edge_kind kind,
                                struct wio_edge_link *link, struct wio_error *err)
{
    const struct wio_member_row *member;
    const struct wio_edge_row *edge;
    const struct wio_wait_row *wait;

    if (kind == WIO_EDGES_MEMBERS) {
        WIO_TRY(wio_edge_cursor_next_member(cursor, &member, err));
        *link = (struct wio_edge_link){.seq = member->enter_seq,
                                       .other_seq = member->leave_seq,
                                       .other = member->collective,
                                       .object = member->object,
                                       .members = member->members,
                                       .edge_class = WIO_EDGE_COLLECTIVE,
                                       .evidence = member->evidence,
                                       .stream = member->stream,
                                       .gives = member->gives,
                                       .takes = member->takes};
        return WIO_OK;
    }
    if (kind == WIO_EDGES_WAITS) {
        WIO_TRY(wio_edge_cursor_next_wait(cursor, &wait, err));
        *link = (struct wio_edge_link){
            .seq = wait->first_seq, .other_seq = wait->last_seq, .stream = wait->stream};
        return WIO_OK;
    }
    WIO_TRY(wio_edge_cursor_next(cursor, &edge, err));
    *link = (struct wio_edge_link){.seq = edge->to.seq,
                                   .other_seq = edge->from.seq,
                                   .other = edge->from.stream,
                                   .object = edge->object,
                                   .stream = edge->to.stream,
                                   .edge_class = edge->edge_class,
                                   .evidence = edge->evidence};
    return WIO_OK;
}

/* Rows of one seq stay together, unless a single seq has more than fit. */
static void leave_torn(struct wio_edge_batch *batch)
{
    uint64_t last = batch->links[batch->count - 1].seq;

    if (batch->is_last || batch->links[0].seq == last) {
        return;
    }
    while (batch->links[batch->count - 1].seq == last) {
        batch->count--;
    }
}

/* The rows of `stream` from seq `from` on, as many as fit. */
static enum wio_status fill(struct wio_edge_rows *rows, uint32_t stream, uint64_t from,
                            struct wio_error *err)
{
    struct wio_edge_filter filter = {.struct_size = sizeof(filter),
                                     .kind = rows->kind,
                                     .has_stream = true,
                                     .stream = stream,
                                     .from_seq = from};
    WIO_CLEANUP(cursor_cleanup) struct wio_edge_cursor *cursor = NULL;
    struct wio_edge_batch *batch = &rows->batches[stream];
    enum wio_status status = WIO_OK;

    batch->count = 0;
    batch->at = 0;
    WIO_TRY(wio_edge_cursor_create(rows->file, &filter, &cursor, err));
    if (batch->links == NULL) {
        batch->links = calloc(rows->batch_rows, sizeof(*batch->links));
        if (batch->links == NULL) {
            return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                                 "no memory for the edges of a thread");
        }
    }
    while (batch->count < rows->batch_rows && status == WIO_OK) {
        status = read_row(cursor, rows->kind, &batch->links[batch->count], err);
        batch->count += status == WIO_OK;
    }
    batch->is_last = status == WIO_END;
    if (batch->count == 0) {
        free(batch->links);
        batch->links = NULL;
    } else {
        leave_torn(batch);
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status keep(struct wio_edge_rows *rows, uint32_t stream,
                            const struct wio_edge_link *link)
{
    struct wio_edge_batch *batch = &rows->batches[stream];

    if (batch->links == NULL) {
        batch->links = calloc(rows->batch_rows, sizeof(*batch->links));
        if (batch->links == NULL) {
            return WIO_ERR_NOMEM;
        }
        batch->is_last = true;
    }
    if (batch->count == rows->batch_rows) {
        batch->is_last = false;
        return WIO_OK;
    }
    batch->links[batch->count++] = *link;
    return WIO_OK;
}

/* The first batch of each stream. */
static enum wio_status fill_all(struct wio_edge_rows *rows, struct wio_error *err)
{
    struct wio_edge_filter filter = {.struct_size = sizeof(filter), .kind = rows->kind};
    WIO_CLEANUP(cursor_cleanup) struct wio_edge_cursor *cursor = NULL;
    struct wio_edge_link link;
    enum wio_status status;

    WIO_TRY(wio_edge_cursor_create(rows->file, &filter, &cursor, err));
    while ((status = read_row(cursor, rows->kind, &link, err)) == WIO_OK) {
        if (link.stream < rows->streams && keep(rows, link.stream, &link) != WIO_OK) {
            return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                                 "no memory for the edges of %u threads", rows->streams);
        }
    }
    for (uint32_t i = 0; i < rows->streams; i++) {
        if (rows->batches[i].count > 0) {
            leave_torn(&rows->batches[i]);
        } else {
            rows->batches[i].is_last = true;
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status advance(struct wio_edge_rows *rows, uint32_t stream, struct wio_error *err)
{
    struct wio_edge_batch *batch = &rows->batches[stream];

    if (batch->at == batch->count && !batch->is_last && batch->count > 0) {
        WIO_TRY(fill(rows, stream, batch->links[batch->count - 1].seq + 1, err));
    }
    rows->next[stream] = batch->at < batch->count ? batch->links[batch->at].seq : UINT64_MAX;
    return WIO_OK;
}

enum wio_status wio_edge_rows_init(struct wio_edge_rows *rows, const struct wio_edge_file *file,
                                   enum wio_edge_kind kind, uint32_t streams, uint32_t batch_rows,
                                   struct wio_error *err)
{
    uint32_t share = streams > 0 ? ALL_ROWS / streams : ALL_ROWS;

    *rows = (struct wio_edge_rows){.file = file, .kind = kind, .streams = streams};
    rows->batch_rows = share < LEAST_ROWS ? LEAST_ROWS : share > MOST_ROWS ? MOST_ROWS : share;
    rows->batch_rows = batch_rows != 0 ? batch_rows : rows->batch_rows;
    rows->batches = calloc((size_t)streams + 1, sizeof(*rows->batches));
    rows->next = calloc((size_t)streams + 1, sizeof(*rows->next));
    if (rows->batches == NULL || rows->next == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the edges of %u threads", streams);
    }
    if (file != NULL && streams > MANY_STREAMS) {
        WIO_TRY(fill_all(rows, err));
    }
    for (uint32_t i = 0; i < streams; i++) {
        rows->next[i] = UINT64_MAX;
        if (file != NULL && streams <= MANY_STREAMS) {
            WIO_TRY(fill(rows, i, 0, err));
        }
        if (file != NULL) {
            WIO_TRY(advance(rows, i, err));
        }
    }
    return WIO_OK;
}

void wio_edge_rows_fini(struct wio_edge_rows *rows)
{
    for (uint32_t i = 0; rows->batches != NULL && i < rows->streams; i++) {
        free(rows->batches[i].links);
    }
    free(rows->batches);
    free(rows->next);
}

const struct wio_edge_link *wio_edge_rows_peek(const struct wio_edge_rows *rows, uint32_t stream)
{
    const struct wio_edge_batch *batch = &rows->batches[stream];

    return batch->at < batch->count ? &batch->links[batch->at] : NULL;
}

enum wio_status wio_edge_rows_take(struct wio_edge_rows *rows, uint32_t stream, uint64_t seq,
                                   struct wio_edge_link *link_out, struct wio_error *err)
{
    struct wio_edge_batch *batch = &rows->batches[stream];

    while (rows->next[stream] < seq) {
        batch->at++;
        WIO_TRY(advance(rows, stream, err));
    }
    if (rows->next[stream] != seq || batch->links == NULL) {
        return WIO_END;
    }
    *link_out = batch->links[batch->at++];
    return advance(rows, stream, err);
}
