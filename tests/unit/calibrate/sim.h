/* SPDX-License-Identifier: Apache-2.0 */
/* A rig whose machine is the `kernel` model: measuring it must give the parameters back. */
#ifndef WIO_TESTS_CALIBRATE_SIM_H
#define WIO_TESTS_CALIBRATE_SIM_H

#include "calibrate/backend/backend.h"
#include "model/model.h"

struct sim {
    struct wio_model_params params;
    double noise;    /* relative standard deviation of what is reported */
    double refills;  /* part of the calls that take three times as long: what has to be done now and
                        then */
    double outliers; /* part of the calls that are reported 30 times as long */
    bool refuses_direct;
    double scattered_s;     /* a page of ordinary memory adds so much to a direct write */
    bool is_whole_at_first; /* but not to the first two buffers, which lie in one piece */
    double cold_s;          /* the first of several writes of one size takes so much longer */
    double thin_times;      /* growing files take so many times as long, every second one of them */
    double buffer_bytes; /* synchronous writes go at buffer_rate until so much is in the buffer */
    double buffer_rate;
    double
        credit_bytes;  /* synchronous writes take no time of the device until so much is owed .. */
    double told_rate;  /* what the system says of it; 0: nothing */
    double slice_rate; /* what waits for the device passes at this rate, counted by .. */
    double slice_s;    /* .. slices: what a slice may take goes at once. 0: no such limit */
    bool counts_bytes; /* the device's */
    uint64_t dirty_bytes; /* of others */
    uint64_t fail_write;  /* the n-th write finds the file system full; 0: none */
    double meta_s;
    /* Its own. */
    struct wio_model *model;
    double extra_s; /* time that the model does not know of */
    double filled;
    double filled_at_s;
    double owed_s; /* .. and the one that exceeds it pays all */
    double slice_begun_s;
    double slice_end_s;
    double slice_bytes; /* since it began */
    uint64_t seed;
    uint64_t writes;
    uint64_t fsyncs;
    uint64_t last_size;
    uint64_t allocations;
    uint64_t written_bytes;
    uint64_t base_bytes;
    double device_bytes;
    uint64_t append_end; /* of the file that grows synchronously */
    uint64_t generation[WIO_RIG_FILE_COUNT];
    double cached_bytes[WIO_RIG_FILE_COUNT]; /* written since they left memory */
    uint64_t dropped;                        /* how often pages left memory */
    bool is_flushing;
};

/* A disk of 100 MiB/s below a page cache that is not looked at closely; may be changed before
 * sim_rig. */
struct sim sim_default(void);
struct wio_rig sim_rig(struct sim *sim);
void sim_fini(struct sim *sim);

#endif
