/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an I/O operation costs on a machine that is described by a few numbers.
 *
 * A model is a state (clock, page cache, stdio buffers) and a step: give it the next operation and
 * it says what that costs. Pure: no system call, no clock, no thread; time is what the operations
 * say. One model belongs to one thread. The same operations give the same answers, bit for bit.
 *
 *     struct wio_model *model;
 *     struct wio_model_result result;
 *     WIO_TRY(wio_model_create(WIO_MODEL_CAWL, &params, &WIO_ALLOC_HEAP, &model, err));
 *     WIO_TRY(wio_model_step(model, &op, &result, err));
 *     wio_model_destroy(model);
 *
 * Source: CAWL (arXiv 2306.05701), sections 4.2-4.5, Algorithms 1 and 2.
 */
#ifndef WIO_MODEL_MODEL_H
#define WIO_MODEL_MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/alloc.h"

enum wio_model_kind {
    WIO_MODEL_NAIVE,  /* size / bandwidth of the device: what SimGrid's disk does */
    WIO_MODEL_CAWL,   /* the paper's Algorithms 1 and 2 */
    WIO_MODEL_KERNEL, /* what Linux does */
    WIO_MODEL_KIND_COUNT
};

/* Stands for "must be given". */
#define WIO_MODEL_REQUIRED ((double)NAN)
/* As many bytes as this are as good as no limit. */
#define WIO_MODEL_UNLIMITED 1e16

/* name in HOST.json, unit, value if it is not given */
#define WIO_MODEL_PARAM_LIST(X)                                                                    \
    X(bw_mem, "bytes/s", WIO_MODEL_REQUIRED)                                                       \
    X(bw_ramdisk, "bytes/s", WIO_MODEL_REQUIRED)                                                   \
    X(bw_reduced, "bytes/s", WIO_MODEL_REQUIRED)                                                   \
    X(bw_dev, "bytes/s", WIO_MODEL_REQUIRED)                                                       \
    X(bw_rdev, "bytes/s", WIO_MODEL_REQUIRED)                                                      \
    X(sc_w, "s", WIO_MODEL_REQUIRED)                                                               \
    X(sc_sw, "s", WIO_MODEL_REQUIRED)                                                              \
    X(c_sk, "s", WIO_MODEL_REQUIRED)                                                               \
    X(bs, "bytes", WIO_MODEL_REQUIRED)                                                             \
    X(bf, "bytes", WIO_MODEL_REQUIRED)                                                             \
    X(limit_bg, "bytes", WIO_MODEL_REQUIRED)                                                       \
    X(limit_hard, "bytes", WIO_MODEL_REQUIRED)                                                     \
    X(dirty_expire, "s", WIO_MODEL_REQUIRED)                                                       \
    X(c_lib, "s", 0)                                                                               \
    X(c_stream, "s", 0)                                                                            \
    X(c_new, "s", 0)                                                                               \
    X(c_call, "s", 0)                                                                              \
    X(c_folio, "s", 0)                                                                             \
    X(c_clean, "s", 0)                                                                             \
    X(c_walk, "s", 0)                                                                              \
    X(bw_clean, "bytes/s", 0)                                                                      \
    X(sc_r, "s", 0)                                                                                \
    X(bw_hit, "bytes/s", 0)                                                                        \
    X(bw_far, "bytes/s", 0)                                                                        \
    X(cache_size, "bytes", 0)                                                                      \
    X(c_page_sync, "s", 0)                                                                         \
    X(c_forget, "s", 0)                                                                            \
    X(c_flush, "s", 0)                                                                             \
    X(c_length, "s", 0)                                                                            \
    X(hz, "1/s", 250)                                                                              \
    X(balance_step, "bytes", 2097152)                                                              \
    X(request_max, "bytes", 8388608)                                                               \
    X(dirty_interval, "s", 5)                                                                      \
    X(dirty_ratelimit0, "bytes/s", 104857600)                                                      \
    X(write_bw0, "bytes/s", 104857600)                                                             \
    X(bw_burst, "bytes/s", 0)                                                                      \
    X(burst_size, "bytes", 0)                                                                      \
    X(slice, "s", 0)                                                                               \
    X(commit_bytes, "bytes", 0)                                                                    \
    X(read_ahead, "bytes", 131072)                                                                 \
    X(mem_bytes, "bytes", WIO_MODEL_UNLIMITED)                                                     \
    X(group_limit, "bytes", WIO_MODEL_UNLIMITED)                                                   \
    X(group_used, "bytes", 0)                                                                      \
    X(group_version, "version", 2)

