/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a trace directory.
 *
 *     struct wio_trace *trace;
 *     struct wio_cursor *cursor;
 *     const struct wio_event *event;
 *     if (wio_trace_open("run.whyio", &trace, &err) != WIO_OK) ...
 *     if (wio_cursor_create(trace, NULL, &cursor, &err) != WIO_OK) ...
 *     while ((status = wio_cursor_next(cursor, &event, &err)) == WIO_OK) { ... }
 *     wio_cursor_destroy(cursor);
 *     wio_trace_close(trace);
 *
 * A trace is any directory with segments (NAME.seg) and, while it is recorded or after its recorder
 * was killed, rings below raw/ (NAME.ring), which wio_trace_open seals first (into the directory if
 * it may be written, else into memory). Memory is bounded by the string tables and one block per
 * open stream, never by the number of events.
 *
 * Thread safety: one thread per cursor; an open trace may be read by many threads at once.
 * What a borrowed pointer points to lives as long as its trace (events: until the next call).
 */
#ifndef WHYIO_TRACE_H
#define WHYIO_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>

WIO_BEGIN_DECLS

struct wio_trace;
struct wio_cursor;

/* A descriptor that was open when the first event that is left of a process image began
 * (record --keep=last), and is used by one of them. */
struct wio_open_fd {
    int32_t fd;
    uint32_t path; /* string id: of the trace; for a segment that is written, of the segment */
    int32_t flags; /* of open(2) */
};

struct wio_process_info {
    int32_t pid;
    int32_t ppid;
    int32_t rank;      /* -1 = none */
    uint32_t ranks;    /* size of its world, 0 = unknown */
    uint64_t start_ns; /* since the start of the trace */
    uint64_t end_ns;
    const char *host;
    const char *job; /* "" = none */
    const char *exe;
    const char *argv; /* joined by blanks, quoted where needed */
    const char *cwd;
    uint32_t parent; /* index of the process image that made this one by fork, spawn or exec;
                        UINT32_MAX = not in the trace */
    uint32_t end;    /* enum wio_ring_end: 0 none, 1 exit, 2 exec, 3 signal */
    int32_t end_status;
    uint64_t dropped; /* events */
    uint32_t unseen_count;
    const uint64_t *unseen; /* unseen_count counters, wio_unseen_key() names them */
    uint32_t cpus;          /* processors that its recorder might use; 0 = not recorded */
    bool is_expected;       /* a process of the trace waited for its end, or sent its signal */
    uint64_t evicted; /* of the dropped events: those from its begin, as the last ones were kept
                         (record --keep=last) */
    uint32_t opened_count;
    const struct wio_open_fd *opened; /* opened_count descriptors, whose open is not in the trace */
};

struct wio_stream_info {
    uint32_t process; /* index into the processes */
    int32_t tid;
    uint64_t thread; /* token of pthread_create, 0 = main or unknown */
    uint64_t events;
    uint64_t first_ns; /* begin of the first and end of the last event, since trace start */
    uint64_t last_ns;
    uint64_t first_seq;  /* of its first event: a process image made by exec goes on counting */
    uint64_t bytes_read; /* from files, by system calls (struct wio_trace_info) */
    uint64_t bytes_written;
};

/* State of a path before and after, as far as it is known (FORMAT.md#files). */
enum wio_file_type {
    WIO_FILE_UNKNOWN,
    WIO_FILE_NONE,
    WIO_FILE_REGULAR,
    WIO_FILE_DIRECTORY,
    WIO_FILE_SYMLINK,
    WIO_FILE_FIFO,
    WIO_FILE_SOCKET,
    WIO_FILE_CHARDEV,
    WIO_FILE_BLOCKDEV
};

struct wio_file_info {
    uint32_t path;           /* string id */
    enum wio_file_type type; /* when the trace was sealed; NONE = it did not exist any more */
    uint32_t mode;           /* permission bits */
    uint64_t size;           /* bytes */
    uint32_t target;         /* string id of a symbolic link's text; of a regular file's stripe
                                layout on Lustre (FORMAT.md R-FILE-1), 0 = not known */
    uint32_t fs;             /* string id: "ext4", "tmpfs", "0x1234abcd" */
    uint32_t uses;           /* enum wio_file_use */
};

/* What the events say about a path. */
enum wio_file_use {
    WIO_USE_FILE = 1 << 0,  /* opened, made, looked at or transferred as a regular file */
    WIO_USE_NAMED = 1 << 1, /* the path of an operation */
};

/* Per operation totals, taken from the index without reading events. */
struct wio_op_total {
    uint64_t count;
    uint64_t bytes;
    uint64_t time_ns;
    uint64_t errors;
};

