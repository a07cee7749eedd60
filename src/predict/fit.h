/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operations cost, fitted from the trace of a run instead of measured on the machine: per type
 * of file system and method a line through the medians of what was seen, by size, with its spread.
 *
 *     struct wio_fit fit = {0};
 *     WIO_TRY(wio_fit_program(&fit, &program, &err));
 *     params.fit = &fit;
 *     params.fit_at = WIO_FIT_MID;
 *
 * The size of a flush is what was written to its file since the flush before. Between sizes that
 * were seen costs are interpolated. Outside of them they are known by bounds alone: a transfer
 * costs no less than a smaller one, and no more than as many smaller ones.
 *
 * Thread safety: read by any number of simulations; written by one thread.
 */
#ifndef WIO_PREDICT_FIT_H
#define WIO_PREDICT_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "base/map.h"
#include "model/model.h"

/* Which cost of the spread: LOW and HIGH enclose it. */
enum wio_fit_at { WIO_FIT_LOW, WIO_FIT_MID, WIO_FIT_HIGH, WIO_FIT_ATS };

/* A duration falls into one of eight parts of an octave. */
#define WIO_FIT_PARTS 8u
#define WIO_FIT_FIRST 6u /* log2 of the shortest, ns */
#define WIO_FIT_STEPS ((40u - WIO_FIT_FIRST) * WIO_FIT_PARTS)
#define WIO_FIT_SIZES 64u

/* Operations of about the same size: 0, or [2^n, 2^(n+1)) bytes. */
struct wio_fit_bin {
    uint64_t count;
    double bytes; /* sums */
    double seconds;
    double least_s;
    double most_s;
    uint32_t durations[WIO_FIT_STEPS];
};

/* Of one type of file system and one method. */
struct wio_fit_class {
    uint32_t fs; /* string id; 0: not known */
    uint32_t method;
    struct wio_fit_bin *bins[WIO_FIT_SIZES]; /* owned; NULL: none of that size */
};

/* Zero-initialise; release with wio_fit_fini. */
struct wio_fit {
    struct wio_map fs; /* path -> string id of the type of its file system */
    struct wio_fit_class *classes;
    uint32_t count;
    uint32_t room;
};

void wio_fit_fini(struct wio_fit *fit);

/* Fits all operations of a program: one pass over its events. */
struct wio_program;
WIO_MUST_CHECK enum wio_status
wio_fit_program(struct wio_fit *fit, const struct wio_program *program, struct wio_error *err);

/* Where files are mapped, and no read of their file systems was seen: page faults, as reads of a
 * page. What threads slept while files were mapped is shared out evenly over their pages, as if
 * each had been read once, by itself. One more pass over the events. */
WIO_MUST_CHECK enum wio_status
wio_fit_faults(struct wio_fit *fit, const struct wio_program *program, struct wio_error *err);

/* The type of the file system of a path; 0: not known. */
uint32_t wio_fit_fs(const struct wio_fit *fit, uint32_t path);
/* One operation was seen. Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_fit_add(struct wio_fit *fit, uint32_t fs,
                                           enum wio_model_method method, uint64_t bytes,
                                           double seconds);
/* Seconds; NaN: no such operation was seen at all, or (MID) none that tells about this size. */
double wio_fit_cost(const struct wio_fit *fit, uint32_t fs, enum wio_model_method method,
                    uint64_t bytes, enum wio_fit_at at);

/*
 * Where one size alone was seen, of at most WIO_FIT_ASSUMED_SIZE: a larger transfer takes what that
 * one took, and its other bytes the time that they need at WIO_FIT_ASSUMED_BW, bytes/s; no more
 * than as many transfers of that size. So does a flush of more bytes than any that was seen. A
 * request to a server or a device costs far more than the
 * bytes of a small one, and 500 MB/s lies between a single disk and a copy in memory. Seconds; NaN:
 * sizes tell more, or no such size was seen.
 */
#define WIO_FIT_ASSUMED_BW 500e6
#define WIO_FIT_ASSUMED_SIZE 65536
double wio_fit_assumed(const struct wio_fit *fit, uint32_t fs, enum wio_model_method method,
                       uint64_t bytes);

/* What an exchange between ranks costs at most: on one host a copy through shared memory and two
 * switches, between hosts Gigabit Ethernet. Bytes per second, seconds a message. */
#define WIO_FIT_HERE_BW 500e6
#define WIO_FIT_HERE_LAT 50e-6
#define WIO_FIT_NET_BW 100e6
#define WIO_FIT_NET_LAT 200e-6

/* Does the cost of the method depend on what was written before, and not on its own bytes? */
static inline bool wio_fit_is_flush(enum wio_model_method method)
{
    return method == WIO_MODEL_FSYNC || method == WIO_MODEL_FDATASYNC;
}
/* Does it leave data to a flush? */
static inline bool wio_fit_leaves_data(enum wio_model_method method)
{
    return method == WIO_MODEL_WRITE || method == WIO_MODEL_FWRITE;
}

#endif
