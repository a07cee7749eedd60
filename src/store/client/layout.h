/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bytes of a parafile are. A parafile has a fixed number of segments; segment s is on
 * target s mod targets. Linear views (global, independent) deal units of `stripe_unit` bytes to the
 * segments in turn: unit u is in segment u mod segments, at (u / segments) * stripe_unit. In the
 * segmented view offsets are those of one segment. (Moyer, Sunderam: PIOUS, a scalable parallel I/O
 * system for distributed computing environments, SHPCC 1994.)
 *
 * Of a linear range each segment has one contiguous piece, whatever the range's length: so an
 * operation is one request for each segment. Pure; thread safe.
 */
#ifndef WIO_STORE_CLIENT_LAYOUT_H
#define WIO_STORE_CLIENT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wio_layout {
    uint32_t segments;    /* at least 1 */
    uint32_t targets;     /* at least 1 */
    uint64_t stripe_unit; /* bytes, at least 1 */
};

/* Of one segment: [offset, offset + size) there. size 0: none of the range is in it. */
struct wio_store_piece {
    uint32_t segment;
    uint64_t offset;
    uint64_t size;
};

/* A run of bytes that is contiguous in the linear range and in the piece. */
struct wio_store_run {
    uint64_t in_range; /* from the range's begin */
    uint64_t in_piece; /* from the piece's begin */
    uint64_t size;
};

static inline uint16_t wio_layout_target(const struct wio_layout *layout, uint32_t segment)
{
    return (uint16_t)(segment % layout->targets);
}

/* Where the linear byte `offset` is: *offset_out in the segment that is returned. */
uint32_t wio_layout_locate(const struct wio_layout *layout, uint64_t offset, uint64_t *offset_out);
/* The linear offset of a byte of a segment. */
uint64_t wio_layout_linear(const struct wio_layout *layout, uint32_t segment, uint64_t offset);

/* What `segment` has of the linear range. offset + size must not overflow. */
struct wio_store_piece wio_layout_piece(const struct wio_layout *layout, uint64_t offset,
                                        uint64_t size, uint32_t segment);
/* The runs of a piece of that range, in their order: begin with *run_out zeroed, false at the end.
 */
bool wio_layout_next_run(const struct wio_layout *layout, uint64_t offset, uint64_t size,
                         const struct wio_store_piece *piece, struct wio_store_run *run_out);

/* How long a segment is in a parafile of so many linear bytes without holes at its end. */
uint64_t wio_layout_segment_size(const struct wio_layout *layout, uint64_t linear_size,
                                 uint32_t segment);
/* The linear size that a segment of so many bytes calls for: a parafile's is the greatest of all.
 */
uint64_t wio_layout_size(const struct wio_layout *layout, uint32_t segment, uint64_t segment_size);

#endif
