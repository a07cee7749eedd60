/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of blocks inside of a file are written: the rest has to be read first. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_step_pattern *pattern = step->pattern;

    if (pattern == NULL || (double)pattern->partial < input->thresholds->many_requests ||
        wio_finding_part(step->bytes, step->count) < 4096) {
        return 0;
    }
    return wio_finding_part(pattern->partial_ns, step->time_ns) >= input->thresholds->dominant
               ? wio_finding_part(pattern->partial_ns, step->time_ns)
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)input;
    (void)snprintf(finding->title, sizeof(finding->title),
                   "%s writes of %s that cut blocks inside of the file",
                   wio_finding_count(&words, group->pattern.partial),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)));
    (void)snprintf(finding->detail, sizeof(finding->detail),
                   "%s each; what is not in the page cache is read before it is changed",
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "partial_writes", (double)group->pattern.partial, "");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "begin and end writes at multiples of 4 KiB, or write neighbours together");
    finding->no_gain = "what is read for a block that a write cuts is in no trace, and the model "
                       "of the page cache takes it for there";
}

const struct wio_finding_kind wio_finding_partial_blocks = {.kind = "read_modify_write",
                                                            .is_general = false,
                                                            .by = WIO_BY_PLACE,
                                                            .claim = claim,
                                                            .describe = describe};
