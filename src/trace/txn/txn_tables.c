/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/txn/txn_tables.h"

#include <stdlib.h>

#include "base/cleanup.h"

void wio_txn_tables_fini(struct wio_txn_tables *tables)
{
    free(tables->origins);
    free(tables->servers);
    wio_map_fini(&tables->server_index);
    free(tables->files);
    wio_map_fini(&tables->file_index);
}

/* A string of this segment as text of the trace. */
static enum wio_status get_text(const struct wio_trace *trace,
                                const struct wio_reader_segment *segment, struct wio_buf *buf,
                                const char **text_out)
{
    uint64_t id = 0;
    WIO_TRY(wio_buf_varint(buf, &id));
    if (id != 0 && id >= segment->string_count) {
        return WIO_ERR_FORMAT;
    }
    uint32_t own = segment->strings == NULL ? (uint32_t)id : segment->strings[id];
    *text_out = id == 0 ? "" : wio_trace_string(trace, own, NULL);
    return WIO_OK;
}

static enum wio_status add_origin(struct wio_txn_tables *tables,
                                  const struct wio_txn_origin *origin)
{
    void *array = tables->origins;
    WIO_TRY(wio_grow(&array, sizeof(*tables->origins), &tables->origin_capacity,
                     tables->origin_count + 1));
    tables->origins = array;
    tables->origins[tables->origin_count++] = *origin;
    return WIO_OK;
}

static enum wio_status get_origin(struct wio_txn_tables *tables, const struct wio_trace *trace,
                                  const struct wio_reader_segment *segment, struct wio_buf *buf)
{
    struct wio_txn_origin origin;
    const char **texts[] = {&origin.job, &origin.exe, &origin.host, &origin.place};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(texts); i++) {
        WIO_TRY(get_text(trace, segment, buf, texts[i]));
    }
    return add_origin(tables, &origin);
}

static enum wio_status get_server(struct wio_txn_tables *tables, const struct wio_trace *trace,
                                  const struct wio_reader_segment *segment, struct wio_buf *buf)
{
    struct wio_txn_server server = {0};
    uint64_t kind = 0;
    WIO_TRY(wio_buf_varint32(buf, &server.server));
    WIO_TRY(get_text(trace, segment, buf, &server.name));
    WIO_TRY(wio_buf_varint(buf, &kind));
    server.is_catalogue = kind == 1;
    void *array = tables->servers;
    WIO_TRY(wio_grow(&array, sizeof(*tables->servers), &tables->server_capacity,
                     tables->server_count + 1));
    tables->servers = array;
    WIO_TRY(wio_map_put(&tables->server_index, server.server, tables->server_count));
    tables->servers[tables->server_count++] = server;
    return WIO_OK;
}

static enum wio_status get_file(struct wio_txn_tables *tables, const struct wio_trace *trace,
                                const struct wio_reader_segment *segment, struct wio_buf *buf)
{
    struct wio_txn_file file = {0};
    WIO_TRY(wio_buf_varint(buf, &file.file));
    WIO_TRY(get_text(trace, segment, buf, &file.path));
    WIO_TRY(wio_buf_varint32(buf, &file.segments));
    WIO_TRY(wio_buf_varint32(buf, &file.stripe_unit));
    void *array = tables->files;
    WIO_TRY(
        wio_grow(&array, sizeof(*tables->files), &tables->file_capacity, tables->file_count + 1));
    tables->files = array;
    WIO_TRY(wio_map_put(&tables->file_index, file.file, tables->file_count));
    tables->files[tables->file_count++] = file;
    return WIO_OK;
}

/* R-DAMAGE-3: a row takes about this much, with its entry in a map. */
#define ROW_BYTES 64u

static bool is_too_much(struct wio_txn_tables *tables, const struct wio_reader_segment *segment,
                        size_t payload_bytes)
{
    tables->bytes += payload_bytes / 3 * ROW_BYTES; /* no row is shorter than three bytes */
    return tables->bytes > WIO_BLOCK_MAX_BYTES + 256 * segment->file.size;
}

