/* SPDX-License-Identifier: Apache-2.0 */
#include "store/client/layout.h"

uint32_t wio_layout_locate(const struct wio_layout *layout, uint64_t offset, uint64_t *offset_out)
{
    uint64_t unit = offset / layout->stripe_unit;
    *offset_out = unit / layout->segments * layout->stripe_unit + offset % layout->stripe_unit;
    return (uint32_t)(unit % layout->segments);
}

uint64_t wio_layout_linear(const struct wio_layout *layout, uint32_t segment, uint64_t offset)
{
    uint64_t unit = offset / layout->stripe_unit * layout->segments + segment;
    return unit * layout->stripe_unit + offset % layout->stripe_unit;
}

/* Bytes of the segment that lie before the linear offset. */
static uint64_t before(const struct wio_layout *layout, uint64_t offset, uint32_t segment)
{
    uint64_t unit = offset / layout->stripe_unit;
    uint64_t rows = unit / layout->segments;
    uint64_t at = unit % layout->segments;
    uint64_t bytes = rows * layout->stripe_unit;
    if (at > segment) {
        return bytes + layout->stripe_unit;
    }
    return at == segment ? bytes + offset % layout->stripe_unit : bytes;
}

struct wio_store_piece wio_layout_piece(const struct wio_layout *layout, uint64_t offset,
                                        uint64_t size, uint32_t segment)
{
    uint64_t from = before(layout, offset, segment);
    return (struct wio_store_piece){segment, from, before(layout, offset + size, segment) - from};
}

bool wio_layout_next_run(const struct wio_layout *layout, uint64_t offset, uint64_t size,
                         const struct wio_store_piece *piece, struct wio_store_run *run_out)
{
    uint64_t done = run_out->in_piece + run_out->size;
    if (done >= piece->size) {
        return false;
    }
    uint64_t at = piece->offset + done;
    uint64_t to_unit_end = layout->stripe_unit - at % layout->stripe_unit;
    uint64_t left = piece->size - done;
    uint64_t linear = wio_layout_linear(layout, piece->segment, at);
    *run_out =
        (struct wio_store_run){linear - offset, done, left < to_unit_end ? left : to_unit_end};
    return linear < offset + size;
}

uint64_t wio_layout_segment_size(const struct wio_layout *layout, uint64_t linear_size,
                                 uint32_t segment)
{
    return before(layout, linear_size, segment);
}

uint64_t wio_layout_size(const struct wio_layout *layout, uint32_t segment, uint64_t segment_size)
{
    return segment_size == 0 ? 0 : wio_layout_linear(layout, segment, segment_size - 1) + 1;
}
