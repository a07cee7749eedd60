/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/format/block.h"

#include <stdbool.h>

#include <zstd.h>

#include "base/cleanup.h"
#include "base/crc.h"
#include "base/io.h"

/* Frames of a few bytes only grow. */
#define PACK_MIN_BYTES 48u
#define PACK_LEVEL 1

void wio_pack_fini(struct wio_pack *pack)
{
    (void)ZSTD_freeCCtx(pack->compress);
    (void)ZSTD_freeDCtx(pack->decompress);
    *pack = (struct wio_pack){0};
}

enum wio_status wio_pack_put(struct wio_pack *pack, const void *bytes, size_t size,
                             struct wio_blob *out, int *packed_out)
{
    *packed_out = 0;
    if (size < PACK_MIN_BYTES) {
        return wio_blob_put(out, bytes, size);
    }
    if (pack->compress == NULL) {
        pack->compress = ZSTD_createCCtx();
    }
    if (pack->compress == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(wio_blob_reserve(out, ZSTD_compressBound(size)));
    size_t packed = ZSTD_compressCCtx(pack->compress, out->data + out->size,
                                      out->capacity - out->size, bytes, size, PACK_LEVEL);
    if (ZSTD_isError(packed)) {
        return WIO_ERR_NOMEM;
    }
    if (packed >= size) {
        return wio_blob_put(out, bytes, size);
    }
    out->size += packed;
    *packed_out = 1;
    return WIO_OK;
}

enum wio_status wio_pack_get(struct wio_pack *pack, const void *bytes, size_t size, void *raw,
                             size_t raw_size)
{
    if (pack->decompress == NULL) {
        pack->decompress = ZSTD_createDCtx();
    }
    if (pack->decompress == NULL) {
        return WIO_ERR_NOMEM;
    }
    size_t got = ZSTD_decompressDCtx(pack->decompress, raw, raw_size, bytes, size);
    return got == raw_size ? WIO_OK : WIO_ERR_FORMAT;
}

enum wio_status wio_block_write(struct wio_block_file *file, struct wio_pack *pack,
                                enum wio_block_kind kind, const struct wio_blob *payload,
                                int compress, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob out = {0};
    uint8_t head_bytes[WIO_BLOCK_HEAD_BYTES] = {0};
    int packed = 0;
    enum wio_status status = wio_blob_put(&out, head_bytes, sizeof(head_bytes));
    if (status == WIO_OK && compress) {
        status = wio_pack_put(pack, payload->data, payload->size, &out, &packed);
    } else if (status == WIO_OK) {
        status = wio_blob_put(&out, payload->data, payload->size);
    }
    if (status == WIO_OK && payload->size > WIO_BLOCK_MAX_BYTES) {
        status = WIO_ERR_INTERNAL;
    }
    if (status != WIO_OK) {
        return wio_error_set(err, status, file->name, file->size,
                             "cannot make a block of kind %d with %zu bytes", (int)kind,
                             payload->size);
    }
    size_t stored = out.size - WIO_BLOCK_HEAD_BYTES;
    uint32_t crc = wio_crc32c(0, out.data + WIO_BLOCK_HEAD_BYTES, stored);
    struct wio_blob head = {out.data, 0, WIO_BLOCK_HEAD_BYTES};
    WIO_TRY(wio_blob_u32(&head, WIO_BLOCK_MAGIC));
    WIO_TRY(wio_blob_u16(&head, (uint16_t)kind));
    WIO_TRY(wio_blob_u16(&head, packed ? WIO_BLOCK_ZSTD : 0));
    WIO_TRY(wio_blob_u32(&head, (uint32_t)stored));
    WIO_TRY(wio_blob_u32(&head, (uint32_t)payload->size));
    WIO_TRY(wio_blob_u32(&head, crc));
    WIO_TRY(wio_blob_u32(&head, wio_crc32c(0, out.data, 20)));
    WIO_TRY(wio_io_pwrite(file->fd, file->name, out.data, out.size, file->size, err));
    file->size += out.size;
    return WIO_OK;
}

static enum wio_status parse_head(const struct wio_block_file *file, const uint8_t *bytes,
                                  uint64_t offset, struct wio_block_head *head,
                                  struct wio_error *err)
{
    struct wio_buf buf = wio_buf_of(bytes, WIO_BLOCK_HEAD_BYTES);
    uint32_t magic = 0;
    uint32_t head_crc = 0;
    WIO_TRY(wio_buf_u32(&buf, &magic));
    WIO_TRY(wio_buf_u16(&buf, &head->kind));
    WIO_TRY(wio_buf_u16(&buf, &head->flags));
    WIO_TRY(wio_buf_u32(&buf, &head->stored_bytes));
    WIO_TRY(wio_buf_u32(&buf, &head->raw_bytes));
    WIO_TRY(wio_buf_u32(&buf, &head->crc));
    WIO_TRY(wio_buf_u32(&buf, &head_crc));
    if (magic != WIO_BLOCK_MAGIC) {
        return wio_error_set(err, WIO_ERR_FORMAT, file->name, offset,
                             "expected a block that begins with WBLK, found %08x", magic);
    }
    /* FORMAT.md R-SEG-3 */
    uint32_t crc = wio_crc32c(0, bytes, 20);
    if (crc != head_crc) {
        return wio_error_set(err, WIO_ERR_FORMAT, file->name, offset + 20,
                             "expected checksum %08x of the block's head, found %08x", crc,
                             head_crc);
    }
    return WIO_OK;
}

/* R-DAMAGE-1: nor are more bytes stored than the worst frame of that size has. */
static bool has_sound_sizes(const struct wio_block_head *head)
{
    if ((head->flags & ~WIO_BLOCK_ZSTD) != 0) {
        return false;
    }
    return (head->flags & WIO_BLOCK_ZSTD) == 0
               ? head->stored_bytes == head->raw_bytes
               : head->stored_bytes <= ZSTD_compressBound(head->raw_bytes);
}

enum wio_status wio_block_read_head(const struct wio_block_file *file, uint64_t offset,
                                    struct wio_block_head *head_out, struct wio_error *err)
{
    uint8_t bytes[WIO_BLOCK_HEAD_BYTES];
    if (offset > file->size || file->size - offset < sizeof(bytes)) {
        return wio_error_set(err, WIO_ERR_TRUNCATED, file->name, file->size,
                             "expected a block at byte %llu, found the end of the file",
                             (unsigned long long)offset);
    }
    WIO_TRY(wio_io_pread(file->fd, file->name, bytes, sizeof(bytes), offset, err));
    WIO_TRY(parse_head(file, bytes, offset, head_out, err));
    if (head_out->stored_bytes > file->size - offset - sizeof(bytes)) {
        return wio_error_set(err, WIO_ERR_TRUNCATED, file->name, file->size,
                             "expected %u bytes of the block at byte %llu, found the end of the "
                             "file",
                             head_out->stored_bytes, (unsigned long long)offset);
    }
    if (head_out->raw_bytes > WIO_BLOCK_MAX_BYTES || !has_sound_sizes(head_out)) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, file->name, offset,
                             "expected a block of at most 64 MiB with known flags, found %u bytes "
                             "(%u stored), flags %x",
                             head_out->raw_bytes, head_out->stored_bytes, head_out->flags);
    }
    return WIO_OK;
}

