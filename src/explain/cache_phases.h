/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When writes went into the page cache freely, when write-back ran beside them, and when they were
 * throttled by the dirty limits: stretches of a predicted run, from what the model says of each
 * write (docs/MODEL.md). Writes past the page cache have no part in it.
 *
 * Memory: bounded; where there are more stretches the shortest is taken into the one before it.
 * Pure. Thread safety: one thread per object.
 */
#ifndef WIO_EXPLAIN_CACHE_PHASES_H
#define WIO_EXPLAIN_CACHE_PHASES_H

#include <stdint.h>

#include "model/model.h"

#define WIO_CACHE_PHASES 64u

struct wio_cache_phase {
    enum wio_model_state state;
    double begin_s; /* of the predicted run */
    double end_s;
    uint64_t writes;
    double io_s;        /* that they take, summed over threads */
    double dirty_bytes; /* the most after one of them */
};

/* Zero-initialise. */
struct wio_cache_phases {
    struct wio_cache_phase items[WIO_CACHE_PHASES];
    uint32_t count;
};

/* Operations come in the order of their end. */
void wio_cache_phases_add(struct wio_cache_phases *phases, const struct wio_model_result *result);
/* Stretches shorter than this go into the one before them. */
void wio_cache_phases_smooth(struct wio_cache_phases *phases, double least_s);

#endif
