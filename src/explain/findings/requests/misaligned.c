/* SPDX-License-Identifier: Apache-2.0 */
/* Large requests on a shared file that begin or end inside of blocks. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static bool is_shared(const struct wio_finding_input *input, const struct wio_step *step)
{
    return step->path < input->patterns->file_capacity &&
           input->patterns->files[step->path].is_shared;
}

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_step_pattern *pattern = step->pattern;

    return pattern != NULL && is_shared(input, step) &&
                   (double)step->count >= input->thresholds->many_requests &&
                   wio_finding_part(pattern->misaligned, step->count) >= input->thresholds->dominant
               ? 1
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)snprintf(finding->title, sizeof(finding->title),
                   "%s %ss of a shared file begin or end inside of blocks",
                   wio_finding_count(&words, group->pattern.misaligned),
                   wio_finding_verb(input, group));
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s each",
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "misaligned", (double)group->pattern.misaligned, "");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "align the parts of the ranks with blocks (or stripes) of the file system");
    finding->no_gain = "what ranks that share a block cost each other is up to the file system: "
                       "no trace and no model tells";
}

const struct wio_finding_kind wio_finding_misaligned = {.kind = "misaligned",
                                                        .is_general = false,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
