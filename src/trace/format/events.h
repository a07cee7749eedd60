/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The payload of an EVENTS block: up to some thousand events of one stream, as columns
 * (FORMAT.md#events). Reader and writer agree on what each column's values are relative to through
 * the inline functions here.
 */
#ifndef WIO_TRACE_FORMAT_EVENTS_H
#define WIO_TRACE_FORMAT_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>

#include "base/buf.h"
#include "trace/format/block.h"
#include "trace/format/column.h"
#include "trace/format/format.h"

struct wio_events_head {
    uint32_t stream;
    uint32_t count;
    uint64_t first_seq;
    uint64_t first_ns; /* begin of the first event, since the segment's base */
    uint64_t last_ns;  /* largest end of an event */
    uint64_t dropped;  /* lost in this stream before this block */
};

/* R-COL-1: predictions are kept per descriptor and per call in few slots; different ones may
 * share a slot, which costs bytes but no correctness. Slot WIO_SLOT_COUNT is "no descriptor". */
static inline unsigned wio_slot_of_fd(int32_t fd)
{
    return fd == WIO_NO_FD ? WIO_SLOT_COUNT : (uint32_t)fd % WIO_SLOT_COUNT;
}

static inline unsigned wio_slot_of_call(uint32_t call)
{
    return call % WIO_SLOT_COUNT;
}

/* R-COL-4: where the next operation with this descriptor is expected. */
static inline uint64_t wio_offset_after(int64_t offset, uint64_t size)
{
    return (uint64_t)offset + (size == WIO_NO_SIZE ? 0 : size);
}

/* R-CPU-2: processor time and whether the thread slept, in one number. */
static inline int64_t wio_cpu_to_column(uint64_t cpu_ns, uint8_t has_slept)
{
    return (int64_t)(cpu_ns == 0 ? 0 : cpu_ns << 1 | (has_slept != 0));
}

static inline uint64_t wio_cpu_of_column(int64_t value, uint8_t *slept_out)
{
    *slept_out = value & 1;
    return (uint64_t)value >> 1;
}

/*
 * Append the payload for `head->count` events, sorted by begin. `call` of each event is its index
 * into the segment's CALLS; stream and seq are taken from the head, t_ns is since the segment's
 * base. `scratch` holds head->count values.
 */
WIO_MUST_CHECK enum wio_status wio_events_encode(const struct wio_event *events,
                                                 const struct wio_events_head *head,
                                                 int64_t *scratch, struct wio_pack *pack,
                                                 struct wio_blob *out);

/* How a segment's numbers become those of the trace. All tables are borrowed. */
struct wio_events_context {
    const struct wio_events_call *calls; /* the segment's CALLS */
    uint32_t call_count;
    const uint32_t *strings; /* id in the segment -> id in the trace; NULL = the same */
    uint32_t string_count;   /* ids below are known; 0 always is */
    uint32_t source_count;   /* the same for sources */
    uint32_t source_base;    /* added to ids other than 0 */
    uint32_t stream_base;
    uint64_t shift_ns; /* added to times */
};

struct wio_events_call {
    uint16_t op;
    uint16_t call;
};

/* A block that is being read slice by slice. */
struct wio_events {
    struct wio_events_head head;
    uint32_t done;
    uint32_t wanted;     /* mask of 1 << enum wio_column_id */
    const char *unknown; /* after WIO_ERR_FORMAT: "string" or "source", whose table lacks .. */
    uint32_t unknown_id; /* .. this id; NULL where it is a column that ends early */
    uint64_t previous_end;
    struct wio_column_reader columns[WIO_COL_COUNT];
    uint32_t starts[WIO_COL_COUNT]; /* of each column's bytes in the unpacked ones */
    /* predictors */
    uint64_t offset_after[WIO_SLOT_COUNT + 1];
    uint32_t path[WIO_SLOT_COUNT + 1];
    uint64_t by_call[WIO_COL_COUNT][WIO_SLOT_COUNT]; /* the columns of R-COL-3 */
};

#define WIO_SLICE_MAX 256u

/* Columns that must be decoded to give those of `mask` (enum wio_column), 0 = all. */
uint32_t wio_events_wanted(uint64_t mask);

/* Only the head of a payload. */
WIO_MUST_CHECK enum wio_status wio_events_parse_head(struct wio_buf *buf,
                                                     struct wio_events_head *head_out);

/* Begin with a block: unpacks the wanted columns to the end of `unpacked`, which must stay as it is
 * while slices are read, or be moved with wio_events_rebase. */
WIO_MUST_CHECK enum wio_status wio_events_open(struct wio_events *events, uint32_t wanted,
                                               const struct wio_blob *payload,
                                               struct wio_pack *pack, struct wio_blob *unpacked);
/* The unpacked bytes are now elsewhere (the same bytes in the same order). */
void wio_events_rebase(struct wio_events *events, const struct wio_blob *unpacked);

/* Up to `max` <= WIO_SLICE_MAX events more; *count_out = 0 at the end of the block. */
WIO_MUST_CHECK enum wio_status wio_events_read(struct wio_events *events,
                                               const struct wio_events_context *context,
                                               struct wio_event *out, size_t max,
                                               size_t *count_out);

/* After the last slice: has each column been read to its end? */
bool wio_events_at_end(const struct wio_events *events);

#endif
