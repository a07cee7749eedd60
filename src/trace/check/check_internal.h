/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of checking: one segment at a time, as a trace of its own. */
#ifndef WIO_TRACE_CHECK_CHECK_INTERNAL_H
#define WIO_TRACE_CHECK_CHECK_INTERNAL_H

#include "trace/read/trace_internal.h"

/* A block whose head is whole. */
struct wio_check_block {
    uint64_t offset;
    uint16_t kind;
};

/* What the index says of a block. */
struct wio_check_entry {
    uint64_t offset;
    uint16_t kind;
    uint32_t block; /* EVENTS: index into trace->blocks */
};

struct wio_check {
    wio_fault_fn *fault;
    void *arg;
    uint64_t faults;
    wio_progress_fn *progress; /* may be NULL */
    void *progress_arg;
    uint64_t bytes_before; /* in segments that were checked */
    uint64_t bytes_total;
    struct wio_trace *trace; /* one segment */
    struct wio_pack pack;
    struct wio_check_block *blocks; /* in file order */
    uint32_t block_count;
    uint32_t block_capacity;
    struct wio_check_entry *entries; /* by offset */
    uint32_t entry_count;
    uint64_t *next_seq;     /* per stream: number that its next block must begin with */
    bool *has_block;        /* per stream */
    uint64_t *counted;      /* per stream: events found */
    uint64_t *last_ns;      /* per stream: begin of its last event */
    bool has_tables;        /* all tables could be read */
    struct wio_map *images; /* of all segments: check_twice.h */
};

/* Where the first block of a kind is, for a fault of all of them together. */
uint64_t wio_check_offset_of(const struct wio_check *check, unsigned kind);

/* check_core.c: report one fault. */
void wio_check_report(struct wio_check *check, const struct wio_error *fault);
void wio_check_fault(struct wio_check *check, uint64_t offset, const char *fmt, ...)
    WIO_PRINTF(3, 4);

/* The index' entry for the block at `offset`, else the first behind it, else NULL. */
const struct wio_check_entry *wio_check_entry_from(const struct wio_check *check, uint64_t offset);

/* check_segment.c: everything of check->trace, whose one segment is open. */
void wio_check_segment(struct wio_check *check);
/* check_events.c: the block at `offset`. */
void wio_check_events(struct wio_check *check, uint64_t offset);
WIO_MUST_CHECK enum wio_status wio_check_events_begin(struct wio_check *check);
/* Do the blocks make up what STREAMS says? */
void wio_check_events_end(struct wio_check *check);

#endif
