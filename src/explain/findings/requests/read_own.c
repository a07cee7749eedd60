/* SPDX-License-Identifier: Apache-2.0 */
/* A thread reads what it has written itself. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

/* Small reads that do not follow the writes of the same bytes at once: whatever they read,
 * they are small, or at random places. */
static bool are_small(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_step_pattern *pattern = step->pattern;
    const struct wio_thresholds *limits = input->thresholds;

    return wio_finding_part(pattern->small_ns, step->time_ns) >= limits->dominant &&
           wio_finding_part(pattern->own_turns, step->count) < limits->dominant;
}

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_step_pattern *pattern = step->pattern;
    double part = pattern != NULL ? wio_finding_part(pattern->own_ns, step->time_ns) : 0;
    double calls = (double)input->calls[step - input->steps->steps];

    return pattern != NULL && part >= input->thresholds->again &&
                   calls >= input->thresholds->many_read_backs && !are_small(input, step)
               ? part
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_step_pattern *pattern = &group->pattern;
    struct wio_finding_words words = {0};

    (void)input;
    (void)snprintf(finding->title, sizeof(finding->title),
                   "%s read again that the same thread has written",
                   wio_finding_size(&words, (double)group->pattern.own_bytes));
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s reads of %s, %s each",
                   wio_finding_count(&words, group->count),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)),
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "own_bytes", (double)group->pattern.own_bytes, "B");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "keep the data in memory instead of reading it back");
    wio_finding_removes(finding, 1 - wio_finding_part(pattern->own_bytes, group->bytes));
}

const struct wio_finding_kind wio_finding_read_own = {.kind = "read_after_write",
                                                      .is_general = false,
                                                      .by = WIO_BY_PLACE,
                                                      .claim = claim,
                                                      .describe = describe};
