/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operations would cost on a machine that is described but not there.
 *
 *     struct wio_predict_params params = wio_predict_params_default();
 *     struct wio_predict_result result;
 *     params.host = "HOST.json";
 *     if (wio_predict_ops("ops.jsonl", &params, &result, &err) != WIO_OK) ...
 *
 * Thread safe: nothing is shared between calls.
 */
#ifndef WIO_PREDICT_PREDICT_H
#define WIO_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "admit/admit.h"
#include "machine/host.h"
#include "model/model.h"
#include "predict/fit.h"
#include "predict/ops/ops_file.h"

enum wio_predict_force { WIO_PREDICT_AS_IS, WIO_PREDICT_ON, WIO_PREDICT_OFF };

/* What would be if: another setting than in HOST.json, another way to write than in the list. */
struct wio_predict_whatif {
    double limit_bg; /* bytes; NaN: as in HOST.json */
    double limit_hard;
    double bf;
    double bs;
    uint32_t cpus;  /* of each host of a trace; 0: as in HOST.json, else as where it was recorded */
    uint32_t ranks; /* of a trace: so many instead of its own, a multiple; 0: its own */
    const char
        *key; /* a number of HOST.json that is `value` instead; NULL: none. "meta.NAME": of meta */
    double value;
    int spread;                  /* bw_dev is higher by its spread (1), lower (-1), as it is (0) */
    enum wio_predict_force sync; /* ON: each write is synchronous; OFF: none is */
    enum wio_predict_force direct; /* ON: each write is O_DIRECT; OFF: none is */
};

/* One operation and what it costs; `index` counts from 0. Another status than WIO_OK ends the
 * prediction. */
typedef enum wio_status wio_predict_op_fn(void *arg, uint64_t index,
                                          const struct wio_model_result *result,
                                          struct wio_error *err);

struct wio_change;

/* The machine of a host of the trace. */
struct wio_predict_host {
    const char *name;
    const char *file; /* HOST.json */
};

#define WIO_PREDICT_MEMORY_MAX (UINT64_C(4) << 30)
#define WIO_PREDICT_STEPS_MAX (UINT64_C(1) << 32)
#define WIO_PREDICT_EVENT_STEPS UINT64_C(4096)

struct wio_predict_params {
    size_t struct_size;
    const char *host; /* HOST.json; of a trace: for all hosts that are not named, or NULL */
    const struct wio_predict_host *named_hosts; /* of a trace */
    size_t named_host_count;
    enum wio_model_kind model;
    struct wio_predict_whatif whatif;
    enum wio_admit_kind store_policy; /* of the machine's store, where it has one */
    const struct wio_fit *fit;        /* of a trace: costs from it, and no HOST.json; NULL: none */
    enum wio_fit_at fit_at;
    const struct wio_change *changes; /* of a trace: change.h */
    size_t change_count;
    bool keep_events;          /* of a trace: for wio_predict_write, 16 bytes each */
    uint64_t memory_max;       /* bytes of the simulated machines and threads; 0: MEMORY_MAX */
    uint64_t steps_max;        /* of the models; 0: STEPS_MAX, and EVENT_STEPS for each event */
    wio_predict_op_fn *per_op; /* may be NULL */
    void *per_op_arg;
    /* "bytes" of the list; may be NULL. */
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
};

/* What one rank did, or all together. Times are seconds. */
struct wio_predict_account {
    int32_t rank; /* -1: none, or all */
    uint64_t ops; /* whose cost a model said */
    uint64_t bytes_read;
    uint64_t bytes_written;
    double io_s;       /* sum of what I/O takes, over all threads: that .. */
    double modelled_s; /* .. which a model or HOST.json's metadata costs said .. */
    double kept_s;     /* .. and that which takes as long as in the trace */
    double wait_s;     /* sum of the waits for others; of a list 0 */
    double compute_s;  /* of a list: sum of the delays; of a trace: the rest of the threads' time
                          between their first and last operation */
    double total_s;    /* of a list: I/O and computing; of a trace: from the begin of the first
                          operation to the end of the last */
    double traced_s;   /* total_s and io_s of the trace; of a list NaN */
    double traced_io_s;
    uint64_t begin_ns; /* private: where total_s and traced_s come from */
    uint64_t end_ns;
    uint64_t traced_begin_ns;
    uint64_t traced_end_ns;
};

/* All operations of a name. */
struct wio_predict_op_time {
    const char *op; /* static text */
    uint64_t count;
    double time_s;
};

