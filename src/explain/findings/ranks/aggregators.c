/* SPDX-License-Identifier: Apache-2.0 */
/* Collective calls of MPI-IO in which ranks transfer small parts of their own: no aggregators. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return input->aggregators[step - input->steps->steps] != 0 &&
                   (double)step->count >= input->thresholds->many_requests &&
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
                   "%u ranks on %u host%s transfer parts of %s in %s", finding->ranks.count,
                   input->hosts, input->hosts == 1 ? "" : "s",
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)),
                   wio_op_name(site->outer));
    (void)snprintf(finding->detail, sizeof(finding->detail),
                   "%s requests, %s each: the collective call does not gather them",
                   wio_finding_count(&words, group->count),
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "aggregators", finding->ranks.count, "");
    wio_finding_item(finding, "hosts", input->hosts, "");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "one aggregator for each host (hints cb_nodes, romio_cb_write, "
                   "romio_cb_read; Open MPI: fcoll vulcan)");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--collective=on");
}

const struct wio_finding_kind wio_finding_aggregators = {.kind = "aggregators",
                                                         .is_general = false,
                                                         .by = WIO_BY_PLACE,
                                                         .claim = claim,
                                                         .describe = describe};