/* What an operation of a size costs on an idle device: between two points a straight line, beyond
 * the last the line of the last two, or bw_dev where that does not rise, below the first as the
 * first. */
#define WIO_MODEL_TABLE_MAX 32
struct wio_model_point {
    double bytes; /* rising */
    double seconds;
};
struct wio_model_table {
    size_t count; /* 0: not measured */
    struct wio_model_point points[WIO_MODEL_TABLE_MAX];
};

/*
 * The machine. bw_mem: memory copy; bw_ramdisk: write into the page cache; bw_reduced: the same
 * while the kernel writes back; bw_dev, bw_rdev: write and read of the device; sc_w, sc_sw: one
 * call, one synchronous call; c_sk: one seek; bs: block of the file system; bf: buffer of a stdio
 * stream; limit_bg, limit_hard: dirty limits; dirty_expire: age at which dirty data is written
 * back anyway; c_lib: one call that is served by the stdio buffer.
 *
 * Only `kernel` looks at: c_stream: what the first fwrite of a stream costs besides, which makes
 * its buffer; c_new: what the first write into an empty file costs besides; c_call: the call alone,
 * of sc_w, which has a folio in it then, 0: as sc_w; c_folio, c_clean: what a folio does that is
 * new in memory, and one that is there and clean; c_walk: a write into a part of a folio, for each
 * page of the rest; bw_clean: write over what is in memory and clean, 0: as bw_ramdisk; sc_r,
 * bw_hit: one read, and its copy of what is in memory, 0: as c_call, as bw_mem; bw_far: what a call
 * takes besides for the bytes of its buffer that are more than a processor's own cache holds
 * (cache_size), 0: nothing; c_page_sync: what a synchronous write costs besides for each page that
 * its folio is larger; c_forget: what a direct write costs besides for each page in memory that was
 * written there; c_flush: an fsync that finds nothing to write, 0: as sc_sw; c_length: a
 * synchronous write that makes the file longer within its last block, 0: as by append_table; hz:
 * ticks of the kernel's clock; balance_step: bytes after which a write looks at the dirty limits (a
 * folio); request_max: longest request of the flusher; dirty_interval: how often it looks for old
 * data, 0: never; dirty_ratelimit0, write_bw0: what the kernel thinks of the device at the start;
 * bw_burst, burst_size: speed and size of a buffer in the device, if it has one, or what a limit of
 * its rate lets pass after a rest; slice: of which length such a limit lets pass what it lets pass
 * at once, 0: it passes evenly; commit_bytes: what the journal writes when files have got new
 * blocks, 0: not known; read_ahead: the longest window of the device that is read ahead, 0: none;
 * mem_bytes: memory for file data, where reads find what was read or written before; group_limit:
 * the limit of the memory group (cgroup) that the tasks run in, group_used: what the group has that
 * are no pages of files, group_version: of its hierarchy, 1 or 2 (group.h).
 */
struct wio_model_params {
#define WIO_MODEL_PARAM_FIELD(name, unit, fallback) double name;
    WIO_MODEL_PARAM_LIST(WIO_MODEL_PARAM_FIELD)
#undef WIO_MODEL_PARAM_FIELD
    struct wio_model_table direct_table;        /* only `kernel`: O_DIRECT | O_SYNC writes */
    struct wio_model_table sync_table;          /* ... synchronous ones that overwrite */
    struct wio_model_table append_table;        /* ... synchronous ones that make the file longer */
    struct wio_model_table direct_nosync_table; /* ... O_DIRECT alone; empty: as direct_table */
    /* ... a piece in one folio of memory, without its call, by its bytes: of pages that are new
     * there, clean, dirty already, and read. Empty: as c_folio and bw_ramdisk say, c_clean and
     * bw_clean, bw_mem, bw_hit. */
    struct wio_model_table new_table;
    struct wio_model_table clean_table;
    struct wio_model_table dirty_table;
    struct wio_model_table hit_table;
};