/* R-TXN-7 */
static enum wio_status parse_table(struct wio_txn_tables *tables, const struct wio_trace *trace,
                                   const struct wio_reader_segment *segment, unsigned kind,
                                   struct wio_buf *buf)
{
    uint64_t count = 0;
    WIO_TRY(wio_buf_varint(buf, &count));
    for (uint64_t i = 0; i < count; i++) {
        switch (kind) {
        case WIO_BLOCK_TXN_SERVERS:
            WIO_TRY(get_server(tables, trace, segment, buf));
            break;
        case WIO_BLOCK_TXN_ORIGINS:
            WIO_TRY(get_origin(tables, trace, segment, buf));
            break;
        default:
            WIO_TRY(get_file(tables, trace, segment, buf));
            break;
        }
    }
    return wio_buf_left(buf) == 0 ? WIO_OK : WIO_ERR_FORMAT;
}

static enum wio_status read_block(struct wio_txn_tables *tables, const struct wio_trace *trace,
                                  const struct wio_reader_segment *segment,
                                  const struct wio_table_ref *ref, struct wio_pack *pack,
                                  struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob payload = {0};
    struct wio_block_head head;
    WIO_TRY(wio_block_read(&segment->file, pack, ref->offset, &head, &payload, err));
    struct wio_buf buf = wio_buf_of(payload.data, payload.size);
    if (is_too_much(tables, segment, payload.size)) {
        return wio_reader_too_much(segment, ref->offset, err);
    }
    enum wio_status status = parse_table(tables, trace, segment, ref->kind, &buf);
    if (status == WIO_OK || status == WIO_ERR_NOMEM) {
        return status == WIO_OK ? WIO_OK
                                : wio_error_set(err, status, segment->name, ref->offset,
                                                "no memory for a table of transactions");
    }
    return wio_error_set(err, WIO_ERR_FORMAT, segment->name, ref->offset + WIO_BLOCK_HEAD_BYTES,
                         "expected a table of transactions, found something else at its byte %zu",
                         buf.pos);
}

static enum wio_status read_segment(struct wio_txn_tables *tables, const struct wio_trace *trace,
                                    const struct wio_reader_segment *segment, struct wio_pack *pack,
                                    struct wio_error *err)
{
    for (uint32_t i = 0; i < segment->table_count; i++) {
        unsigned kind = segment->tables[i].kind;
        if (kind >= WIO_BLOCK_TXN_SERVERS && kind <= WIO_BLOCK_TXN_FILES) {
            WIO_TRY(read_block(tables, trace, segment, &segment->tables[i], pack, err));
        }
    }
    return WIO_OK;
}

enum wio_status wio_txn_tables_read(struct wio_txn_tables *tables, const struct wio_trace *trace,
                                    uint32_t **bases_out, struct wio_error *err)
{
    static const struct wio_txn_origin unknown = {"", "", "", ""};
    struct wio_pack pack = {0};
    uint32_t *bases = calloc((size_t)trace->segment_count + 1, sizeof(*bases));
    enum wio_status status = bases == NULL ? WIO_ERR_NOMEM : add_origin(tables, &unknown);
    if (status != WIO_OK) {
        free(bases);
        return wio_error_set(err, status, trace->path, WIO_ERROR_NO_OFFSET,
                             "no memory to read transactions");
    }
    for (uint32_t i = 0; i < trace->segment_count && status == WIO_OK; i++) {
        bases[i] = tables->origin_count - 1;
        status = read_segment(tables, trace, &trace->segments[i], &pack, err);
    }
    wio_pack_fini(&pack);
    if (status != WIO_OK) {
        free(bases);
        return status;
    }
    bases[trace->segment_count] = tables->origin_count - 1;
    *bases_out = bases;
    return WIO_OK;
}
