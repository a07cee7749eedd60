/* SPDX-License-Identifier: Apache-2.0 */
/* Running the command and waiting for all of its descendants. */
#ifndef WIO_RECORD_SUPERVISE_H
#define WIO_RECORD_SUPERVISE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "record/ends.h"
#include "record/record.h"

struct wio_command {
    const char *path; /* of the program, already searched */
    char *const *argv;
    char *const *environment;
    struct sigaction file_size_action; /* what SIGXFSZ does in the command */
    void (*lingering)(void *arg, const struct wio_lingering *running); /* may be NULL */
    void *lingering_arg;
    /* Asked to trace the command before it runs: its address; NULL = it is not asked. The tracer is
     * a child from before. */
    const char *tracer;
    bool keeps_signals; /* all signals stay blocked afterwards, the caller handles them */
};

struct wio_supervision {
    int exit_status; /* of the command itself: 0..255, or 128 + signal */
    bool is_cut;     /* a signal ended the wait while descendants were alive */
    struct wio_ends ends;
};

/*
 * Start the command in this process group, so that the terminal's signals reach it as without
 * whyio; a signal that another process sends to this one is passed on to it. Orphans of the
 * command become children of this process (child subreaper), and it waits for them too: the first
 * SIGINT, SIGTERM, SIGHUP or SIGQUIT after the end of the command itself ends that wait.
 *
 * Afterwards SIGINT and SIGQUIT act as usual (unless command->keeps_signals), while the other
 * signals stay blocked, so that the trace can be finished. Gives up standard input and output and
 * all inherited descriptors. On failure (WIO_ERR_IO: exec did not work) nothing runs. Release
 * `out->ends` with wio_ends_fini in any case.
 */
WIO_MUST_CHECK enum wio_status wio_supervise(const struct wio_command *command,
                                             struct wio_supervision *out, struct wio_error *err);

#endif
