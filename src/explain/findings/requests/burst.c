/* SPDX-License-Identifier: Apache-2.0 */
/* Writes stand for write-back, and between them the program computes long enough for it. */
#include <stdio.h>

#include "explain/findings/finding.h"

/* Of the rate at which stalled writes come through; what needs more has no room in the whole run.
 */
#define RATE_PART 0.8

/* Spread over the computing between them, would all writes come no faster than they are written
 * back? */
static bool has_room(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_step_pattern *pattern = step->pattern;
    double spread = wio_finding_part(step->count, step->time_ns + pattern->computed_ns);

    return (double)pattern->computed_ns >=
               input->thresholds->dominant * (double)pattern->stalled_ns &&
           spread <= RATE_PART * wio_finding_part(pattern->stalled, pattern->stalled_ns);
}

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    double stalled = wio_finding_stalled(input, step);

    return stalled > 0 && has_room(input, step) ? stalled : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_step_pattern *pattern = &group->pattern;
    struct wio_finding_words words = {0};

    (void)input;
    (void)snprintf(
        finding->title, sizeof(finding->title), "%s of %s writes stand for write-back, in bursts",
        wio_finding_count(&words, pattern->stalled), wio_finding_count(&words, group->count));
    (void)snprintf(finding->detail, sizeof(finding->detail),
                   "%s written; between them the threads compute %s, in which it could be written "
                   "back",
                   wio_finding_size(&words, (double)group->bytes),
                   wio_finding_time(&words, (double)pattern->computed_ns));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "stalled", (double)pattern->stalled, "");
    wio_finding_item(finding, "computing_between", (double)pattern->computed_ns / 1e9, "s");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "write a part after each part of the computing, so that the page cache has "
                   "room for the rest");
    wio_finding_removes(finding, 1 - wio_finding_part(pattern->stalled_ns, group->time_ns));
}

const struct wio_finding_kind wio_finding_burst = {.kind = "write_burst",
                                                   .is_general = false,
                                                   .by = WIO_BY_PLACE,
                                                   .claim = claim,
                                                   .describe = describe};
