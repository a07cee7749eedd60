/* SPDX-License-Identifier: Apache-2.0 */
/* So many transfers at a time that all together move less than fewer did. */
#include <stdio.h>

#include "explain/findings/finding.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    double part = (double)input->concurrent[step - input->steps->steps];

    return step->pattern != NULL && part > 0 && part >= input->thresholds->dominant ? 1 : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};
    uint32_t most = 0;

    for (uint32_t i = 0; i < WIO_LEVELS; i++) {
        most = group->pattern.levels[i].ns > group->pattern.levels[most].ns ? i : most;
    }
    (void)snprintf(finding->title, sizeof(finding->title),
                   "up to %u %ss at a time move less than fewer do", 1u << most,
                   wio_finding_verb(input, group));
    (void)snprintf(finding->detail, sizeof(finding->detail),
                   "%s requests of %s; %s each with so many, %s with fewer",
                   wio_finding_count(&words, group->count),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)),
                   wio_finding_time(&words, wio_finding_part(group->pattern.levels[most].ns,
                                                             group->pattern.levels[most].count)),
                   wio_finding_time(
                       &words, wio_finding_part(group->time_ns - group->pattern.levels[most].ns,
                                                group->count - group->pattern.levels[most].count)));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "at_a_time", 1u << most, "");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "let fewer processes or threads transfer at a time, in larger parts");
    wio_finding_removes(finding, (double)input->best_part[group->lead]);
}

const struct wio_finding_kind wio_finding_concurrent = {.kind = "concurrent_io",
                                                        .is_general = false,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