static enum wio_status unpack(const struct wio_block_file *file, struct wio_pack *pack,
                              uint64_t offset, const struct wio_block_head *head,
                              struct wio_blob *payload, struct wio_error *err)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob raw = {0};
    enum wio_status status = wio_blob_reserve(&raw, (size_t)head->raw_bytes + 1);
    if (status == WIO_OK) {
        status = wio_pack_get(pack, payload->data, payload->size, raw.data, head->raw_bytes);
    }
    if (status != WIO_OK) {
        return wio_error_set(err, status, file->name, offset + WIO_BLOCK_HEAD_BYTES,
                             "expected a zstd frame of %u bytes", head->raw_bytes);
    }
    raw.size = head->raw_bytes;
    struct wio_blob old = *payload;
    *payload = raw;
    raw = old;
    return WIO_OK;
}

enum wio_status wio_block_read(const struct wio_block_file *file, struct wio_pack *pack,
                               uint64_t offset, struct wio_block_head *head_out,
                               struct wio_blob *payload_out, struct wio_error *err)
{
    WIO_TRY(wio_block_read_head(file, offset, head_out, err));
    uint64_t at = offset + WIO_BLOCK_HEAD_BYTES;
    wio_blob_clear(payload_out);
    if (wio_blob_reserve(payload_out, (size_t)head_out->stored_bytes + 1) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, file->name, at, "no memory for %u bytes",
                             head_out->stored_bytes);
    }
    WIO_TRY(wio_io_pread(file->fd, file->name, payload_out->data, head_out->stored_bytes, at, err));
    payload_out->size = head_out->stored_bytes;
    uint32_t crc = wio_crc32c(0, payload_out->data, payload_out->size);
    if (crc != head_out->crc) {
        return wio_error_set(err, WIO_ERR_FORMAT, file->name, at,
                             "expected checksum %08x of %u bytes, found %08x", head_out->crc,
                             head_out->stored_bytes, crc);
    }
    if (head_out->flags & WIO_BLOCK_ZSTD) {
        return unpack(file, pack, offset, head_out, payload_out, err);
    }
    return WIO_OK;
}
