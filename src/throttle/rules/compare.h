/* SPDX-License-Identifier: Apache-2.0 */
/* Did two throttled runs of one program do the same I/O? */
#ifndef WIO_THROTTLE_RULES_COMPARE_H
#define WIO_THROTTLE_RULES_COMPARE_H

#include "throttle/control/participants.h"
#include "throttle/rules/differ.h"

/* A run: its trace and its nodes. */
struct wio_compare_run {
    const char *dir;
    const struct wio_roster *roster; /* with this run's pids; the same nodes in both runs */
};

/* *same_out, and where it is false the first difference. */
WIO_MUST_CHECK enum wio_status wio_compare_runs(const struct wio_compare_run runs[2],
                                                bool *same_out,
                                                struct wio_difference *difference_out,
                                                struct wio_error *err);

#endif