/* Of a store that the machines have (machine/host_store.h). */
struct wio_predict_store {
    uint32_t targets;  /* 0: there is none */
    uint64_t requests; /* that operations became */
    uint64_t refused;  /* answers that refused one for load .. */
    uint64_t again;    /* .. those that were sent again for it .. */
    uint64_t given_up; /* .. and those that failed in the end: EBUSY to the program */
    double service_s;  /* that targets worked, all together */
};

/* Release with wio_predict_result_fini. */
struct wio_predict_result {
    enum wio_model_kind model;
    struct wio_predict_account all;
    double dirty_bytes_max; /* in one page cache, after an operation */
    uint64_t outside; /* with a fit: changed operations of a size that no cost is known of .. */
    uint64_t assumed; /* .. whose costs are those of one size that it has, see wio_fit_assumed */
    uint64_t unseen;  /* .. not even a bound */
    uint64_t untied;  /* waits for locks and queues that were given up, since all threads waited */
    struct wio_predict_account *ranks; /* rising, those without a rank together; owned */
    size_t rank_count;
    struct wio_predict_op_time *metadata; /* as HOST.json has it, longest first; owned */
    size_t metadata_count;
    struct wio_predict_op_time *kept; /* as recorded, likewise */
    size_t kept_count;
    struct wio_ops_misspelt misspelt;       /* of a list */
    struct wio_host_misspelt host_misspelt; /* of the first HOST.json that has one */
    struct wio_host_trust trust;            /* of the first HOST.json that is in doubt */
    double spread;                          /* of bw_dev, the largest; 0: not known */
    struct wio_predict_store store;         /* of a trace */
    struct wio_predict_times *times;        /* with keep_events: private */
};

void wio_predict_result_fini(struct wio_predict_result *result);

/* Kernel model, nothing forced; `host` (or, for a trace, each of its hosts) must be set. */
struct wio_predict_params wio_predict_params_default(void);

/*
 * Predict an operation list (ops_file.h), "-" = standard input. WIO_ERR_FORMAT with file, offset
 * and line for a list or HOST.json that is wrong; WIO_ERR_USAGE where a what-if makes the machine
 * impossible; WIO_ERR_UNSUPPORTED, naming the operation, where memory_max or steps_max is reached.
 */
WIO_MUST_CHECK enum wio_status wio_predict_ops(const char *path,
                                               const struct wio_predict_params *params,
                                               struct wio_predict_result *result_out,
                                               struct wio_error *err);

/*
 * Predict a trace: each of its threads computes as recorded, waits for what it waited for (where
 * the trace stores edges), and does its I/O on the machine of HOST.json, one such machine per
 * recorded host. With whatif.ranks the job runs several times beside itself, on the same hosts,
 * with files of its own, but for collectives: these are of all ranks. Metadata operations take what
 * HOST.json says of them. Other metadata operations, those that failed, pipes, devices, and
 * operations on a range that no model has take their recorded time. WIO_ERR_UNSUPPORTED where
 * memory_max or steps_max is reached: it names the operation, its thread and its time.
 */
WIO_MUST_CHECK enum wio_status wio_predict_trace(const struct wio_trace *trace,
                                                 const struct wio_predict_params *params,
                                                 struct wio_predict_result *result_out,
                                                 struct wio_error *err);

/*
 * The same of programs that were read before (program.h), which stay as they are: for many
 * predictions of one trace, and for several programs that share the machines, beginning together.
 * Files of the same path are one file, hosts of the same name one machine; ranks are numbered on
 * from program to program. With whatif.ranks each has so many, which must be a multiple of its own.
 * keep_events is for one program.
 */
struct wio_program;
WIO_MUST_CHECK enum wio_status wio_predict_programs(const struct wio_program *programs,
                                                    uint32_t count,
                                                    const struct wio_predict_params *params,
                                                    struct wio_predict_result *result_out,
                                                    struct wio_error *err);

/*
 * How long the run of a program takes, all ranks, from the begin of its first operation to the end
 * of the last, seconds: with params->changes less than without them, if they gain something. For
 * callers that ask many times; nothing else of the result is kept.
 */
WIO_MUST_CHECK enum wio_status wio_predict_seconds(const struct wio_program *program,
                                                   const struct wio_predict_params *params,
                                                   double *seconds_out, struct wio_error *err);

/* The prediction as a trace of its own, the segment `path`: the events of `trace` when they would
 * have been. Needs keep_events. */
WIO_MUST_CHECK enum wio_status wio_predict_write(const struct wio_trace *trace,
                                                 const struct wio_predict_result *result,
                                                 const char *path, struct wio_error *err);

#endif