enum wio_model_method {
    WIO_MODEL_WRITE,  /* write(2) into the page cache */
    WIO_MODEL_DIRECT, /* O_DIRECT | O_SYNC */
    WIO_MODEL_SYNC,   /* O_SYNC, or write followed by fsync */
    WIO_MODEL_FWRITE,
    WIO_MODEL_FFLUSH, /* also fclose */
    WIO_MODEL_FSYNC,
    WIO_MODEL_FDATASYNC, /* does not wait for the file's time; to `cawl` and `naive` as FSYNC */
    WIO_MODEL_READ,
    WIO_MODEL_READ_DIRECT,   /* O_DIRECT */
    WIO_MODEL_TRUNCATE,      /* the file ends at `offset` now, or (0) is removed. Costs nothing but
                                what `kernel` waits for; to `naive` and `cawl` it is nothing */
    WIO_MODEL_DIRECT_NOSYNC, /* O_DIRECT alone: the device may still have it in a buffer of its own
                              */
    WIO_MODEL_SYNCFS,        /* everything that is dirty on the file's device is written */
    WIO_MODEL_WRITE_OUT, /* write-back of the file begins, and no task waits for it; to `naive` and
                            `cawl` it is nothing, as the next one is */
    WIO_MODEL_FORGET,    /* the same, and of a file that is clean the range (size 0: all behind
                            `offset`) leaves memory */
    WIO_MODEL_METHOD_COUNT
};

/* What a method does with the bytes of an operation. */
enum wio_model_flow { WIO_MODEL_MOVES_NOTHING, WIO_MODEL_MOVES_IN, WIO_MODEL_MOVES_OUT };

enum wio_model_random {
    WIO_MODEL_RANDOM_UNKNOWN, /* decided by where the file's last operation ended */
    WIO_MODEL_RANDOM_NO,
    WIO_MODEL_RANDOM_YES
};

struct wio_model_op {
    uint64_t file;   /* any number that tells files apart */
    uint64_t offset; /* bytes */
    uint64_t size;   /* bytes */
    double delay_s;  /* computing before the operation, seconds, not negative */
    enum wio_model_method method;
    enum wio_model_random random;
    uint32_t device; /* that the file is on: 0, or as wio_model_add_device counts */
    bool at_end;     /* a read that came to the end of the file: it has nothing behind */
    bool is_inside;  /* a WRITE_OUT that is part of another call: without the cost of one */
    bool is_data;    /* a SYNC or DIRECT that does not wait for the file's time: O_DSYNC */
    bool is_shared;  /* a TRUNCATE of a file with writers that the model does not see: what is read
                        behind may be data, and not a hole */
};

/* What the page cache did to a write; NONE where it had no part. */
enum wio_model_state {
    WIO_MODEL_STATE_NONE,
    WIO_MODEL_STATE_FREE,
    WIO_MODEL_STATE_ASYNC,
    WIO_MODEL_STATE_THROTTLE
};

struct wio_model_result {
    double cost_s;
    double dirty_bytes; /* in the page cache after the operation */
    double time_s;      /* the model's clock after the operation */
    double
        device_s; /* not in cost_s: what is left to a device outside (external_device.h), else 0 */
    enum wio_model_state state;
};

struct wio_model;

/* "naive", "cawl", "kernel"; and back: WIO_MODEL_KIND_COUNT for another name. */
const char *wio_model_name(enum wio_model_kind kind);
enum wio_model_kind wio_model_find(const char *name);
/* "free", "async", "throttle", "-". */
const char *wio_model_state_name(enum wio_model_state state);
enum wio_model_flow wio_model_flow(enum wio_model_method method);

/* All that must be given is missing (NaN), the rest has the value it has if it is not given. */
struct wio_model_params wio_model_params_default(void);

/* The place of a parameter by its name in HOST.json; NULL for another name. */
double *wio_model_param(struct wio_model_params *params, const char *name);

/* WIO_ERR_USAGE with the name of the first parameter that is missing (NaN), negative, not finite,
 * below 1 where it divides, absurd (WIO_MODEL_DELAY_MAX_S), or contradicts another (limit_hard <=
 * limit_bg). */
WIO_MUST_CHECK enum wio_status wio_model_params_check(const struct wio_model_params *params,
                                                      struct wio_error *err);

/* The same, and what this kind of model alone asks of them. */
WIO_MUST_CHECK enum wio_status wio_model_params_check_for(enum wio_model_kind kind,
                                                          const struct wio_model_params *params,
                                                          struct wio_error *err);

/* WIO_ERR_USAGE with the table's name: too long, not rising, or a time that is no time. */
WIO_MUST_CHECK enum wio_status wio_model_table_check(const struct wio_model_table *table,
                                                     const char *name, struct wio_error *err);

