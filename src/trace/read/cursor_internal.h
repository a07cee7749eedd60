/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a cursor: which events (filter), one stream's slices, the merge of streams. */
#ifndef WIO_TRACE_READ_CURSOR_INTERNAL_H
#define WIO_TRACE_READ_CURSOR_INTERNAL_H

#include "trace/read/trace_internal.h"

/* What a cursor wants; owns copies of everything. */
struct wio_selection {
    bool *streams;       /* per stream of the trace */
    bool *ops;           /* per enum wio_op; NULL = all */
    uint64_t *paths;     /* bit per string id; NULL = all */
    uint32_t path_count; /* string ids that `paths` has bits for */
    uint32_t wanted;     /* columns */
};

WIO_MUST_CHECK enum wio_status wio_selection_init(struct wio_selection *selection,
                                                  const struct wio_trace *trace,
                                                  const struct wio_filter *filter);
void wio_selection_fini(struct wio_selection *selection);
/* False where the index proves that nothing in the block is wanted. */
bool wio_selection_has_block(const struct wio_selection *selection, const struct wio_trace *trace,
                             const struct wio_block_ref *block);
/* Keep the wanted events of a slice, in order; returns how many. */
size_t wio_selection_keep(const struct wio_selection *selection, struct wio_event *events,
                          size_t count);

/* One stream that is being read. Memory only while it is open: between its first block's time and
 * its last event. */
struct wio_lane {
    uint32_t stream;
    uint32_t next_block; /* index within the stream's range */
    bool is_open;        /* `block` is being read */
    bool is_frugal;      /* its unpacked bytes are the cursor's shared ones */
    const struct wio_block_ref *block;
    struct wio_events *events;
    struct wio_blob unpacked;
    struct wio_event *slice;
    size_t count;
    size_t pos;
};

struct wio_heap_entry {
    uint64_t t_ns;
    uint32_t lane;
};

struct wio_cursor {
    const struct wio_trace *trace;
    enum wio_order order;
    struct wio_selection selection;
    struct wio_pack pack;
    struct wio_blob payload; /* of the block at hand, as stored */
    struct wio_blob shared;  /* unpacked bytes of the frugal lane that was read last */
    const struct wio_block_ref *shared_owner;
    size_t unpacked_bytes; /* held by all lanes that are not frugal */
    size_t unpacked_max;   /* a lane opened beyond that is frugal */
    size_t slice_max;
    struct wio_lane *lanes;
    uint32_t lane_count;
    uint32_t lane; /* ORDER_STREAM: the one being read */
    struct wio_heap_entry *heap;
    uint32_t heap_count;
    bool has_given; /* ORDER_TIME: the heap's first entry was returned */
};

/* The lane's next wanted events into lane->slice; WIO_END behind the last. */
WIO_MUST_CHECK enum wio_status wio_lane_fill(struct wio_cursor *cursor, struct wio_lane *lane,
                                             struct wio_error *err);
void wio_lane_fini(struct wio_cursor *cursor, struct wio_lane *lane);

#endif
