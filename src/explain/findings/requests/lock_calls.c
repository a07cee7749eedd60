/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that take and leave locks on files, without the waiting for other holders. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

/* So many operations under one lock. */
#define LOCKED_TOGETHER 16

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    unsigned op = wio_finding_site(input, step)->op;
    uint64_t calls = input->calls[step - input->steps->steps];

    return (op == WIO_OP_flock || op == WIO_OP_lockf || op == WIO_OP_fcntl) &&
                   (double)calls >= input->thresholds->many_requests
               ? 1
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)input;
    (void)snprintf(finding->title, sizeof(finding->title), "%s calls for locks on files",
                   wio_finding_count(&words, group->count));
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s each",
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_item(finding, "calls", (double)group->count, "");
    wio_finding_item(finding, "time_per_call", wio_finding_part(group->time_ns, group->count) / 1e9,
                     "s");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "lock once for many operations, or let each process have a file or part of its "
                   "own");
    wio_finding_removes(finding, 1.0 / LOCKED_TOGETHER);
}

const struct wio_finding_kind wio_finding_lock_calls = {.kind = "lock_ping_pong",
                                                        .is_general = false,
                                                        .by = WIO_BY_ROLE,
                                                        .claim = claim,
                                                        .describe = describe};
