/* SPDX-License-Identifier: Apache-2.0 */
/* A thread looks for a file again and again until another one has made it. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    if (input->polls[step->stream] == 0) {
        return 0;
    }
    if (wio_finding_site(input, step)->outer == WIO_OUTER_POLL) {
        return 1;
    }
    return wio_finding_part(step->poll_ns, step->self_ns);
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)input;
    (void)snprintf(finding->title, sizeof(finding->title),
                   "%s looks for a file that another process makes",
                   wio_finding_count(&words, group->count));
    (void)snprintf(finding->detail, sizeof(finding->detail),
                   "%s of them failed; the file is noticed late, or the looks are in the way",
                   wio_finding_count(&words, group->errors));
    wio_finding_item(finding, "looks", (double)group->count, "");
    wio_finding_item(finding, "failed", (double)group->errors, "");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "wait for a message, a FIFO or inotify instead of looking");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--no-polling");
}

const struct wio_finding_kind wio_finding_polling = {.kind = "polling",
                                                     .is_general = false,
                                                     .by = WIO_BY_ROLE,
                                                     .claim = claim,
                                                     .describe = describe};
