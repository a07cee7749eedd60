/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting-time analysis: what explains the time that threads wait for each other.
 *
 * A wait W of thread A, ended by thread B, is explained by path(B) - path(A) since the last point
 * that both have in common, as a multiset of causes with seconds: equal causes cancel; what is left
 * on B's side explains W, what is left on A's side is negative and would have come anyway. A path
 * that itself waited holds what that wait is explained by, since it became the path of the thread
 * that ended it. Over more than WIO_WAIT_DEPTH such passages "a chain of waits goes on".
 *
 * Explanations are kept by class. The relative duration of a cause is its seconds over the length
 * of path(B); the distance of two explanations is the sum over their causes of the absolute
 * difference of relative durations; below WIO_WAIT_DISTANCE they are one class, whose
 * representative is the first. What finds no class once there are WIO_WAIT_CLASSES is the rest.
 *
 * Memory: bounded by causes and classes. Thread safety: none.
 */
#ifndef WIO_EXPLAIN_WAITING_H
#define WIO_EXPLAIN_WAITING_H

#include "explain/accounts/rank_set.h"
#include "explain/accounts/steps.h"
#include "explain/critical_path/timeline.h"

#define WIO_WAIT_DEPTH 8u
#define WIO_WAIT_DISTANCE 0.2
#define WIO_WAIT_CLASSES 128u
#define WIO_WAIT_PARTS 16u

struct wio_wait_part {
    uint32_t cause;  /* index of a step, its role's first; WIO_NO_STEP: the chain goes on */
    double relative; /* of the length of path(B); negative: would have come anyway */
};

struct wio_wait_class {
    struct wio_wait_part parts[WIO_WAIT_PARTS]; /* of the representative, rising by cause */
    uint32_t part_count;
    uint32_t step; /* that waited, of the representative */
    double scale;  /* relative * scale: share of the representative's wait */
    uint64_t count;
    uint64_t total_ns;
    uint64_t least_ns;
    uint64_t most_ns;
    struct wio_rank_set ranks; /* that waited */
};

/* Zero-initialise, set steps and trace, release with wio_waiting_fini. */
struct wio_waiting {
    struct wio_steps *steps;
    const struct wio_trace *trace;
    struct wio_wait_class *classes;
    uint32_t class_count;
    uint64_t total_ns; /* of all waits that another thread ended */
    uint64_t count;
    uint64_t rest_ns;
    uint64_t *caused_ns; /* by cause: waiting of others that it explains */
    uint32_t caused_capacity;
    int64_t *scratch; /* by cause; zeros between two waits */
    uint32_t scratch_capacity;
    uint32_t *touched;
    uint32_t touched_count;
    uint32_t touched_capacity;
    uint32_t last_class;
};

void wio_waiting_fini(struct wio_waiting *waiting);

/* A wio_wait_fn; `arg` is the struct wio_waiting. */
WIO_MUST_CHECK enum wio_status wio_waiting_add(void *arg, uint32_t step,
                                               const struct wio_path *mine,
                                               const struct wio_wait_release *release,
                                               uint64_t begin_ns);

/* The classes by total, the longest first. */
void wio_waiting_sort(struct wio_waiting *waiting);

#endif
