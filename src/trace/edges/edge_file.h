/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing and opening the file of edges of a trace (FORMAT.md#edges). Reading its rows is
 * <whyio/edges.h>.
 */
#ifndef WIO_TRACE_EDGES_EDGE_FILE_H
#define WIO_TRACE_EDGES_EDGE_FILE_H

#include <whyio/edges.h>
#include <whyio/trace.h>

#include "trace/format/format.h"

struct wio_edge_writer;

/*
 * Begin DIR/trace.edges of an open trace, or, with create_fd, the same into a descriptor (which the
 * writer then owns). Memory: one block. One thread.
 */
WIO_MUST_CHECK enum wio_status wio_edge_writer_create(const struct wio_trace *trace,
                                                      struct wio_edge_writer **writer_out,
                                                      struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_edge_writer_create_fd(const struct wio_trace *trace, int fd,
                                                         struct wio_edge_writer **writer_out,
                                                         struct wio_error *err);

/* `value`: text without NUL. */
WIO_MUST_CHECK enum wio_status wio_edge_writer_meta(struct wio_edge_writer *writer,
                                                    enum wio_edges_meta key, const char *value,
                                                    struct wio_error *err);
/* Objects are numbered 1, 2, 3 .. in the order of these calls. */
WIO_MUST_CHECK enum wio_status wio_edge_writer_object(struct wio_edge_writer *writer,
                                                      const char *text, struct wio_error *err);

/*
 * Rows, sorted as FORMAT.md R-EDGE-3 says (WIO_ERR_USAGE where they are not), all of one kind
 * behind each other: EDGES_IN or EDGES_OUT; MEMBERS or COLLECTIVES; WAITS.
 */
WIO_MUST_CHECK enum wio_status wio_edge_writer_edge(struct wio_edge_writer *writer,
                                                    enum wio_block_kind kind,
                                                    const struct wio_edge_row *row,
                                                    struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_edge_writer_member(struct wio_edge_writer *writer,
                                                      enum wio_block_kind kind,
                                                      const struct wio_member_row *row,
                                                      struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_edge_writer_wait(struct wio_edge_writer *writer,
                                                    const struct wio_wait_row *row,
                                                    struct wio_error *err);

/* How the clock of a host is to be corrected: FORMAT.md R-EDGE-6. */
struct wio_clock_row {
    const char *host;
    int64_t offset_ns;
    int64_t rate; /* in 2^-40 */
    uint64_t uncertainty_ns;
};
WIO_MUST_CHECK enum wio_status wio_edge_writer_clock(struct wio_edge_writer *writer,
                                                     const struct wio_clock_row *row,
                                                     struct wio_error *err);

/* Write the index, flush, and give the file its name, in place of an older one. The writer is gone
 * afterwards, also on failure. With create_fd: a duplicate of the descriptor into *fd_out, which
 * else is set to -1; may be NULL. */
WIO_MUST_CHECK enum wio_status wio_edge_writer_finish(struct wio_edge_writer *writer, int *fd_out,
                                                      struct wio_error *err);
/* Accepts NULL. */
void wio_edge_writer_abandon(struct wio_edge_writer *writer);

/* `t_ns` by the clock of the row; a NULL row leaves it as it is. */
uint64_t wio_clock_row_apply(const struct wio_clock_row *row, uint64_t t_ns);

/* Open a file of edges for the streams of `trace`; takes over `fd`. *is_current_out: it names the
 * segments as they are (R-EDGE-1). */
WIO_MUST_CHECK enum wio_status wio_edge_file_open(const struct wio_trace *trace, int fd,
                                                  const char *name, struct wio_edge_file **file_out,
                                                  bool *is_current_out, struct wio_error *err);
/* Accepts NULL. */
void wio_edge_file_close(struct wio_edge_file *file);
const char *wio_edge_file_name(const struct wio_edge_file *file);
size_t wio_edge_file_clock_count(const struct wio_edge_file *file);
const struct wio_clock_row *wio_edge_file_clock(const struct wio_edge_file *file, size_t i);

/* Where it was opened. */
const char *wio_trace_path(const struct wio_trace *trace);
/* That directory, for *at calls; the trace's. */
int wio_trace_directory(const struct wio_trace *trace);

/* DIR/trace.edges, where there is one for the segments as they are: as wio_trace_open does. */
WIO_MUST_CHECK enum wio_status wio_trace_find_edges(struct wio_trace *trace, struct wio_error *err);

/*
 * Give the trace `file` (which it takes over, also on failure) as its edges and correct its clocks;
 * it had none. Cursors that were made before are not corrected.
 */
WIO_MUST_CHECK enum wio_status
wio_trace_take_edges(struct wio_trace *trace, struct wio_edge_file *file, struct wio_error *err);

/* Correct the clocks of hosts from now on; it had no corrections. The rows must stay as long as
 * nothing replaces them: wio_trace_take_edges does, by its own that are the same, and
 * wio_trace_forget_clocks where that has not happened (the times of streams and processes then stay
 * corrected). */
WIO_MUST_CHECK enum wio_status wio_trace_set_clocks(struct wio_trace *trace,
                                                    const struct wio_clock_row *rows, size_t count,
                                                    struct wio_error *err);
void wio_trace_forget_clocks(struct wio_trace *trace, const struct wio_clock_row *rows);

/* Read all of DIR/trace.edges and DIR/trace.held and report each fault; WIO_END where there were
 * some. No file, or one for other segments, is no fault. */
WIO_MUST_CHECK enum wio_status wio_edge_file_check(const struct wio_trace *trace,
                                                   wio_fault_fn *fault, void *arg,
                                                   struct wio_error *err);

#endif
