/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What got slower between two runs, and why: the findings of both beside each other, and what else
 * the critical path is made of.
 *
 * A finding of b is that of a with the same kind, function, and operation; else with the same kind
 * and file; else with the same kind and operation: lines move as a program is edited, and a replay
 * has other functions than its program. Each is paired once, the dearest first.
 *
 * Thread safety: nothing is shared between calls.
 */
#ifndef WIO_EXPLAIN_COMPARE_CAUSES_H
#define WIO_EXPLAIN_COMPARE_CAUSES_H

#include <stdint.h>

#include <whyio/status.h>

#include "explain/explain.h"

/* What is no finding: the time of the critical path by what it is. */
enum wio_cause_rest {
    WIO_CAUSE_FINDING,
    WIO_CAUSE_COMPUTING,
    WIO_CAUSE_WAITING,
    WIO_CAUSE_CPU_WAIT,
    WIO_CAUSE_UNEXPLAINED,
    WIO_CAUSE_RESTS
};

enum wio_cause_change { WIO_CAUSE_NEW, WIO_CAUSE_GONE, WIO_CAUSE_GREW, WIO_CAUSE_SHRANK };
/* "new", "gone", "grew", "shrank" */
const char *wio_cause_change_name(enum wio_cause_change change);

/* One of both runs. */
struct wio_cause_side {
    const struct wio_explanation *explanation;
    const char *const *functions; /* of each finding; "" = not known. Borrowed for the call */
    const char *root;             /* taken off paths; NULL = nothing */
};

struct wio_cause {
    enum wio_cause_rest rest;
    enum wio_cause_change change;
    uint32_t a; /* finding, UINT32_MAX: there is none */
    uint32_t b;
    double a_s; /* seconds on the critical path */
    double b_s;
};

/* By the size of the change, the largest first. Release with wio_causes_fini. */
struct wio_causes {
    struct wio_cause *items;
    uint32_t count;
};

#define WIO_NO_FINDING UINT32_MAX

/* Findings that cost nothing in both runs are left out. Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_causes_compare(const struct wio_cause_side *a,
                                                  const struct wio_cause_side *b,
                                                  struct wio_causes *causes_out);
void wio_causes_fini(struct wio_causes *causes);

#endif
