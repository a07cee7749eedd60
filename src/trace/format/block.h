/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a segment: framing, checksum, compression (FORMAT.md#block). Reader and writer side by
 * side. A struct wio_pack holds the compressor's working memory: one per thread.
 */
#ifndef WIO_TRACE_FORMAT_BLOCK_H
#define WIO_TRACE_FORMAT_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/buf.h"
#include "trace/format/format.h"

/* Zero-initialise; contexts are made when first needed. */
struct wio_pack {
    struct ZSTD_CCtx_s *compress;
    struct ZSTD_DCtx_s *decompress;
};

void wio_pack_fini(struct wio_pack *pack);

/* Append `bytes` as one zstd frame if that is smaller, else as they are; *packed_out tells. */
WIO_MUST_CHECK enum wio_status wio_pack_put(struct wio_pack *pack, const void *bytes, size_t size,
                                            struct wio_blob *out, int *packed_out);
/* One zstd frame that holds exactly `raw_size` bytes, into `raw`. */
WIO_MUST_CHECK enum wio_status wio_pack_get(struct wio_pack *pack, const void *bytes, size_t size,
                                            void *raw, size_t raw_size);

/* An open file of blocks: descriptor and name are borrowed. */
struct wio_block_file {
    int fd;
    const char *name;
    uint64_t size; /* reading: length of the file; writing: where the next block goes */
};

struct wio_block_head {
    uint16_t kind;
    uint16_t flags;
    uint32_t stored_bytes;
    uint32_t raw_bytes;
    uint32_t crc;
};

/* Write one block behind the former; `compress` = 0 for payloads that are packed inside. */
WIO_MUST_CHECK enum wio_status wio_block_write(struct wio_block_file *file, struct wio_pack *pack,
                                               enum wio_block_kind kind,
                                               const struct wio_blob *payload, int compress,
                                               struct wio_error *err);

/* Head of the block at `offset`: checks its magic, checksum and bounds. */
WIO_MUST_CHECK enum wio_status wio_block_read_head(const struct wio_block_file *file,
                                                   uint64_t offset, struct wio_block_head *head_out,
                                                   struct wio_error *err);

/* Payload of the block at `offset`, unpacked. Replaces what `payload_out` holds. */
WIO_MUST_CHECK enum wio_status wio_block_read(const struct wio_block_file *file,
                                              struct wio_pack *pack, uint64_t offset,
                                              struct wio_block_head *head_out,
                                              struct wio_blob *payload_out, struct wio_error *err);

#endif
