/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one quick pass over the events tells, thread by thread and without edges: where the threads'
 * time went, which files and lines took it, and how long and large the operations were.
 *
 *     struct wio_digest *digest;
 *     if (wio_digest_create(trace, &params, &digest, &err) != WIO_OK) ...
 *     digest->time_ns[WIO_STEP_IO] ..
 *     wio_digest_destroy(digest);
 *
 * A thread's time goes from the begin of its first event to the end of its last; each nanosecond
 * counts once, by the rules of `explain` (accounts/step_kind.h). Files and lines count what happens
 * to files of file systems, without stdio calls, whose reads and writes are events of their own.
 *
 * Memory: 41 bytes for each name and 44 for each source of the trace, 16 KiB for each operation
 * that occurs; not by the number of events. Thread safety: one thread per object.
 */
#ifndef WIO_EXPLAIN_DIGEST_H
#define WIO_EXPLAIN_DIGEST_H

#include <whyio/trace.h>

#include "base/histogram.h"
#include "explain/accounts/step_kind.h"

struct wio_digest_params {
    size_t struct_size;
    uint32_t rows;             /* of files and of lines */
    wio_progress_fn *progress; /* may be NULL */
    void *progress_arg;
};

struct wio_digest_sums {
    uint64_t count;
    uint64_t bytes_read;
    uint64_t bytes_written;
    uint64_t time_ns; /* sum of durations */
    uint64_t errors;
};

struct wio_digest_file {
    uint32_t path; /* string id */
    struct wio_digest_sums sums;
};

struct wio_digest_line {
    uint32_t source; /* that has the frame */
    uint32_t frame;  /* of its stack, 0 = the innermost */
    struct wio_digest_sums sums;
};

/* One operation: on files (and without a path), or on pipes, sockets, FIFOs and terminals. */
struct wio_digest_op {
    struct wio_histogram *time; /* ns; NULL: no duration was measured */
    struct wio_histogram *size; /* bytes that were asked for; NULL: it asks for none */
    struct wio_digest_sums sums;
};

enum { WIO_DIGEST_FILES, WIO_DIGEST_CHANNELS, WIO_DIGEST_SIDES };

struct wio_digest {
    const struct wio_trace *trace;
    uint64_t time_ns[WIO_STEP_KINDS]; /* summed over the threads */
    uint64_t operations; /* on files, without stdio calls: what files and lines count, and replay */
    uint64_t threads_ns; /* the sum of these */
    uint32_t threads;    /* that have events */
    struct wio_digest_op *ops[WIO_DIGEST_SIDES]; /* by operation */
    struct wio_digest_file *files;               /* by time, the longest first */
    uint32_t file_count;
    uint32_t files_seen;
    struct wio_digest_line *lines;
    uint32_t line_count;
    uint32_t lines_seen;
};

/* `trace` must outlive the digest, which the caller owns. */
WIO_MUST_CHECK enum wio_status wio_digest_create(const struct wio_trace *trace,
                                                 const struct wio_digest_params *params,
                                                 struct wio_digest **digest_out,
                                                 struct wio_error *err);
/* Accepts NULL. */
void wio_digest_destroy(struct wio_digest *digest);

#endif
