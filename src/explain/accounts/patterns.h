/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How files are used: the counters of struct wio_step and wio_step_pattern, from one event at a
 * time. Memory: a row per file, and one per thread and file of which data was transferred.
 */
#ifndef WIO_EXPLAIN_PATTERNS_H
#define WIO_EXPLAIN_PATTERNS_H

#include <whyio/trace.h>

#include "explain/accounts/beside.h"
#include "explain/accounts/spans.h"
#include "explain/accounts/steps.h"
#include "explain/descriptors.h"
#include "ops/calls.h"

/* A file as one thread uses it. */
struct wio_thread_file {
    uint64_t next; /* offset behind the last transfer */
    struct wio_spans read;
    struct wio_spans written;
    uint32_t path;
    uint32_t stream;
    uint32_t generation; /* of the file, when its spans were right .. */
    uint32_t changes;    /* .. and its changes then */
    uint64_t bytes;      /* that were transferred */
    bool has_next;
    bool has_written; /* by the last transfer */
};

/* A file as all threads use it. */
struct wio_file_row {
    uint64_t extent; /* bytes that it is known to have */
    struct wio_spans read;
    uint64_t opens;
    uint64_t looks;     /* bits of the operations that looked at it, by their numbers modulo 64 */
    uint64_t scans;     /* of its entries: calls that begin one .. */
    uint64_t dir_opens; /* .. and opens with O_DIRECTORY, which stand for one where no call does */
    uint64_t bytes_read;
    uint64_t read_begin; /* valid where bytes_read > 0: the first byte that was read .. */
    uint64_t read_end;   /* .. and behind the last one */
    uint64_t bytes_written;
    uint64_t time_ns; /* of operations on it */
    uint64_t meta_ns; /* of these: of those that move no data */
    uint64_t ops;
    uint64_t unsynced;      /* bytes written since the last sync, by any thread */
    uint64_t past_bytes;    /* that it had before they were cut off, replaced or overwritten */
    uint64_t changed_begin; /* bytes that were written or cut off, from the first .. */
    uint64_t changed_end;   /* .. to the last */
    uint32_t changes;       /* how often */
    uint32_t generation;    /* the path means other bytes than before: cut, renamed, removed */
    uint32_t info;          /* index of its wio_file_info, UINT32_MAX = none */
    uint32_t first_reader;
    uint32_t first_writer;   /* streams, UINT32_MAX = none */
    bool is_read_by_several; /* processes */
    bool is_shared;          /* data was transferred by several processes */
};

/* What an event is, by its operation: looked up once instead of for each event. */
struct wio_op_facts {
    uint8_t kind; /* enum wio_io_kind */
    uint8_t cls;  /* enum wio_class */
    bool is_buffered;
};

/* Zero-initialise, set trace, steps and small_bytes, release with wio_patterns_fini. */
struct wio_patterns {
    const struct wio_trace *trace;
    struct wio_steps *steps;
    struct wio_descriptors *descriptors;
    struct wio_beside beside;
    uint64_t small_bytes;       /* requests below are small */
    struct wio_file_row *files; /* by string id; grows to the largest that is used */
    uint32_t file_capacity;
    struct wio_thread_file *uses;
    uint32_t use_count;
    uint32_t use_capacity;
    struct wio_map use_index; /* stream, path -> use */
    uint32_t *last_use;       /* of each stream, + 1 */
    struct wio_map infos;     /* path -> wio_file_info */
    struct wio_op_facts ops[WIO_OP_COUNT];
    uint8_t *is_not_a_file; /* by string id: pipes, sockets, FIFOs, terminals */
    uint8_t *is_data;       /* by string id: of a file system that keeps data; no directory */
    uint8_t *is_made_up;    /* by string id: of /proc or /sys, new at each read */
    uint32_t path_count;
    uint64_t scans;            /* of all directories .. */
    uint64_t scan_directories; /* .. and how many these are */
};

/* As far as the trace tells. */
bool wio_patterns_is_directory(const struct wio_patterns *patterns, uint32_t path);
/* How often the entries of a directory were read from the first one on; WIO_SEVERAL_FILES: of all
 * directories, in the mean. */
double wio_patterns_scans(const struct wio_patterns *patterns, uint32_t path);

WIO_MUST_CHECK enum wio_status wio_patterns_init(struct wio_patterns *patterns);
void wio_patterns_fini(struct wio_patterns *patterns);
/* `step`: of the event. */
WIO_MUST_CHECK enum wio_status wio_patterns_event(struct wio_patterns *patterns,
                                                  const struct wio_event *event, uint32_t step);

#endif
