/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Performing a trace on other storage: the same operations, by as many processes and threads,
 * below one directory.
 *
 *     struct wio_replay_params params = {.struct_size = sizeof(params), .root = "/mnt/x"};
 *     struct wio_replay_result *result;
 *     if (wio_replay(trace, &params, &result, &err) != WIO_OK) ...
 *     ... result->mismatch_count ...
 *     wio_replay_result_destroy(result);
 *
 * Nothing outside the root is touched. Not thread safe: the call forks, and while it runs it
 * handles SIGINT, SIGTERM, SIGHUP and the death of its children; all is restored afterwards.
 */
#ifndef WIO_REPLAY_REPLAY_H
#define WIO_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/edges.h>
#include <whyio/status.h>
#include <whyio/trace.h>

enum wio_replay_mode {
    WIO_REPLAY_DEFAULT = 0, /* causal, think where the trace has no edges */
    WIO_REPLAY_CAUSAL,
    WIO_REPLAY_THINK, /* recorded think times, no waits */
    WIO_REPLAY_TIMED, /* recorded start times */
    WIO_REPLAY_AFAP   /* as fast as possible */
};

/* Whether the prepared files are kept in the page cache. */
enum wio_replay_cache {
    WIO_REPLAY_CACHE_AUTO = 0, /* where the run read the most of them from memory */
    WIO_REPLAY_CACHE_DROP,
    WIO_REPLAY_CACHE_KEEP
};

/* Why an operation is not performed: id, key in JSON, text for a person. */
#define WIO_REPLAY_SKIP_LIST(X)                                                                    \
    X(PIPE, "pipe", "pipes and fifos")                                                             \
    X(SOCKET, "socket", "sockets")                                                                 \
    X(TTY, "tty", "terminals")                                                                     \
    X(PROC, "proc", "/proc")                                                                       \
    X(SYS, "sys", "/sys")                                                                          \
    X(DEVICE, "device", "devices")                                                                 \
    X(ANONYMOUS, "anonymous", "event counters, timers and other files without a name")             \
    X(UNKNOWN, "unknown_file", "descriptors and paths of which nothing is known")                  \
    X(MEMORY, "memory", "memory that is no mapped file")                                           \
    X(IOCTL, "ioctl", "device commands")                                                           \
    X(PRIVILEGE, "privilege", "changes of owner without the right to it")                          \
    X(REQUEST, "request", "asynchronous requests of a kind that is not performed")                 \
    X(RECORDED_ERROR, "recorded_error",                                                            \
      "calls that failed by the recorded machine, its user or their arguments")                    \
    X(MPI, "mpi_internal", "what MPI libraries do for themselves: side files of MPI-IO")

enum wio_replay_skip {
#define WIO_REPLAY_SKIP_ENUM(id, key, text) WIO_REPLAY_SKIP_##id,
    WIO_REPLAY_SKIP_LIST(WIO_REPLAY_SKIP_ENUM)
#undef WIO_REPLAY_SKIP_ENUM
        WIO_REPLAY_SKIP_COUNT
};

#define WIO_REPLAY_MISMATCHES 1000u /* listed; all are counted */
#define WIO_REPLAY_PHASES 64u

struct wio_replay_link;

struct wio_replay_params {
    size_t struct_size;
    struct wio_replay_link *link; /* under a launcher (launcher/link.h), else NULL */
    const char *root;             /* made if only its last component is missing */
    enum wio_replay_mode mode;
    double scale_compute; /* factor on think times; 0 = 1 */
    enum wio_replay_cache cache;
    bool dry_run;     /* count what would be done, touch nothing */
    bool no_order;    /* threads do not wait for what files need */
    bool keep_events; /* keep begin, duration and result of each operation (32 bytes each) for
                         wio_replay_write_trace */
    /* Called while preparing ("bytes") and performing ("operations"); may be NULL. */
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
};

/* Operations and bytes of one rank, or of one phase. */
struct wio_replay_account {
    uint64_t ops;
    uint64_t bytes_read;
    uint64_t bytes_written;
    uint64_t io_ns; /* sum of the durations */
    uint64_t traced_io_ns;
    uint64_t begin_ns; /* of the first and end of the last operation, since the start of the */
    uint64_t end_ns;   /* replay; UINT64_MAX and 0 where there is none */
    uint64_t traced_begin_ns;
    uint64_t traced_end_ns;
    uint64_t mismatches;
};

