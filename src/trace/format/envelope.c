/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/format/envelope.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/crc.h"
#include "base/io.h"

const struct wio_frame_kind wio_frame_segment = {WIO_SEGMENT_MAGIC, "\\x89WIOSEG\\n", "segment"};
const struct wio_frame_kind wio_frame_edges = {WIO_EDGES_MAGIC, "\\x89WIOEDG\\n", "file of edges"};

enum wio_status wio_frame_write_header(struct wio_block_file *file,
                                       const struct wio_frame_kind *kind,
                                       const struct wio_frame_header *header, struct wio_error *err)
{
    uint8_t bytes[WIO_SEGMENT_HEADER_BYTES];
    struct wio_blob blob = {bytes, 0, sizeof(bytes)};
    WIO_TRY(wio_blob_put(&blob, kind->magic, 8));
    WIO_TRY(wio_blob_u32(&blob, WIO_SEGMENT_VERSION));
    WIO_TRY(wio_blob_u32(&blob, 0));
    WIO_TRY(wio_blob_u64(&blob, header->base_unix_ns));
    WIO_TRY(wio_blob_u64(&blob, header->base_mono_ns));
    WIO_TRY(wio_blob_put(&blob, header->boot_id, WIO_BOOT_ID_BYTES));
    WIO_TRY(wio_blob_u32(&blob, 0));
    WIO_TRY(wio_blob_u32(&blob, wio_crc32c(0, bytes, blob.size)));
    WIO_TRY(wio_io_pwrite(file->fd, file->name, bytes, blob.size, file->size, err));
    file->size += blob.size;
    return WIO_OK;
}

enum wio_status wio_frame_write_trailer(struct wio_block_file *file, uint64_t index_offset,
                                        struct wio_error *err)
{
    uint8_t bytes[WIO_SEGMENT_TRAILER_BYTES];
    struct wio_blob blob = {bytes, 0, sizeof(bytes)};
    WIO_TRY(wio_blob_u64(&blob, index_offset));
    WIO_TRY(wio_blob_u64(&blob, file->size + sizeof(bytes)));
    WIO_TRY(wio_blob_u32(&blob, wio_crc32c(0, bytes, 16)));
    WIO_TRY(wio_blob_u32(&blob, WIO_SEGMENT_TRAILER_MAGIC));
    WIO_TRY(wio_io_pwrite(file->fd, file->name, bytes, blob.size, file->size, err));
    file->size += blob.size;
    return WIO_OK;
}

static enum wio_status parse_header(const struct wio_block_file *file,
                                    const struct wio_frame_kind *kind, const uint8_t *bytes,
                                    struct wio_frame_header *header, struct wio_error *err)
{
    struct wio_buf buf = wio_buf_of(bytes, WIO_SEGMENT_HEADER_BYTES);
    const uint8_t *magic = NULL;
    const uint8_t *boot_id = NULL;
    uint32_t version = 0;
    uint32_t flags = 0;
    uint32_t reserved = 0;
    uint32_t crc = 0;
    WIO_TRY(wio_buf_bytes(&buf, 8, &magic));
    WIO_TRY(wio_buf_u32(&buf, &version));
    WIO_TRY(wio_buf_u32(&buf, &flags));
    WIO_TRY(wio_buf_u64(&buf, &header->base_unix_ns));
    WIO_TRY(wio_buf_u64(&buf, &header->base_mono_ns));
    WIO_TRY(wio_buf_bytes(&buf, WIO_BOOT_ID_BYTES, &boot_id));
    WIO_TRY(wio_buf_u32(&buf, &reserved));
    WIO_TRY(wio_buf_u32(&buf, &crc));
    if (memcmp(magic, kind->magic, 8) != 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, file->name, 0,
                             "expected a %s that begins with %s", kind->what, kind->magic_text);
    }
    /* FORMAT.md R-SEG-2 */
    if (version != WIO_SEGMENT_VERSION) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, file->name, 8,
                             "expected version %u, found %u", WIO_SEGMENT_VERSION, version);
    }
    uint32_t actual = wio_crc32c(0, bytes, WIO_SEGMENT_HEADER_BYTES - 4);
    if (crc != actual) {
        return wio_error_set(err, WIO_ERR_FORMAT, file->name, WIO_SEGMENT_HEADER_BYTES - 4,
                             "expected checksum %08x of the header, found %08x", actual, crc);
    }
    memcpy(header->boot_id, boot_id, WIO_BOOT_ID_BYTES);
    header->boot_id[WIO_BOOT_ID_BYTES] = '\0';
    return WIO_OK;
}

enum wio_status wio_frame_read_header(const struct wio_block_file *file,
                                      const struct wio_frame_kind *kind,
                                      struct wio_frame_header *header_out, struct wio_error *err)
{
    uint8_t bytes[WIO_SEGMENT_HEADER_BYTES];
    if (file->size < sizeof(bytes)) {
        return wio_error_set(err, WIO_ERR_TRUNCATED, file->name, file->size,
                             "expected the header of a %s (%zu bytes), found the end of the file",
                             kind->what, sizeof(bytes));
    }
    WIO_TRY(wio_io_pread(file->fd, file->name, bytes, sizeof(bytes), 0, err));
    return parse_header(file, kind, bytes, header_out, err);
}

enum wio_status wio_frame_read_trailer(const struct wio_block_file *file,
                                       const struct wio_frame_kind *kind,
                                       uint64_t *index_offset_out, struct wio_error *err)
{
    uint8_t bytes[WIO_SEGMENT_TRAILER_BYTES];
    if (file->size < WIO_SEGMENT_HEADER_BYTES + sizeof(bytes)) {
        return wio_error_set(err, WIO_ERR_TRUNCATED, file->name, file->size,
                             "expected the trailer of a %s, found the end of the file", kind->what);
    }
    uint64_t at = file->size - sizeof(bytes);
    WIO_TRY(wio_io_pread(file->fd, file->name, bytes, sizeof(bytes), at, err));
    struct wio_buf buf = wio_buf_of(bytes, sizeof(bytes));
    uint64_t length = 0;
    uint32_t crc = 0;
    uint32_t magic = 0;
    WIO_TRY(wio_buf_u64(&buf, index_offset_out));
    WIO_TRY(wio_buf_u64(&buf, &length));
    WIO_TRY(wio_buf_u32(&buf, &crc));
    WIO_TRY(wio_buf_u32(&buf, &magic));
    if (magic != WIO_SEGMENT_TRAILER_MAGIC) {
        return wio_error_set(err, WIO_ERR_TRUNCATED, file->name, at + 20,
                             "expected WEND at the end of the %s, found %08x", kind->what, magic);
    }
    if (crc != wio_crc32c(0, bytes, 16)) {
        return wio_error_set(err, WIO_ERR_FORMAT, file->name, at + 16,
                             "expected checksum %08x of the trailer, found %08x",
                             wio_crc32c(0, bytes, 16), crc);
    }
    if (length != file->size) {
        return wio_error_set(err, WIO_ERR_TRUNCATED, file->name, file->size,
                             "expected a file of %llu bytes, found %llu",
                             (unsigned long long)length, (unsigned long long)file->size);
    }
    return WIO_OK;
}
