/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions into a segment: rows in blocks as they come, tables at the end. */
#include "trace/txn/txn.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "trace/txn/txn_rows.h"
#include "trace/write/segment_internal.h"

struct wio_txn_writer {
    struct wio_segment *segment;
    struct wio_txn_coder coder;
    struct wio_blob rows; /* of the block at hand */
    uint32_t row_count;
    uint64_t first_ns;
    uint64_t last_ns;
    bool has_rows;
    struct wio_strtab origins; /* encoded as in TXN_ORIGINS */
    struct wio_blob servers;   /* rows of the tables */
    uint32_t server_count;
    struct wio_blob files;
    uint32_t file_count;
};

enum wio_status wio_txn_writer_create(struct wio_segment *segment,
                                      struct wio_txn_writer **writer_out, struct wio_error *err)
{
    struct wio_txn_writer *writer = calloc(1, sizeof(*writer));
    if (writer == NULL) {
        return wio_segment_fail(segment, WIO_ERR_NOMEM, err);
    }
    writer->segment = segment;
    *writer_out = writer;
    return WIO_OK;
}

void wio_txn_writer_destroy(struct wio_txn_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    wio_txn_coder_fini(&writer->coder);
    wio_blob_fini(&writer->rows);
    wio_strtab_fini(&writer->origins);
    wio_blob_fini(&writer->servers);
    wio_blob_fini(&writer->files);
    free(writer);
}

static enum wio_status fail(const struct wio_txn_writer *writer, enum wio_status status,
                            struct wio_error *err)
{
    return status == WIO_OK ? WIO_OK : wio_segment_fail(writer->segment, status, err);
}

static enum wio_status put_text(struct wio_txn_writer *writer, const char *text,
                                struct wio_blob *out)
{
    uint32_t id = 0;
    const char *given = text == NULL ? "" : text;
    WIO_TRY(wio_strtab_add(&writer->segment->strings, given, strlen(given), &id));
    return wio_blob_varint(out, id);
}

enum wio_status wio_txn_writer_origin(struct wio_txn_writer *writer,
                                      const struct wio_txn_origin *origin, uint32_t *id_out,
                                      struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob row = {0};
    const char *texts[] = {origin->job, origin->exe, origin->host, origin->place};
    enum wio_status status = WIO_OK;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(texts) && status == WIO_OK; i++) {
        status = put_text(writer, texts[i], &row);
    }
    if (status == WIO_OK) {
        status = wio_strtab_add(&writer->origins, (const char *)row.data, row.size, id_out);
    }
    return fail(writer, status, err);
}

enum wio_status wio_txn_writer_server(struct wio_txn_writer *writer,
                                      const struct wio_txn_server *server, struct wio_error *err)
{
    enum wio_status status = wio_blob_varint(&writer->servers, server->server);
    status = status == WIO_OK ? put_text(writer, server->name, &writer->servers) : status;
    status = status == WIO_OK ? wio_blob_varint(&writer->servers, server->is_catalogue) : status;
    writer->server_count += status == WIO_OK;
    return fail(writer, status, err);
}

enum wio_status wio_txn_writer_file(struct wio_txn_writer *writer, const struct wio_txn_file *file,
                                    struct wio_error *err)
{
    enum wio_status status = wio_blob_varint(&writer->files, file->file);
    status = status == WIO_OK ? put_text(writer, file->path, &writer->files) : status;
    status = status == WIO_OK ? wio_blob_varint(&writer->files, file->segments) : status;
    status = status == WIO_OK ? wio_blob_varint(&writer->files, file->stripe_unit) : status;
    writer->file_count += status == WIO_OK;
    return fail(writer, status, err);
}

static enum wio_status write_block(struct wio_txn_writer *writer, enum wio_block_kind kind,
                                   const struct wio_blob *payload, struct wio_error *err)
{
    struct wio_segment *segment = writer->segment;
    uint64_t offset = segment->file.size;
    WIO_TRY(wio_block_write(&segment->file, &segment->pack, kind, payload, 1, err));
    return wio_segment_index_table(segment, kind, offset, err);
}

/* R-TXN-2 */
static enum wio_status flush(struct wio_txn_writer *writer, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    if (writer->row_count == 0) {
        return WIO_OK;
    }
    enum wio_status status = wio_blob_varint(&payload, writer->row_count);
    status = status == WIO_OK ? wio_blob_varint(&payload, writer->first_ns) : status;
    status = status == WIO_OK ? wio_blob_varint(&payload, writer->last_ns) : status;
    if (status == WIO_OK) {
        status = wio_blob_put(&payload, writer->rows.data, writer->rows.size);
    }
    WIO_TRY(fail(writer, status, err));
    WIO_TRY(write_block(writer, WIO_BLOCK_TXN_ROWS, &payload, err));
    wio_blob_clear(&writer->rows);
    wio_txn_coder_clear(&writer->coder);
    writer->row_count = 0;
    return WIO_OK;
}

enum wio_status wio_txn_writer_put(struct wio_txn_writer *writer, const struct wio_txn_row *row,
                                   struct wio_error *err)
{
    if (writer->has_rows && row->t_ns < writer->last_ns) {
        return wio_error_set(err, WIO_ERR_INTERNAL, writer->segment->label, WIO_ERROR_NO_OFFSET,
                             "expected rows of transactions in the order of their time");
    }
    if (writer->row_count == 0) {
        writer->first_ns = row->t_ns;
    }
    WIO_TRY(fail(writer, wio_txn_row_put(&writer->coder, row, &writer->rows), err));
    writer->last_ns = row->t_ns;
    writer->has_rows = true;
    writer->row_count++;
    return writer->row_count < WIO_TXN_ROWS_MAX ? WIO_OK : flush(writer, err);
}

static enum wio_status write_table(struct wio_txn_writer *writer, enum wio_block_kind kind,
                                   uint32_t count, const struct wio_blob *rows,
                                   struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    if (count == 0) {
        return WIO_OK;
    }
    enum wio_status status = wio_blob_varint(&payload, count);
    status = status == WIO_OK ? wio_blob_put(&payload, rows->data, rows->size) : status;
    WIO_TRY(fail(writer, status, err));
    return write_block(writer, kind, &payload, err);
}

static enum wio_status write_origins(struct wio_txn_writer *writer, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob rows = {0};
    for (uint32_t id = 1; id <= writer->origins.count; id++) {
        size_t bytes = 0;
        const char *row = wio_strtab_get(&writer->origins, id, &bytes);
        WIO_TRY(fail(writer, wio_blob_put(&rows, row, bytes), err));
    }
    return write_table(writer, WIO_BLOCK_TXN_ORIGINS, writer->origins.count, &rows, err);
}

enum wio_status wio_txn_writer_finish(struct wio_txn_writer *writer, struct wio_error *err)
{
    WIO_TRY(flush(writer, err));
    WIO_TRY(
        write_table(writer, WIO_BLOCK_TXN_SERVERS, writer->server_count, &writer->servers, err));
    WIO_TRY(write_origins(writer, err));
    return write_table(writer, WIO_BLOCK_TXN_FILES, writer->file_count, &writer->files, err);
}