struct wio_replay_rank {
    int32_t rank; /* -1 = the processes without one */
    uint32_t processes;
    struct wio_replay_account account;
};

/* The change of a file by another thread. */
struct wio_replay_race {
    uint32_t stream; /* UINT32_MAX = no other thread changes the file */
    uint64_t seq;
    uint16_t op;
    int64_t after_ns; /* it begins so long behind the operation in the trace; negative: before */
};

struct wio_replay_mismatch {
    uint32_t stream;
    uint64_t seq;
    uint16_t op;
    uint32_t path; /* string id of the trace */
    int64_t offset;
    uint64_t size;
    int64_t expected; /* result in the trace; of a stat of a file with another size: the sizes */
    int64_t got;
    uint16_t expected_error;
    uint16_t got_error;
    struct wio_replay_race race; /* what may be the cause */
    bool is_race; /* nothing in the trace says which of the two comes first, or it follows from such
                     a mismatch */
};

struct wio_replay_result {
    enum wio_replay_mode mode;
    bool dry_run;
    enum wio_replay_cache cache; /* as asked for */
    bool keep_cache;             /* what was done */
    uint64_t memory_bytes;       /* of the prepared files, when the run first read them: as fast as
                                    from memory .. */
    uint64_t device_bytes;       /* .. or not (man page, --cache) */
    struct wio_replay_account total;
    uint64_t skipped[WIO_REPLAY_SKIP_COUNT];
    uint64_t covered; /* calls of stdio, performed as the system calls that they caused */
    uint64_t control; /* of processes and threads: start, end, wait, working directory */
    uint64_t prepared_files;
    uint64_t prepared_directories;
    uint64_t prepared_links;
    uint64_t prepared_bytes;              /* real data; the rest of the files is sparse */
    uint64_t edges[WIO_EDGE_CLASS_COUNT]; /* mode causal: edges and collectives of the trace that
                                             are kept, by class (others imply the rest) .. */
    uint64_t waits[WIO_EDGE_CLASS_COUNT]; /* .. and how often a thread has honoured one */
    uint64_t untied; /* of these, waits for locks and queues that were given up, since all threads
                        waited for each other: under a launcher none is, the replay ends */
    bool has_late;   /* operations had a time to start at */
    double late_p50_us;
    double late_p99_us;
    double late_max_us;
    struct wio_replay_rank *ranks;
    uint32_t rank_count;
    struct wio_replay_account *phases;
    uint32_t phase_count;
    struct wio_replay_mismatch *mismatches;
    uint32_t mismatch_listed;
    uint32_t race_count; /* of those listed, is_race */
    int signal;          /* that ended the replay early, else 0 (the call has failed then) */
    void *events;        /* with keep_events: private */
    uint64_t event_count;
};

/*
 * With a link all its ranks call wio_replay with the same parameters; each plays the processes that
 * had its rank, and all get the same status and error. Only rank 0's result has what all have done.
 * After link->is_lost the ranks cannot be brought together any more: link->abort.
 */

/*
 * Prepare and perform `trace`. Fails with WIO_ERR_UNSUPPORTED for causal mode on a trace without
 * edges, WIO_ERR_BUSY while another replay uses the root, WIO_ERR_IO naming operation and path
 * where the target cannot hold or do what the trace asks. *result_out is set on failure too where
 * a signal ended the replay (result->signal); else NULL. Mismatches are no failure.
 */
WIO_MUST_CHECK enum wio_status wio_replay(const struct wio_trace *trace,
                                          const struct wio_replay_params *params,
                                          struct wio_replay_result **result_out,
                                          struct wio_error *err);
void wio_replay_result_destroy(struct wio_replay_result *result);

/* Write what was performed as a trace of its own into the existing directory `dir`: the operations
 * of `trace` that were performed, with the times and results of the replay. Needs keep_events. */
WIO_MUST_CHECK enum wio_status wio_replay_write_trace(const struct wio_trace *trace,
                                                      const struct wio_replay_result *result,
                                                      const char *dir, struct wio_error *err);

const char *wio_replay_mode_name(enum wio_replay_mode mode);
const char *wio_replay_cache_name(enum wio_replay_cache cache);
const char *wio_replay_skip_key(enum wio_replay_skip skip);
const char *wio_replay_skip_text(enum wio_replay_skip skip);

#endif