/* Doubles hold every whole number up to here; offsets are doubles inside the models. */
#define WIO_MODEL_OFFSET_MAX ((uint64_t)1 << 53)
/* `kernel` goes through what it reads and writes folio by folio, and notes which blocks a direct
 * operation finds or makes: more than this at once would take minutes, and memory. */
#define WIO_MODEL_SIZE_MAX ((uint64_t)1 << 40)
/* The longest that one operation may come behind another, or take by one figure: half a lifetime.
 */
#define WIO_MODEL_DELAY_MAX_S 1e9

/* `params` is copied, `alloc` too; its context must outlive the model. WIO_ERR_USAGE also for a
 * parameter that only this model looks at. */
WIO_MUST_CHECK enum wio_status wio_model_create(enum wio_model_kind kind,
                                                const struct wio_model_params *params,
                                                const struct wio_alloc *alloc,
                                                struct wio_model **model_out,
                                                struct wio_error *err);
/*
 * A further device below the same page cache, for operations on it to name; they are counted from
 * 1. `params`: as for the machine, but for what belongs to a device (wio_model_is_device_param,
 * and the tables); the rest is not looked at. Before the first operation. WIO_ERR_UNSUPPORTED where
 * the model knows one device only (`naive`, `cawl`), WIO_ERR_USAGE for a wrong parameter or too
 * many devices.
 */
#define WIO_MODEL_DEVICES_MAX 64
WIO_MUST_CHECK enum wio_status wio_model_add_device(struct wio_model *model,
                                                    const struct wio_model_params *params,
                                                    struct wio_error *err);
/* Does a parameter of this name belong to a device, and not to the machine? */
bool wio_model_is_device_param(const char *name);
/* Accepts NULL. */
void wio_model_destroy(struct wio_model *model);

/* No more than so many steps (pieces of operations, looks of flushers) from the beginning on,
 * without limit where this is not called: where they are reached operations end with
 * WIO_ERR_UNSUPPORTED, and the model may only be destroyed. To `naive` and `cawl` an operation is
 * one step. */
void wio_model_limit_steps(struct wio_model *model, uint64_t steps);

/* The next operation. After WIO_ERR_NOMEM the model may only be destroyed; after WIO_ERR_USAGE (a
 * negative or infinite delay, a range behind 2^53 bytes or, for `kernel`, more than
 * WIO_MODEL_SIZE_MAX to read or write) nothing has happened. */
WIO_MUST_CHECK enum wio_status wio_model_step(struct wio_model *model,
                                              const struct wio_model_op *op,
                                              struct wio_model_result *result_out,
                                              struct wio_error *err);

/*
 * Several tasks on one machine, for instance the ranks of a job: each begins an operation when its
 * time has come, and they meet in the page cache and at the device.
 *
 *     WIO_TRY(wio_model_begin(model, 0, &op0, err));
 *     WIO_TRY(wio_model_begin(model, 1, &op1, err));
 *     while ((status = wio_model_run(model, until_s, &done, err)) == WIO_OK) { ... done.task ... }
 *
 * `naive` and `cawl` know one task only: with them operations that overlap wait for each other, in
 * the order in which they began.
 */
struct wio_model_done {
    uint32_t task;
    bool is_asleep;                 /* not done yet (wio_model_tell_sleep) */
    struct wio_model_result result; /* cost_s: since it began; time_s: when it ended */
};

/* The task (any number) begins an operation now, at wio_model_time; op->delay_s is not looked at.
 * WIO_ERR_USAGE also where its last one has not ended. */
WIO_MUST_CHECK enum wio_status wio_model_begin(struct wio_model *model, uint32_t task,
                                               const struct wio_model_op *op,
                                               struct wio_error *err);
/* Time passes: WIO_OK when an operation has ended, the earliest first; WIO_END at `until_s`, or, if
 * that is infinite, once no operation is left. After an error done_out->task is the task that met
 * it, where one did; else it is as it was. */
WIO_MUST_CHECK enum wio_status wio_model_run(struct wio_model *model, double until_s,
                                             struct wio_model_done *done_out,
                                             struct wio_error *err);
/* Whether wio_model_run also tells, once of each operation, when a task begins to wait for
 * something else than a processor: is_asleep, with the time since it began and that of the clock.
 * For callers that divide processors among tasks. False where the model cannot tell. */
bool wio_model_tell_sleep(struct wio_model *model);
/* Nothing ends before this time; infinite where no operation is under way. */
double wio_model_next(struct wio_model *model);
/* The model's clock, seconds. */
double wio_model_time(const struct wio_model *model);

#endif
