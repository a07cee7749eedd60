/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a segment that is being written, shared by segment*.c and sealing. */
#ifndef WIO_TRACE_WRITE_SEGMENT_INTERNAL_H
#define WIO_TRACE_WRITE_SEGMENT_INTERNAL_H

#include <whyio/segment.h>

#include "base/grow.h"

#include <stdbool.h>

#include "base/map.h"
#include "trace/format/block.h"
#include "trace/format/events.h"

/* Totals of one entry of CALLS within a block. */
struct wio_call_total {
    uint64_t count;
    uint64_t bytes;
    uint64_t time_ns;
    uint64_t errors;
};

struct wio_segment_process {
    struct wio_process_info info; /* texts and unseen point into the fields below */
    char *texts;
    struct wio_open_fd *opened;
    uint64_t unseen[WIO_UNSEEN_MAX];
};

struct wio_segment_stream {
    uint32_t process;
    int32_t tid;
    uint64_t thread;
    uint64_t events; /* written and buffered */
    uint64_t first_seq;
    uint64_t next_seq; /* of the next block */
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t bytes_read;
    uint64_t bytes_written;
    uint64_t dropped; /* since the last block */
    struct wio_event *buffer;
    uint32_t count;
    uint32_t capacity;
};

struct wio_index_part {
    size_t end;
    uint64_t count;
};

/* Bits beside enum wio_file_use, in memory only. */
enum { WIO_USE_CHECKED = 1 << 6, WIO_USE_STORAGE = 1 << 7 };

struct wio_segment {
    struct wio_block_file file;
    char *label; /* name for messages; the file that is being written */
    char *final; /* name of the finished segment, NULL for a descriptor */
    int dir;     /* that it is made in; -1 where there is no name */
    struct wio_pack pack;
    struct wio_blob meta;
    struct wio_strtab strings;
    uint8_t *uses; /* per string id */
    size_t uses_capacity;
    struct wio_strtab sources; /* encoded sources as texts */
    struct wio_map call_index; /* op << 16 | call -> index */
    struct wio_events_call *calls;
    uint32_t call_count;
    uint32_t call_capacity;
    struct wio_call_total *totals; /* of the block at hand, per call */
    struct wio_segment_process *processes;
    uint32_t process_count;
    uint32_t process_capacity;
    struct wio_segment_stream *streams;
    uint32_t stream_count;
    uint32_t stream_capacity;
    struct wio_map last_stream; /* (host, pid, tid) -> stream + 1 that counted last */
    struct wio_file_info *files;
    uint32_t file_count;
    uint32_t file_capacity;
    struct wio_map file_index; /* path -> index */
    struct wio_blob index;     /* entries of all blocks so far */
    uint64_t index_count;
    struct wio_index_part *index_parts; /* where it is cut into INDEX blocks */
    uint32_t index_part_count;
    uint32_t index_part_capacity;
    uint64_t index_offset; /* of the first INDEX block, 0 = none yet */
    int64_t *scratch;      /* WIO_EVENTS_PER_BLOCK values */
    bool is_passing;
};

/* The segment is one of a run that has just begun, and another one will take its place: to finish
 * it does not wait for the disk. Where the power fails in the first seconds it may be lost, as the
 * rings are, which are never flushed. */
void wio_segment_set_passing(struct wio_segment *segment);

/* segment_core.c. NULL: no memory. */
struct wio_segment *wio_segment_new(const char *label);
void wio_segment_free(struct wio_segment *segment);
/* One error for "no memory while writing this segment". */
enum wio_status wio_segment_fail(const struct wio_segment *segment, enum wio_status status,
                                 struct wio_error *err);
/* A number of a caller that this segment has not given out: WIO_ERR_USAGE. */
enum wio_status wio_segment_refuse(const struct wio_segment *segment, const char *what,
                                   uint32_t number, struct wio_error *err);

/* Change what wio_segment_process said. */
WIO_MUST_CHECK enum wio_status wio_segment_process_update(struct wio_segment *segment,
                                                          uint32_t index,
                                                          const struct wio_process_info *process,
                                                          struct wio_error *err);
/* Write what is buffered of a stream and free its buffer. */
WIO_MUST_CHECK enum wio_status wio_segment_flush(struct wio_segment *segment, uint32_t stream,
                                                 struct wio_error *err);
/* `count` events of this stream were lost before the next one. */
void wio_segment_lost(struct wio_segment *segment, uint32_t stream, uint64_t count);

/* segment_tables.c: all blocks but EVENTS and INDEX. */
WIO_MUST_CHECK enum wio_status wio_segment_write_tables(struct wio_segment *segment,
                                                        struct wio_error *err);

/* segment_index.c */
WIO_MUST_CHECK enum wio_status wio_segment_index_table(struct wio_segment *segment,
                                                       enum wio_block_kind kind, uint64_t offset,
                                                       struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_segment_index_events(struct wio_segment *segment,
                                                        const struct wio_events_head *head,
                                                        const struct wio_event *events,
                                                        uint64_t offset, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_segment_write_index(struct wio_segment *segment,
                                                       struct wio_error *err);

/* segment_uses.c: what an event says about its files and about bytes moved. */
WIO_MUST_CHECK enum wio_status wio_segment_note_uses(struct wio_segment *segment,
                                                     struct wio_segment_stream *stream,
                                                     const struct wio_event *event);
/* Bytes that an event counts in the totals of its operation. */
uint64_t wio_event_bytes(const struct wio_event *event);

#endif