struct wio_trace_info {
    uint64_t start_unix_ns;
    uint64_t duration_ns;
    uint64_t events;
    uint64_t dropped;
    uint64_t files;      /* distinct paths of regular files that were opened or looked at by name */
    uint64_t bytes_read; /* from files by system calls and asynchronous requests: stdio calls are
                            not counted, the reads that they cause are */
    uint64_t bytes_written;
    uint32_t ranks;     /* distinct ranks */
    uint32_t processes; /* distinct (host, pid) */
    uint32_t images;    /* process images: exec counts anew */
    uint32_t threads;
    bool complete; /* recorder ended, every process ended by itself or by another one of the trace,
                      nothing dropped, nothing unseen */
    bool live;     /* it was still being recorded when it was opened */
    const char *command;
    const char *version; /* of the whyio that recorded */
    const char *remarks; /* lines: what could not be recorded and why; "" = none */
    bool ended;          /* each recorder saw the last process of its command end */
    uint64_t max_bytes;  /* of raw events that a recorder kept (record --max-size); 0 = no bound */
    bool keeps_last;     /* the last events were kept, not the first */
    uint64_t evicted;    /* of the dropped events: those from the begin, as the last were kept */
};

/* Called again and again with what is done, what there is to do, and the unit of both ("B",
 * "events"), a static text. By the thread that called the function it was given to; it may call no
 * function with the same trace. */
typedef void wio_progress_fn(void *arg, uint64_t done, uint64_t total, const char *unit);

/*
 * `path`: the directory; it is copied. The caller owns *trace_out, which is not set after an error.
 * The error says the file, offset and what was expected, also where it is trace.edges that is
 * damaged. WIO_ERR_IO: there is no such directory, or a file cannot be read;
 * WIO_ERR_FORMAT, WIO_ERR_TRUNCATED: it is no trace, or a file is damaged; WIO_ERR_UNSUPPORTED: a
 * file is of a newer version, or asks for more memory than its size explains; WIO_ERR_NOMEM.
 */
WIO_MUST_CHECK enum wio_status wio_trace_open(const char *path, struct wio_trace **trace_out,
                                              struct wio_error *err);
/* The same; `progress` (may be NULL) is called while raw rings are sealed, which may take long,
 * with unit "B", and not after this returns. A damaged trace.edges leaves the trace without edges:
 * wio_trace_edges_fault says why. */
WIO_MUST_CHECK enum wio_status wio_trace_open_progress(const char *path, wio_progress_fn *progress,
                                                       void *progress_arg,
                                                       struct wio_trace **trace_out,
                                                       struct wio_error *err);
/* What is wrong with trace.edges; WIO_OK: nothing, or there is no such file. */
WIO_MUST_CHECK enum wio_status wio_trace_edges_fault(const struct wio_trace *trace,
                                                     struct wio_error *err);
/* Cursors of the trace have to be destroyed before. Accepts NULL. */
void wio_trace_close(struct wio_trace *trace);

/* Fills the first `size` bytes of a struct wio_trace_info: a caller of an older header has fewer.
 */
void wio_trace_get_info_sized(const struct wio_trace *trace, struct wio_trace_info *info_out,
                              size_t size);
static inline void wio_trace_get_info(const struct wio_trace *trace,
                                      struct wio_trace_info *info_out)
{
    wio_trace_get_info_sized(trace, info_out, sizeof(*info_out));
}
/* Rows of the tables, from 0; NULL for an `i` that is not below the count. Borrowed. */
uint32_t wio_trace_process_count(const struct wio_trace *trace);
const struct wio_process_info *wio_trace_process(const struct wio_trace *trace, uint32_t i);
uint32_t wio_trace_stream_count(const struct wio_trace *trace);
const struct wio_stream_info *wio_trace_stream(const struct wio_trace *trace, uint32_t i);
uint32_t wio_trace_file_count(const struct wio_trace *trace);
const struct wio_file_info *wio_trace_file(const struct wio_trace *trace, uint32_t i);
/* Totals of one operation (enum wio_op of <whyio/ops.h>); zeros where it does not occur. */
void wio_trace_op_total(const struct wio_trace *trace, unsigned op, struct wio_op_total *out);
/* Text of a string id; "" for WIO_NO_STRING and unknown ids. `bytes_out` may be NULL. */
const char *wio_trace_string(const struct wio_trace *trace, uint32_t id, size_t *bytes_out);
uint32_t wio_trace_string_count(const struct wio_trace *trace);

/* One return address: module path, its build-id in hex ("" = none), offset in the file's address
 * space. A stack is a list of such frames, innermost first. */
