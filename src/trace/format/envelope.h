/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header and trailer around the blocks of a segment, or of a file of edges (FORMAT.md#segment).
 * Errors name what kind of file was expected: `what` is "segment" or "file of edges".
 */
#ifndef WIO_TRACE_FORMAT_ENVELOPE_H
#define WIO_TRACE_FORMAT_ENVELOPE_H

#include <stdint.h>

#include <whyio/status.h>

#include "trace/format/block.h"

struct wio_frame_kind {
    const char *magic; /* 8 bytes */
    const char *magic_text;
    const char *what;
};
extern const struct wio_frame_kind wio_frame_segment;
extern const struct wio_frame_kind wio_frame_edges;

struct wio_frame_header {
    uint64_t base_unix_ns;
    uint64_t base_mono_ns;
    char boot_id[WIO_BOOT_ID_BYTES + 1];
};

/* Both write at file->size and move it on. */
WIO_MUST_CHECK enum wio_status wio_frame_write_header(struct wio_block_file *file,
                                                      const struct wio_frame_kind *kind,
                                                      const struct wio_frame_header *header,
                                                      struct wio_error *err);
WIO_MUST_CHECK enum wio_status
wio_frame_write_trailer(struct wio_block_file *file, uint64_t index_offset, struct wio_error *err);

WIO_MUST_CHECK enum wio_status wio_frame_read_header(const struct wio_block_file *file,
                                                     const struct wio_frame_kind *kind,
                                                     struct wio_frame_header *header_out,
                                                     struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_frame_read_trailer(const struct wio_block_file *file,
                                                      const struct wio_frame_kind *kind,
                                                      uint64_t *index_offset_out,
                                                      struct wio_error *err);

#endif
