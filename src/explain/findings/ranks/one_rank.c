/* SPDX-License-Identifier: Apache-2.0 */
/* One rank does the I/O of all, and they wait for it. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return step->pattern != NULL && input->io_rank >= 0 &&
                   wio_finding_rank(input, step) == input->io_rank
               ? 1
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)snprintf(finding->title, sizeof(finding->title),
                   "rank %d does %.0f %% of the I/O of %u ranks, which wait for it", input->io_rank,
                   100 * input->io_rank_part, input->ranks);
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s requests, %s",
                   wio_finding_count(&words, group->count),
                   wio_finding_size(&words, (double)group->bytes));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "part_of_all", input->io_rank_part, "");
    (void)snprintf(finding->change, sizeof(finding->change), "let each rank transfer its own part");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--balance");
}

const struct wio_finding_kind wio_finding_one_rank = {.kind = "one_rank",
                                                      .is_general = false,
                                                      .by = WIO_BY_ROLE,
                                                      .claim = claim,
                                                      .describe = describe};
