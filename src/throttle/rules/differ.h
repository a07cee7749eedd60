/* SPDX-License-Identifier: Apache-2.0 */
/* Where two runs of one program part, for a person. */
#ifndef WIO_THROTTLE_RULES_DIFFER_H
#define WIO_THROTTLE_RULES_DIFFER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "throttle/rules/contended_lock.h"
#include "throttle/rules/run_ops.h"

/* One of the two operations. */
struct wio_differ_op {
    bool is_there; /* false: this run's node had ended */
    char name[32];
    char path[PATH_MAX];
    int64_t offset; /* WIO_NO_OFFSET = none */
    uint64_t size;  /* WIO_NO_SIZE = none */
    int64_t result;
    uint64_t seq;
};

struct wio_difference {
    uint32_t runs[2]; /* 1, 2 .. */
    int32_t rank;     /* -1 = none */
    int32_t pid;      /* in the first of the two */
    int32_t tid;
    struct wio_differ_op ops[2];
    /* The contended lock or queue that assigns the work, "" = none: all nodes together do the same
     * work in all runs, and in both of these runs the node takes turns at it. */
    char turns[WIO_TURNS_NAME_BYTES];
};

struct wio_differ_run {
    const struct wio_trace *trace;
    const struct wio_run_ops *ops;
};

/* `runs`: of found->run 0 and found->run. Reads the two events again, and all to find out whether a
 * lock decided. */
WIO_MUST_CHECK enum wio_status wio_differ_describe(const struct wio_run_difference *found,
                                                   const struct wio_differ_run runs[2],
                                                   struct wio_difference *difference_out,
                                                   struct wio_error *err);

#endif
