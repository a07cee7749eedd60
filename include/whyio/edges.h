/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The happens-before edges that are stored in a trace directory (FORMAT.md#edges).
 *
 *     const struct wio_edge_file *edges = wio_trace_edges(trace);
 *     struct wio_edge_filter filter = {.struct_size = sizeof(filter), .kind = WIO_EDGES_IN};
 *     if (edges == NULL) ... none are stored, or for other segments than there are now
 *     if (wio_edge_cursor_create(edges, &filter, &cursor, &err) != WIO_OK) ...
 *     while ((status = wio_edge_cursor_next(cursor, &row, &err)) == WIO_OK) { ... }
 *     wio_edge_cursor_destroy(cursor);
 *
 * A point is an event of the trace: (stream, seq), as in struct wio_event. An edge a -> b says: b
 * cannot end before a is done. Within a thread each event precedes the next, and a process image
 * made by exec follows what the thread did before; that is never stored.
 *
 * A collective is one event, not n x n edges. Those of its members that give have done all that
 * precedes `enter_seq` before any member that takes goes on with what follows `leave_seq`; the
 * event leave_seq itself cannot end before. For a blocking call the two are the same.
 *
 * Memory: a cursor holds one block of at most 4,096 rows; the file its index and the names of
 * objects. Thread safety: one thread per cursor; a file may be read by many threads at once.
 */
#ifndef WHYIO_EDGES_H
#define WHYIO_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

WIO_BEGIN_DECLS

enum wio_edge_class {
    WIO_EDGE_HARD,       /* data or a message: this order and no other */
    WIO_EDGE_COLLECTIVE, /* of a collective; never of a row of its own */
    WIO_EDGE_MUTEX,      /* any order is right, but not both at once: replayed as a lock */
    WIO_EDGE_QUEUE,      /* first come, first served: replayed as a queue */
    WIO_EDGE_CLASS_COUNT
};

/* name in code, in reports */
#define WIO_EVIDENCE_LIST(X)                                                                       \
    X(MPI, "mpi")                                                                                  \
    X(THREAD, "thread")                                                                            \
    X(PIPE, "pipe")                                                                                \
    X(SOCKET, "socket")                                                                            \
    X(LOCK, "lock")                                                                                \
    X(POLL, "poll")                                                                                \
    X(PROCESS, "process")                                                                          \
    X(SIGNAL, "signal")                                                                            \
    X(HELD, "held")

enum wio_evidence {
#define WIO_EVIDENCE_ENUM(name, text) WIO_EVIDENCE_##name,
    WIO_EVIDENCE_LIST(WIO_EVIDENCE_ENUM)
#undef WIO_EVIDENCE_ENUM
        WIO_EVIDENCE_COUNT
};

/* "hard", "mpi" ..; "?" for other values. Static texts; may be called from any thread. */
const char *wio_edge_class_name(unsigned edge_class);
const char *wio_evidence_name(unsigned evidence);

struct wio_edge_point {
    uint64_t seq;
    uint32_t stream; /* of the trace */
};

struct wio_edge_row {
    struct wio_edge_point from;
    struct wio_edge_point to;
    uint32_t object;    /* which lock, queue or channel: wio_edge_file_object; 0 = none */
    uint8_t edge_class; /* enum wio_edge_class */
    uint8_t evidence;   /* enum wio_evidence */
    bool is_implied;    /* by program order, collectives and edges that are not implied */
};

/* One thread's part in a collective. */
struct wio_member_row {
    uint64_t enter_seq;
    uint64_t leave_seq;
    uint32_t stream;
    uint32_t collective; /* its number: 0, 1, 2 .. in about the order of time */
    uint32_t object;     /* the communicator, barrier .. */
    uint32_t members;    /* of the collective */
    uint32_t givers;     /* how many of them give */
    uint8_t evidence;
    bool gives; /* the others wait for it: all of a barrier, the root of a broadcast */
    bool takes; /* it waits: all of a barrier, all but the root of a broadcast */
};

/* A run of failed polls for one file, then one that did not fail: one WAIT-UNTIL. */
struct wio_wait_row {
    uint64_t first_seq; /* the first failed poll */
    uint64_t last_seq;  /* the one that succeeded */
    uint64_t looks;     /* failed polls */
    uint32_t stream;
};

struct wio_edge_file;
struct wio_edge_cursor;
struct wio_trace;

struct wio_edge_totals {
    uint64_t all;
    uint64_t implied; /* of `all`; a collective never is */
};

struct wio_edge_info {
    /* Edges; under COLLECTIVE collectives. By evidence: both together. */
    struct wio_edge_totals by_class[WIO_EDGE_CLASS_COUNT];
    struct wio_edge_totals by_evidence[WIO_EVIDENCE_COUNT];
    uint64_t edges;
    uint64_t collectives;
    uint64_t members; /* of all collectives together */
    uint64_t waits;
    uint64_t objects;
    /* Halves without the other half: a part of the program was not recorded. */
    uint64_t unmatched_sends;
    uint64_t unmatched_receives;
    uint64_t unmatched_read_bytes;
    uint64_t unmatched_collectives;
};

/* The stored edges, borrowed: they live as long as the trace. NULL where there are none for the
 * segments as they are. May be called by many threads at once, but not while edges are derived. */
const struct wio_edge_file *wio_trace_edges(const struct wio_trace *trace);

/* Fills the first `size` bytes of a struct wio_edge_info: a caller of an older header has fewer. */
void wio_edge_file_get_info_sized(const struct wio_edge_file *file, struct wio_edge_info *info_out,
                                  size_t size);
static inline void wio_edge_file_get_info(const struct wio_edge_file *file,
                                          struct wio_edge_info *info_out)
{
    wio_edge_file_get_info_sized(file, info_out, sizeof(*info_out));
}
/* Lines for a person on what is missing or doubtful and why, "" = nothing. Lives as long as the
 * file.
 */
const char *wio_edge_file_notes(const struct wio_edge_file *file);
/* What an object is ("mutex 7f0c1c000b20", "pipe:[4711]", "communicator 5a..", a path); "" for 0
 * and unknown ones. Lives as long as the file. */
const char *wio_edge_file_object(const struct wio_edge_file *file, uint32_t object);

/* What a cursor reads, and in which order. */
enum wio_edge_kind {
    WIO_EDGES_IN,          /* edges, by (to.stream, to.seq): what a thread waits for */
    WIO_EDGES_OUT,         /* edges that are not implied, by (from.stream, from.seq) */
    WIO_EDGES_MEMBERS,     /* members, by (stream, enter_seq): wio_edge_cursor_next_member */
    WIO_EDGES_COLLECTIVES, /* members, by (collective, stream) */
    WIO_EDGES_WAITS        /* by (stream, first_seq): wio_edge_cursor_next_wait */
};

/* Zero-initialise; struct_size = sizeof(struct wio_edge_filter). */
struct wio_edge_filter {
    size_t struct_size;
    enum wio_edge_kind kind;
    bool has_implied; /* IN: those that are implied too */
    bool has_stream;  /* only `stream`; not for COLLECTIVES */
    uint32_t stream;
    uint64_t from_seq;  /* with has_stream: rows from this number on; found by the index */
    unsigned classes;   /* bits 1 << enum wio_edge_class, 0 = all; edges only */
    unsigned evidences; /* bits 1 << enum wio_evidence, 0 = all */
    uint32_t object;    /* 0 = all */
};

/*
 * A cursor before the first row. `filter` is copied and must not be NULL; `file` must outlive the
 * cursor, which the caller owns. Reads no row yet. WIO_ERR_USAGE: filter->struct_size is not set,
 * an unknown kind, or has_stream with WIO_EDGES_COLLECTIVES; WIO_ERR_NOMEM. *cursor_out is not set
 * then.
 */
WIO_MUST_CHECK enum wio_status wio_edge_cursor_create(const struct wio_edge_file *file,
                                                      const struct wio_edge_filter *filter,
                                                      struct wio_edge_cursor **cursor_out,
                                                      struct wio_error *err);
/* Accepts NULL. */
void wio_edge_cursor_destroy(struct wio_edge_cursor *cursor);

/* WIO_OK and the next row (valid until the next call), WIO_END after the last, or an error that
 * names file, offset and what was expected. WIO_ERR_USAGE for a cursor of another kind. */
WIO_MUST_CHECK enum wio_status wio_edge_cursor_next(struct wio_edge_cursor *cursor,
                                                    const struct wio_edge_row **row_out,
                                                    struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_edge_cursor_next_member(struct wio_edge_cursor *cursor,
                                                           const struct wio_member_row **row_out,
                                                           struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_edge_cursor_next_wait(struct wio_edge_cursor *cursor,
                                                         const struct wio_wait_row **row_out,
                                                         struct wio_error *err);

WIO_END_DECLS
#endif
