/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers that could go on while their thread computes. */
#include <stdio.h>

#include "explain/findings/finding.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return input->overlaps[step - input->steps->steps] != 0 ? 1 : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)snprintf(finding->title, sizeof(finding->title), "%s %ss of %s while nothing is computed",
                   wio_finding_count(&words, group->count), wio_finding_verb(input, group),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)));
    (void)snprintf(finding->detail, sizeof(finding->detail),
                   "%s each; %s of %s could pass while the thread computes, before %s of them",
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)),
                   wio_finding_time(&words, (double)group->pattern.overlap_ns),
                   wio_finding_time(&words, (double)group->time_ns),
                   wio_finding_count(&words, group->pattern.overlaps));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "could_overlap", (double)group->pattern.overlap_ns / 1e9, "s");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "transfer beside the computing: a second buffer and a thread, io_uring, or "
                   "MPI_File_iwrite and iread");
    wio_finding_removes(finding, 1 - wio_finding_part(group->pattern.overlap_ns, group->time_ns));
}

const struct wio_finding_kind wio_finding_overlap = {.kind = "blocking_io",
                                                     .is_general = false,
                                                     .by = WIO_BY_PLACE,
                                                     .claim = claim,
                                                     .describe = describe};
