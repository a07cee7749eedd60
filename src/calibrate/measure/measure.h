/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is measured, how often and with which sizes, and what follows from it: stages on a rig. The
 * largest write L is what the device does in a hundredth of the time, so that slow and fast ones
 * get as many repetitions; all stages together write at most WIO_MEASURE_MOST times L, where so
 * much is allowed, and a row that shows whether the device goes on as it began
 * (measure_sustained.h). At least two thirds of that are allowed: the tables have fewer rounds
 * then, and all sizes alike.
 */
#ifndef WIO_CALIBRATE_MEASURE_MEASURE_H
#define WIO_CALIBRATE_MEASURE_MEASURE_H

#include <stddef.h>

#include <whyio/status.h>

#include "calibrate/backend/backend.h"
#include "calibrate/calibrate.h"
#include "calibrate/measure/estimate.h"

/* Less than that to write makes no sense. */
#define WIO_MEASURE_BYTES_LEAST (UINT64_C(1) << 20)

/*
 * All stages. Of `params` only limits, progress and cancelling are looked at. `calibration` has
 * been told the dirty limits (WIO_PARAM_limit_bg), which keep the page cache from writing back
 * when it must not; `dirty_bytes` are dirty before.
 */
WIO_MUST_CHECK enum wio_status
wio_measure(const struct wio_rig *rig, const struct wio_calibrate_params *params,
            uint64_t dirty_bytes, struct wio_calibration *calibration, struct wio_error *err);

/* The rest is for the stages. */
struct wio_measure {
    const struct wio_rig *rig;
    const struct wio_calibrate_params *params;
    struct wio_calibration *out;
    uint64_t bytes_left;   /* that may be written .. */
    unsigned leaves;       /* .. but for so many L, which are for later stages */
    uint64_t largest;      /* L */
    uint64_t hold_bytes;   /* for a row that shows how the device goes on; 0: that of L does */
    bool is_hold_unclear;  /* that row, or having none, left it open */
    uint64_t base_bytes;   /* of WIO_RIG_BASE */
    double base_begun_s;   /* when its making began */
    uint64_t bypass_bytes; /* of WIO_RIG_BYPASS */
    uint64_t cached;       /* how much may be dirty before the kernel minds */
    double start_s;
    double stage_end_s; /* of its time; repetitions beyond the least number are left out then */
    uint64_t random;    /* splitmix64 */
    /* Direct and synchronous writes that waited for no limit. */
    struct wio_model_table unwaited[WIO_CALIBRATE_NEW];
    struct wio_estimate length_part; /* c_length, of a block of append_table; 0: not known */
};

/* Most where L is twice as large as the size before it; 76 where it is four times as large. */
#define WIO_MEASURE_MOST 96

/* measure_core.c: repetitions that are made whatever the time. */
#define WIO_MEASURE_LEAST 3
/* So many of L in a row, to see whether the device has a buffer. */
#define WIO_MEASURE_ROW 11

bool wio_measure_has_time(const struct wio_measure *measure);
/* Go on with repetition `done`, which writes so many bytes? */
bool wio_measure_more(const struct wio_measure *measure, size_t done, size_t wanted,
                      uint64_t bytes);
/* Through the rig, with the account of bytes and a look for cancelling. */
WIO_MUST_CHECK enum wio_status wio_measure_write(struct wio_measure *measure,
                                                 const struct wio_rig_io *io, double *seconds_out,
                                                 struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_measure_cancelled(const struct wio_measure *measure,
                                                     struct wio_error *err);
void wio_measure_set(struct wio_measure *measure, enum wio_param param, double value,
                     double spread);
double wio_measure_get(const struct wio_measure *measure, enum wio_param param);
uint64_t wio_measure_random(struct wio_measure *measure);
/* What counts as a large write in the page cache: 1 MiB, or L; and how many folios that is. */
uint64_t wio_measure_piece(const struct wio_measure *measure);
double wio_measure_folios(const struct wio_measure *measure);
/* Seconds that a call of that size takes longer for what no processor's cache holds of its buffer;
 * 0 where bw_far is not known. */
double wio_measure_far_s(const struct wio_measure *measure, uint64_t size);
/* What a write into the page cache costs beside its call. */
struct wio_measure_copy {
    double folio_s; /* one folio; 0 where a folio is a page: all is told by the bytes then */
    double byte_s;
};
/* By a write of 4 KiB, which is one folio, and one of a piece, which has few; `call_s` is the part
 * of the call in both, estimated as they are: a mean of means, a median of medians. */
struct wio_measure_copy wio_measure_copy_of(const struct wio_measure *measure, double call_s,
                                            double page_s, double piece_s);

/* The stages, in this order. */
typedef enum wio_status wio_measure_stage(struct wio_measure *measure, struct wio_error *err);
wio_measure_stage wio_measure_memory;  /* bw_mem, c_lib, c_stream */
wio_measure_stage wio_measure_base;    /* L and the file for the others */
wio_measure_stage wio_measure_present; /* c_call, c_clean, c_walk, bw_clean, sc_r, bw_hit,
                                        * bw_far */
wio_measure_stage wio_measure_fresh;   /* bw_ramdisk, sc_w, c_folio, c_new */
wio_measure_stage wio_measure_tables;  /* tables, bw_dev, sc_sw, bw_burst, burst_size, slice */
wio_measure_stage wio_measure_credit;  /* bw_burst, burst_size, slice of a limit */
wio_measure_stage wio_measure_commit;  /* commit_bytes, length_part, c_flush */
wio_measure_stage wio_measure_seek;    /* c_sk */
wio_measure_stage wio_measure_copies;  /* tables of memory */
wio_measure_stage wio_measure_read;    /* bw_rdev */
wio_measure_stage wio_measure_reduced; /* bw_reduced */
wio_measure_stage wio_measure_meta;    /* metadata */

/* After all stages. measure_slices.c: where a limit was found to count by slices, or the system
 * says one, the model computes its waits: the tables become the cost of writes that pass at once.
 */
void wio_measure_pass_slices(struct wio_measure *measure);
/* measure_commit.c: c_length, from the final append_table. */
void wio_measure_length(struct wio_measure *measure);

#endif
