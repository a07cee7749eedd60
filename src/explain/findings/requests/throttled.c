/* SPDX-License-Identifier: Apache-2.0 */
/* Writes into the page cache that stand until dirty pages have been written back. */
#include <stdio.h>

#include "explain/findings/finding.h"

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_step_pattern *pattern = &group->pattern;
    struct wio_finding_words words = {0};

    (void)input;
    (void)snprintf(finding->title, sizeof(finding->title),
                   "%s of %s writes stand for write-back of dirty pages",
                   wio_finding_count(&words, pattern->stalled),
                   wio_finding_count(&words, group->count));
    (void)snprintf(
        finding->detail, sizeof(finding->detail), "%s each, the others %s; %s written",
        wio_finding_time(&words, wio_finding_part(pattern->stalled_ns, pattern->stalled)),
        wio_finding_time(&words, wio_finding_part(pattern->usual_ns, pattern->usual)),
        wio_finding_size(&words, (double)group->bytes));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "stalled", (double)pattern->stalled, "");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "spread the writes over the run, or begin write-back early "
                   "(sync_file_range)");
    wio_finding_removes(finding, 1 - wio_finding_part(pattern->stalled_ns, group->time_ns));
}

const struct wio_finding_kind wio_finding_throttled = {.kind = "page_cache_throttling",
                                                       .is_general = false,
                                                       .by = WIO_BY_PLACE,
                                                       .claim = wio_finding_stalled,
                                                       .describe = describe};
