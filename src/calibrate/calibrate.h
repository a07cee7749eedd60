/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure the machine below a directory: all parameters of the write model, and what metadata
 * operations cost there.
 *
 *     struct wio_calibrate_params params = wio_calibrate_params_default();
 *     struct wio_calibration calibration;
 *     params.dir = "/scratch";
 *     WIO_TRY(wio_calibrate(&params, &calibration, err));
 *     WIO_TRY(wio_calibration_write(&calibration, "HOST.json", err));
 *
 * All writing is done in a directory of its own below `dir`, which is gone on every way out, also
 * when the process is killed; so are the dirty limits that root lowers for a moment.
 */
#ifndef WIO_CALIBRATE_CALIBRATE_H
#define WIO_CALIBRATE_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <whyio/status.h>

#include "calibrate/backend/backend.h"
#include "model/model.h"

struct wio_calibrate_params {
    const char *dir;
    uint64_t max_bytes; /* no more is written in all; nor than a tenth of the free space */
    double budget_s;    /* about as long as it may take */
    bool keep_limits;   /* do not lower the dirty limits, also where that is allowed */
    /* May be NULL: `done` of `total` steps. */
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
    /* May be NULL: asked between operations; true ends the measurement with WIO_ERR_BUSY. */
    bool (*is_cancelled)(void *arg);
    void *cancel_arg;
};

/* 4 GiB, 60 s. */
struct wio_calibrate_params wio_calibrate_params_default(void);

enum wio_param {
#define WIO_PARAM_ENUM(name, unit, fallback) WIO_PARAM_##name,
    WIO_MODEL_PARAM_LIST(WIO_PARAM_ENUM)
#undef WIO_PARAM_ENUM
        WIO_PARAM_COUNT
};

enum wio_calibrate_how {
    WIO_CALIBRATE_ASSUMED, /* as good as unknown */
    WIO_CALIBRATE_READ,    /* the system says so */
    WIO_CALIBRATE_MEASURED
};

struct wio_calibrate_value {
    double value;
    double spread; /* relative standard deviation of the repetitions; NaN where there are none */
    enum wio_calibrate_how how;
    bool is_better_with_root;
    bool is_better_with_bytes; /* could more be written than was allowed */
};

/* The tables by their name in HOST.json. */
enum wio_calibrate_table {
    WIO_CALIBRATE_DIRECT, /* "dev_table" */
    WIO_CALIBRATE_SYNC,
    WIO_CALIBRATE_APPEND,
    WIO_CALIBRATE_DIRECT_NOSYNC,
    WIO_CALIBRATE_NEW, /* these: in memory */
    WIO_CALIBRATE_CLEAN,
    WIO_CALIBRATE_DIRTY,
    WIO_CALIBRATE_HIT,
    WIO_CALIBRATE_TABLE_COUNT
};

#define WIO_CALIBRATE_TEXT 256
#define WIO_CALIBRATE_DOUBTS 16

struct wio_calibration {
    struct wio_calibrate_value params[WIO_PARAM_COUNT];
    struct wio_model_table direct_table;
    struct wio_model_table sync_table;
    struct wio_model_table append_table;
    struct wio_model_table direct_nosync_table; /* empty where O_DIRECT is refused */
    struct wio_model_table new_table;
    struct wio_model_table clean_table;
    struct wio_model_table dirty_table;
    struct wio_model_table hit_table;
    /* Of each point, as in struct wio_calibrate_value; NaN behind the largest write. */
    double table_spread[WIO_CALIBRATE_TABLE_COUNT][WIO_MODEL_TABLE_MAX];
    struct wio_calibrate_value meta[WIO_RIG_META_COUNT]; /* seconds; NaN: not known */
    bool is_direct;    /* O_DIRECT is accepted there; else O_SYNC stood in for it */
    uint32_t cpus;     /* that this process may use; 0: not known */
    double rate_limit; /* bytes/s that may be written, where the system says it (rate_limit.h); 0 */
    double cpu_wait_s; /* for so long it waited for a processor meanwhile; NaN: not known */
    char doubts[WIO_CALIBRATE_DOUBTS]
               [WIO_CALIBRATE_TEXT]; /* why it is not to be trusted (trust.h) */
    size_t doubt_count;              /* may be more than there is room for; 0: it is trusted */
    /* For information. */
    char kernel[WIO_CALIBRATE_TEXT]; /* "Linux 6.1.0" */
    char filesystem[WIO_CALIBRATE_TEXT];
    char mount[WIO_CALIBRATE_TEXT];
    char device[WIO_CALIBRATE_TEXT]; /* "sda1"; "" where there is none */
    time_t measured_at;
    double elapsed_s;
    uint64_t written_bytes;
};

/* WIO_ERR_IO or WIO_ERR_USAGE name the directory and what is wrong with it. Starts a process that
 * cleans up and, for a while, a thread: call it while the process has one thread. */
WIO_MUST_CHECK enum wio_status wio_calibrate(const struct wio_calibrate_params *params,
                                             struct wio_calibration *calibration_out,
                                             struct wio_error *err);

/* Nothing known yet: values that need not be given have the one that they have then. */
struct wio_calibration wio_calibration_unknown(void);
/* The system says so: nothing was measured, so nothing spreads. */
void wio_calibration_read(struct wio_calibration *calibration, enum wio_param param, double value);
/* As parameters of a model. */
struct wio_model_params wio_calibration_params(const struct wio_calibration *calibration);
/* HOST.json: what was there is replaced at once or not at all. */
WIO_MUST_CHECK enum wio_status wio_calibration_write(const struct wio_calibration *calibration,
                                                     const char *path, struct wio_error *err);

/* "bw_mem", "bytes/s". */
const char *wio_param_name(enum wio_param param);
const char *wio_param_unit(enum wio_param param);
/* "dev_table"; and the table itself. */
const char *wio_calibrate_table_name(enum wio_calibrate_table table);
const struct wio_model_table *wio_calibration_table(const struct wio_calibration *calibration,
                                                    enum wio_calibrate_table table);
struct wio_model_table *wio_calibration_table_of(struct wio_calibration *calibration,
                                                 enum wio_calibrate_table table);
/* How much single writes differ, whatever their size: the middle of the spreads of all sizes; NaN
 * where nothing was measured. */
double wio_calibration_table_spread(const struct wio_calibration *calibration,
                                    enum wio_calibrate_table table);
/* "assumed", "read", "measured". */
const char *wio_calibrate_how_name(enum wio_calibrate_how how);

#endif
