/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks transfer small parts of a shared file by independent MPI-IO calls. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return wio_finding_outer_class(input, step) == WIO_CLASS_MPI_FILE && step->pattern != NULL &&
                   input->ranks > 1 && (double)step->count >= input->thresholds->many_requests &&
                   wio_finding_part(step->pattern->small_ns, step->time_ns) >=
                       input->thresholds->dominant
               ? 1
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_site *site = wio_finding_site(input, &input->steps->steps[group->lead]);
    struct wio_finding_words words = {0};

    (void)snprintf(finding->title, sizeof(finding->title),
                   "%s calls of %s, which is not collective",
                   wio_finding_count(&words, group->count), wio_op_name(site->outer));
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s each, %s",
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)),
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_requests(group, finding);
    (void)snprintf(finding->change, sizeof(finding->change), "the collective call (%s_all)",
                   wio_op_name(site->outer));
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--collective=on");
}

const struct wio_finding_kind wio_finding_independent = {.kind = "independent_mpi_io",
                                                         .is_general = false,
                                                         .by = WIO_BY_PLACE,
                                                         .claim = claim,
                                                         .describe = describe};
