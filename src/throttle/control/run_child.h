/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording out of several: done in a child, so that each has the command's descriptors, signal
 * mask and orphans for itself, while this process controls it.
 *
 *     WIO_TRY(wio_rerun_start(&rerun, &params, -1, err));
 *     while (wio_rerun_goes_on(&rerun)) { ... }
 *     WIO_TRY(wio_rerun_finish(&rerun, &result, err));
 *
 * Between start and finish signals that end programs are blocked here; those sent to this process
 * go on to the recorder, which does not end by them: while it seals, the second SIGINT or SIGQUIT
 * that comes here kills it. One alone may have come to both, and was meant for the command. A
 * standard input that can be sought is put back to where it was.
 */
#ifndef WIO_THROTTLE_CONTROL_RUN_CHILD_H
#define WIO_THROTTLE_CONTROL_RUN_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "record/record.h"

struct wio_rerun {
    struct wio_rerun_shared *shared;
    pid_t pid;
    int interrupt;   /* the last signal that wants it all to end, 0 = none */
    const char *dir; /* of its trace, as given */
    sigset_t original_mask;
};

/* What of this process the child is not to have. */
struct wio_rerun_own {
    const int *fds; /* stay open here alone, so that others see at once when this process ends */
    size_t fd_count;
    const sigset_t *mask; /* of signals before wio_rerun_hold_interrupts; NULL = as it is */
};

/* Between runs: interrupts wait until they are taken, and end nothing half-way. Not SIGQUIT. */
void wio_rerun_hold_interrupts(sigset_t *before_out);
/* One that has come, 0 = none. */
int wio_rerun_take_interrupt(void);
void wio_rerun_release_interrupts(const sigset_t *before);

WIO_MUST_CHECK enum wio_status wio_rerun_start(struct wio_rerun *rerun,
                                               const struct wio_record_params *params,
                                               const struct wio_rerun_own *own,
                                               struct wio_error *err);
/* Passes signals on; false when the recorder has ended. */
bool wio_rerun_goes_on(struct wio_rerun *rerun);
/* Waits for it. As wio_record; of one that an interrupt has ended the exit status is
 * 128 + its number, and seal_error tells that the trace is not sealed. */
WIO_MUST_CHECK enum wio_status wio_rerun_finish(struct wio_rerun *rerun,
                                                struct wio_record_result *result_out,
                                                struct wio_error *err);

#endif
