/* SPDX-License-Identifier: Apache-2.0 */
/* What deriving and storing edges share. */
#ifndef WIO_EDGES_EDGES_INTERNAL_H
#define WIO_EDGES_EDGES_INTERNAL_H

#include "causal/infer/infer.h"
#include "edges/edges.h"
#include "edges/paths.h"
#include "trace/edges/edge_file.h"

/* The trace as the inference wants it. */
struct wio_join_tables {
    struct wio_infer_stream *streams;
    struct wio_infer_process *processes;
    uint32_t *next_stream;       /* of the same thread, behind exec; UINT32_MAX: none */
    uint64_t *fifos;             /* a bit per string: wio_join_find_fifos */
    struct wio_join_links links; /* these three: wio_join_find_paths */
    struct wio_join_mounts mounts;
    struct wio_join_below below;
    uint32_t hosts;
};

WIO_MUST_CHECK enum wio_status wio_join_tables_init(struct wio_join_tables *tables,
                                                    const struct wio_trace *trace);
/* What is to be known of paths before events are fed. */
WIO_MUST_CHECK enum wio_status wio_join_find_paths(struct wio_join_tables *tables,
                                                   const struct wio_trace *trace,
                                                   struct wio_error *err);
/* Set the bits of paths that were FIFOs when the run began. */
WIO_MUST_CHECK enum wio_status wio_join_find_fifos(struct wio_join_tables *tables,
                                                   const struct wio_trace *trace,
                                                   struct wio_error *err);
void wio_join_tables_fini(struct wio_join_tables *tables);

/* What messages call a point of the edges of a trace, which is the context. */
void wio_join_name_point(const void *context, struct wio_point point, char *text, size_t room);

/* What a person would call an object. */
void wio_join_name_object(const struct wio_trace *trace, const struct wio_infer_object *object,
                          char *text, size_t room);

enum { WIO_JOIN_NOTE_BYTES = 512 };

/* What was derived. `is_implied`: per edge. */
struct wio_join_result {
    struct wio_edges edges;
    struct wio_infer *infer;
    bool *is_implied;
    const struct wio_clock_row *clocks; /* per host, NULL: one host */
    uint32_t clock_count;
    struct wio_held own;                  /* as stored */
    const struct wio_held *held;          /* these, or as given */
    char clock_note[WIO_JOIN_NOTE_BYTES]; /* "": no message contradicts them */
    char cycle_note[WIO_JOIN_NOTE_BYTES]; /* "": edges do not contradict each other */
};
void wio_join_result_fini(struct wio_join_result *result);

/* The function that inference tells of messages between hosts, and its argument. */
struct wio_join_watch {
    wio_infer_watch_fn *call;
    void *context;
};

/* The message of an inference or of edges that failed, which say of their limits only that they are
 * beyond one. */
enum wio_status wio_join_failed(const struct wio_trace *trace, enum wio_status status,
                                struct wio_error *err);

/* All events by time into an inference, which result->infer is then; `watch` may be NULL. */
WIO_MUST_CHECK enum wio_status
wio_join_events(const struct wio_trace *trace, const struct wio_join_params *params,
                struct wio_join_tables *tables, const struct wio_join_watch *watch,
                struct wio_join_result *result, struct wio_error *err);

/* How the clocks of all hosts are to be corrected; `rows` has one per host. `note` tells of hosts
 * that some message contradicts all the same. */
WIO_MUST_CHECK enum wio_status
wio_join_clocks(const struct wio_trace *trace, const struct wio_join_params *params,
                struct wio_join_tables *tables, struct wio_clock_row *rows,
                char note[WIO_JOIN_NOTE_BYTES], struct wio_error *err);

/* The stored edges of a trace again, as points of threads. `edges` is empty. */
WIO_MUST_CHECK enum wio_status wio_join_load(const struct wio_trace *trace,
                                             const struct wio_join_tables *tables,
                                             struct wio_edges *edges, struct wio_error *err);

/* Write it; the writer is not finished. */
WIO_MUST_CHECK enum wio_status wio_join_store(const struct wio_trace *trace,
                                              const struct wio_join_tables *tables,
                                              const struct wio_join_result *result,
                                              struct wio_edge_writer *writer,
                                              struct wio_error *err);

#endif
