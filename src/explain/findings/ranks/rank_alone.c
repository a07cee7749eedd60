/* SPDX-License-Identifier: Apache-2.0 */
/* At a line one rank alone transfers data, and others wait for it; elsewhere all may. */
#include <stdio.h>

#include "explain/findings/finding.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return step->pattern != NULL && input->alone[step - input->steps->steps] != 0 ? 1 : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)snprintf(finding->title, sizeof(finding->title), "one rank of %u %ss %s, others wait",
                   input->ranks, wio_finding_verb(input, group),
                   wio_finding_size(&words, (double)group->bytes));
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s requests, %s waiting for it",
                   wio_finding_count(&words, group->count),
                   wio_finding_time(&words, (double)group->others_wait_ns));
    wio_finding_requests(group, finding);
    (void)snprintf(finding->change, sizeof(finding->change), "let each rank transfer its own part");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--balance");
}

const struct wio_finding_kind wio_finding_rank_alone = {.kind = "one_rank",
                                                        .is_general = false,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
