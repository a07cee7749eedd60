/* SPDX-License-Identifier: Apache-2.0 */
/* Where I/O time is that shows none of the patterns. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return wio_finding_is_io(input, step) ? 1 : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_site *site = wio_finding_site(input, &input->steps->steps[group->lead]);
    struct wio_finding_words words = {0};

    if (group->bytes == 0) {
        (void)snprintf(finding->title, sizeof(finding->title), "%s call%s of %s",
                       wio_finding_count(&words, group->count), group->count == 1 ? "" : "s",
                       wio_step_op_name(site->op));
        (void)snprintf(finding->detail, sizeof(finding->detail), "%s each",
                       wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
        wio_finding_item(finding, "calls", (double)group->count, "");
        return;
    }
    (void)snprintf(finding->title, sizeof(finding->title), "%s by %s in requests of %s",
                   wio_finding_size(&words, (double)group->bytes), wio_step_op_name(site->op),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)));
    double seconds = (double)group->time_ns / 1e9;
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s/s%s",
                   wio_finding_size(&words, seconds > 0 ? (double)group->bytes / seconds : 0),
                   input->ranks > 1 ? " on each rank" : "");
    wio_finding_requests(group, finding);
}

const struct wio_finding_kind wio_finding_general = {.kind = "other_io",
                                                     .is_general = true,
                                                     .by = WIO_BY_SITE,
                                                     .claim = claim,
                                                     .describe = describe};
