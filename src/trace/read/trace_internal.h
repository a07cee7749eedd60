/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an open trace: segments, joined tables, the list of blocks. Read-only once
 * wio_trace_open has returned, so that many threads may share it. */
#ifndef WIO_TRACE_READ_TRACE_INTERNAL_H
#define WIO_TRACE_READ_TRACE_INTERNAL_H

#include <whyio/edges.h>
#include <whyio/trace.h>

#include "base/grow.h"
#include "base/map.h"
#include "ops/calls.h"
#include "trace/format/block.h"
#include "trace/format/events.h"

/* One block of events, from the index. */
struct wio_block_ref {
    uint64_t offset;
    uint64_t first_seq;
    uint64_t first_ns; /* since the segment's base */
    uint64_t last_ns;
    uint64_t dropped;
    uint32_t segment;
    uint32_t stream; /* of the trace */
    uint32_t count;
    struct wio_buf details; /* histogram and paths, borrowed from the segment's index */
};

/* One table block, from the index. */
struct wio_table_ref {
    uint64_t offset;
    uint16_t kind;
};

struct wio_reader_segment {
    struct wio_block_file file;
    char *name;
    int open_errno; /* why it could not be opened, 0 = it is open */
    uint64_t base_unix_ns;
    uint64_t base_mono_ns;
    char boot_id[WIO_BOOT_ID_BYTES + 1];
    uint64_t index_offset;
    uint64_t table_bytes; /* of index and tables in memory: wio_reader_charge */
    struct wio_table_ref *tables;
    uint32_t table_count;
    uint32_t table_capacity;
    struct wio_blob meta;
    struct wio_events_call *calls;
    uint32_t *strings;     /* id here -> id in the trace; NULL where they are the same */
    uint32_t string_count; /* largest id + 1 */
    uint32_t process_base;
    uint32_t process_count;
    uint32_t stream_count;
    uint32_t source_count;
    struct wio_events_context context;
};

struct wio_text {
    const char *text;
    size_t bytes;
};

struct wio_source_ref {
    struct wio_buf frames; /* borrowed: what follows the number of frames */
    uint32_t count;
    uint32_t segment;
};

/* Blocks of one stream, in order: trace->blocks[first .. first + count). */
struct wio_block_range {
    uint32_t first;
    uint32_t count;
};

struct wio_trace {
    char *path;
    int dir; /* for what is named in it, -1: none; opened once, so that it stays the same one */
    struct wio_reader_segment *segments;
    uint32_t segment_count;
    uint32_t segment_capacity;
    struct wio_text *strings; /* [0] is "" */
    uint32_t string_count;
    uint32_t string_capacity;
    struct wio_map string_index;    /* hash -> id, only where there are several segments */
    struct wio_source_ref *sources; /* [0] is unknown */
    uint32_t source_count;
    uint32_t source_capacity;
    struct wio_process_info *processes;
    uint32_t process_count;
    uint32_t process_capacity;
    struct wio_stream_info *streams;
    uint32_t stream_count;
    uint32_t stream_capacity;
    struct wio_file_info *files;
    uint32_t file_count;
    uint32_t file_capacity;
    struct wio_map file_index; /* path -> index of files, only where there are several segments */
    struct wio_block_ref *blocks; /* by stream, then seq */
    uint32_t block_count;
    uint32_t block_capacity;
    struct wio_block_range *ranges;      /* per stream */
    struct wio_edge_file *edges;         /* NULL: none for these segments */
    struct wio_error edges_fault;        /* why a file of edges cannot be read; WIO_OK: it can */
    const struct wio_clock_row **clocks; /* per stream, NULL = right; NULL where all are */
    struct wio_op_total totals[WIO_OP_COUNT];
    struct wio_trace_info info;
    char *command;
    char *version;
    char *remarks;
    void **kept; /* memory that lives as long as the trace */
    uint32_t kept_count;
    uint32_t kept_capacity;
};

/* trace_core.c. The trace takes over `memory` (also when it fails). */
WIO_MUST_CHECK enum wio_status wio_trace_keep(struct wio_trace *trace, void *memory);

/* Id in the trace of string `id` of the segment, whose STRINGS have been read; 0 = there is none.
 */
uint32_t wio_reader_string(const struct wio_reader_segment *segment, uint64_t id);

/* String 0 and source 0. */
WIO_MUST_CHECK enum wio_status wio_trace_first_entries(struct wio_trace *trace);

void wio_reader_close(struct wio_reader_segment *segment);

/* R-DAMAGE-3: what index and tables take in memory, unpacked and parsed, stays in proportion to the
 * file: rows are counted too, since a byte of a table can become a hundred. WIO_ERR_UNSUPPORTED
 * where it does not; wio_reader_too_much tells of it. */
WIO_MUST_CHECK enum wio_status wio_reader_charge(struct wio_reader_segment *segment,
                                                 uint64_t bytes);
enum wio_status wio_reader_too_much(const struct wio_reader_segment *segment, uint64_t offset,
                                    struct wio_error *err);

/* reader_segment.c: header, trailer and index of trace->segments[number], whose file is open. */
WIO_MUST_CHECK enum wio_status wio_reader_open(struct wio_trace *trace, uint32_t number,
                                               struct wio_pack *pack, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_reader_index(struct wio_trace *trace, uint32_t number,
                                                struct wio_pack *pack, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_reader_header(struct wio_reader_segment *segment,
                                                 struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_reader_trailer(struct wio_reader_segment *segment,
                                                  struct wio_error *err);

/* reader_tables.c: the tables of a segment into those of the trace. */
WIO_MUST_CHECK enum wio_status wio_reader_tables(struct wio_trace *trace, uint32_t number,
                                                 struct wio_pack *pack, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_reader_table(struct wio_trace *trace, uint32_t number,
                                                unsigned kind, struct wio_blob *payload,
                                                size_t *parsed_out);
/* reader_strings.c, reader_processes.c: the contents of such a table. */
WIO_MUST_CHECK enum wio_status wio_reader_strings(struct wio_trace *trace,
                                                  struct wio_reader_segment *segment,
                                                  struct wio_buf *buf);
WIO_MUST_CHECK enum wio_status wio_reader_processes(struct wio_trace *trace,
                                                    struct wio_reader_segment *segment,
                                                    struct wio_buf *buf);
/* Value of a META key, "" where it is missing. */
WIO_MUST_CHECK enum wio_status wio_reader_meta(const struct wio_reader_segment *segment,
                                               unsigned key, const char **text_out,
                                               size_t *bytes_out);

/* One entry of the histogram in a block's details; count = how many follow. */
struct wio_histogram_row {
    uint32_t call;
    uint64_t count;
    uint64_t bytes;
    uint64_t time_ns;
    uint64_t errors;
};
WIO_MUST_CHECK enum wio_status wio_details_rows(struct wio_buf *details, uint64_t *rows_out);
WIO_MUST_CHECK enum wio_status wio_details_row(struct wio_buf *details,
                                               struct wio_histogram_row *row_out);

/* edge_clock.c: times of a stream, corrected (R-EDGE-6). */
void wio_trace_correct_slice(const struct wio_trace *trace, uint32_t stream,
                             struct wio_event *events, size_t count);
uint64_t wio_trace_correct(const struct wio_trace *trace, uint32_t stream, uint64_t t_ns);

/* trace_info.c: totals over all segments, once everything is read. */
WIO_MUST_CHECK enum wio_status wio_trace_summarise(struct wio_trace *trace, struct wio_error *err);

#endif
