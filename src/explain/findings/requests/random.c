/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that begin elsewhere than the one before has ended. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_step_pattern *pattern = step->pattern;

    return pattern != NULL && (double)pattern->random >= input->thresholds->many_requests &&
                   wio_finding_part(pattern->random_ns, step->time_ns) >=
                       input->thresholds->dominant &&
                   wio_finding_part(step->bytes, step->count) <
                       16 * input->thresholds->small_request
               ? 1
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)snprintf(finding->title, sizeof(finding->title), "%s %ss of %s at random places",
                   wio_finding_count(&words, group->count), wio_finding_verb(input, group),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)));
    (void)snprintf(finding->detail, sizeof(finding->detail),
                   "%s each; %s of them begin elsewhere than the one before ended",
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)),
                   wio_finding_count(&words, group->pattern.random));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "random", (double)group->pattern.random, "");
    if (wio_finding_larger(input, group, finding)) {
        return;
    }
    (void)snprintf(finding->change, sizeof(finding->change),
                   "sort the requests by offset, or transfer larger parts and pick from memory");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--sort=1M");
}

const struct wio_finding_kind wio_finding_random = {.kind = "random_access",
                                                    .is_general = false,
                                                    .is_of_library = true,
                                                    .by = WIO_BY_PLACE,
                                                    .claim = claim,
                                                    .describe = describe};