struct wio_frame {
    const char *module;
    const char *build_id;
    uint64_t address;
};
/* Source ids are below it. */
uint32_t wio_trace_source_count(const struct wio_trace *trace);
/* Number of frames of a source id (0 = unknown); fills up to `max`. */
uint32_t wio_trace_source(const struct wio_trace *trace, uint32_t source, struct wio_frame *frames,
                          uint32_t max);

/* Parts of an event that a caller needs: others keep their defaults and cost nothing to decode.
 * op, call, seq and stream are always there. */
enum wio_column {
    WIO_COLUMN_TIME = 1 << 0,     /* t_ns and dur_ns */
    WIO_COLUMN_DURATION = 1 << 1, /* dur_ns alone */
    WIO_COLUMN_FD = 1 << 2,
    WIO_COLUMN_PATH = 1 << 3,
    WIO_COLUMN_OFFSET = 1 << 4,
    WIO_COLUMN_SIZE = 1 << 5,
    WIO_COLUMN_RESULT = 1 << 6,
    WIO_COLUMN_ERROR = 1 << 7,
    WIO_COLUMN_SOURCE = 1 << 8,
    WIO_COLUMN_FLAGS = 1 << 9,
    WIO_COLUMN_SECOND = 1 << 10, /* path2, fd2, offset2 */
    WIO_COLUMN_ARGS = 1 << 11,
    WIO_COLUMN_CPU = 1 << 12, /* gap_cpu_ns, dur_cpu_ns, gap_slept, dur_slept */
};

/* Which events, in which order. Zero-initialise; struct_size = sizeof(struct wio_filter). */
enum wio_order { WIO_ORDER_TIME, WIO_ORDER_STREAM };
struct wio_filter {
    size_t struct_size;
    enum wio_order order; /* by begin over all streams, or one stream after the other */
    const int32_t *ranks;
    size_t rank_count; /* 0 = all */
    const uint16_t *ops;
    size_t op_count; /* 0 = all */
    const uint32_t *paths;
    size_t path_count; /* 0 = all; matches path and path2 */
    const uint32_t *streams;
    size_t stream_count; /* 0 = all */
    uint64_t columns;    /* mask of enum wio_column that the caller needs, 0 = all */
};

/* `filter` may be NULL: all events by time. It is copied, with its arrays. The caller owns
 * *cursor_out, which is not set after an error. Reads nothing yet. WIO_ERR_USAGE:
 * filter->struct_size is not set, or an unknown order; WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_cursor_create(const struct wio_trace *trace,
                                                 const struct wio_filter *filter,
                                                 struct wio_cursor **cursor_out,
                                                 struct wio_error *err);
/* Accepts NULL. */
void wio_cursor_destroy(struct wio_cursor *cursor);

/* WIO_OK and the next event, WIO_END after the last, or an error, after which the cursor may only
 * be destroyed: WIO_ERR_FORMAT or WIO_ERR_TRUNCATED (a damaged block, by file and offset),
 * WIO_ERR_IO, WIO_ERR_NOMEM. The event is valid until the next call. */
WIO_MUST_CHECK enum wio_status wio_cursor_next(struct wio_cursor *cursor,
                                               const struct wio_event **event_out,
                                               struct wio_error *err);

/* The same for up to a whole block of one stream, *count_out > 0 events: the fast way to aggregate.
 * They are valid until the next call. WIO_ERR_USAGE: the order is another than WIO_ORDER_STREAM. */
WIO_MUST_CHECK enum wio_status wio_cursor_next_block(struct wio_cursor *cursor,
                                                     const struct wio_event **events_out,
                                                     size_t *count_out, struct wio_error *err);

/*
 * Read everything and report each fault (file, offset, what was expected) to `fault`; goes on
 * behind a fault where it can. WIO_OK = no fault, WIO_END = faults were reported, other = no trace
 * (as wio_trace_open). `fault` must not be NULL; it is called by the calling thread, and lends
 * *fault for the call: a copy is complete. It may call no function with the same directory.
 */
typedef void wio_fault_fn(void *arg, const struct wio_error *fault);
WIO_MUST_CHECK enum wio_status wio_trace_check(const char *path, wio_fault_fn *fault, void *arg,
                                               struct wio_error *err);

/* The same; `progress` (may be NULL) is called with the bytes checked, and before that with those
 * of raw rings that are sealed. */
WIO_MUST_CHECK enum wio_status wio_trace_check_progress(const char *path, wio_fault_fn *fault,
                                                        void *arg, wio_progress_fn *progress,
                                                        void *progress_arg, struct wio_error *err);

WIO_END_DECLS
#endif
