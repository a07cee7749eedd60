/* SPDX-License-Identifier: Apache-2.0 */
/* A rank needs far longer at a place than the other ranks at the same one. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return input->straggling[step - input->steps->steps];
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    finding->ranks = wio_finding_copy_ranks(&group->on_path, finding->ranks);
    finding->is_alone = group->on_path.count == 1 && input->ranks > 1;
    (void)snprintf(finding->title, sizeof(finding->title),
                   "%u of %u ranks need far longer here than the others", group->on_path.count,
                   input->ranks);
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s requests of %s",
                   wio_finding_count(&words, group->count),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)));
    wio_finding_requests(group, finding);
    (void)snprintf(finding->change, sizeof(finding->change),
                   "spread the bytes of this rank over all of them");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--balance");
}

const struct wio_finding_kind wio_finding_straggler = {.kind = "straggler",
                                                       .is_general = false,
                                                       .by = WIO_BY_PLACE,
                                                       .claim = claim,
                                                       .describe = describe};
