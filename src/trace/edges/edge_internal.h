/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an open file of edges. Read-only once it is open, so that threads may share it. */
#ifndef WIO_TRACE_EDGES_EDGE_INTERNAL_H
#define WIO_TRACE_EDGES_EDGE_INTERNAL_H

#include "trace/edges/edge_file.h"
#include "trace/edges/edge_rows.h"
#include "trace/format/block.h"
#include "trace/format/envelope.h"

struct wio_reader_segment;

/* A block of rows, from the index. */
struct wio_edge_block {
    uint64_t offset;
    uint64_t first_seq;
    uint32_t first; /* stream, or collective */
    uint32_t last;
    uint32_t count;
};

/* All blocks of a kind, in file order, which is that of their rows. */
struct wio_edge_blocks {
    struct wio_edge_block *items;
    uint32_t count;
    uint32_t capacity;
};

#define WIO_EDGE_ROW_KINDS (WIO_BLOCK_WAITS - WIO_BLOCK_EDGES_IN + 1)

struct wio_edge_file {
    struct wio_block_file file;
    char *name;
    uint64_t index_offset;
    uint64_t table_bytes; /* held in memory: R-DAMAGE-3 */
    struct wio_edge_blocks rows[WIO_EDGE_ROW_KINDS];
    struct wio_edge_bounds bounds;
    struct wio_edge_info info;
    char *segments; /* R-EDGE-1 */
    char *notes;
    char *held;            /* R-HELD-3; NULL: none */
    char *marks;           /* R-EDGE-7; NULL: a file of before */
    bool is_only;          /* R-HELD-4 */
    const char **objects;  /* [0] is "" */
    uint32_t object_count; /* with [0] */
    uint32_t object_capacity;
    struct wio_clock_row *clocks;
    uint32_t clock_count;
    uint32_t clock_capacity;
    void **kept; /* payloads that texts point into */
    uint32_t kept_count;
    uint32_t kept_capacity;
};

/* The segments of a trace as R-EDGE-1 writes them; the caller frees it. */
WIO_MUST_CHECK enum wio_status wio_edge_segments_text(const struct wio_trace *trace,
                                                      char **text_out, struct wio_error *err);

/* The same as R-EDGE-7 writes it. */
WIO_MUST_CHECK enum wio_status wio_edge_marks_text(const struct wio_trace *trace, char **text_out,
                                                   struct wio_error *err);
/* What both say of a segment: its name without directory, its first 80 and last 24 bytes. */
const char *wio_edge_segment_name(const struct wio_reader_segment *segment);
WIO_MUST_CHECK enum wio_status
wio_edge_segment_ends(const struct wio_reader_segment *segment,
                      uint8_t ends_out[WIO_SEGMENT_HEADER_BYTES + WIO_SEGMENT_TRAILER_BYTES],
                      struct wio_error *err);

/* "length crc" of DIR/trace.held as R-HELD-3 writes it, "" where there is none; the caller frees
 * it. `expected`: such a text, or NULL; where its length is not that of the file, "crc" is that of
 * nothing, and the file is not read. */
WIO_MUST_CHECK enum wio_status wio_edge_held_text(const struct wio_trace *trace,
                                                  const char *expected, char **text_out,
                                                  struct wio_error *err);

/* Begin DIR/trace.held. */
WIO_MUST_CHECK enum wio_status wio_held_writer_create(const struct wio_trace *trace, bool is_only,
                                                      struct wio_edge_writer **writer_out,
                                                      struct wio_error *err);

/* edge_tables.c: R-DAMAGE-3, for this file too: WIO_ERR_UNSUPPORTED where `bytes` more are more
 * than is in proportion to it. */
WIO_MUST_CHECK enum wio_status wio_edge_charge(struct wio_edge_file *file, uint64_t bytes);
/* The payload of a block that holds no rows; texts point into it. */
WIO_MUST_CHECK enum wio_status wio_edge_table(struct wio_edge_file *file, uint64_t kind,
                                              struct wio_buf *buf);

/* The head of a block of rows. */
struct wio_edge_head {
    uint64_t first;
    uint64_t first_seq;
    uint64_t last;
    uint64_t count;
};
WIO_MUST_CHECK enum wio_status wio_edge_head_put(struct wio_blob *out,
                                                 const struct wio_edge_head *head);
WIO_MUST_CHECK enum wio_status wio_edge_head_get(struct wio_buf *buf,
                                                 struct wio_edge_head *head_out);

#endif
