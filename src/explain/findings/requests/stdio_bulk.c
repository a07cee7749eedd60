/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk data goes through the buffers of stdio, in requests of a buffer each. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return wio_finding_is_of_stream(input, step) && step->pattern != NULL &&
                   (double)step->bytes >= input->thresholds->stdio_bytes &&
                   (double)step->count >= input->thresholds->many_requests &&
                   wio_finding_part(step->bytes, step->count) < input->thresholds->small_request
               ? 1
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_site *site = wio_finding_site(input, &input->steps->steps[group->lead]);
    struct wio_finding_words words = {0};

    (void)snprintf(finding->title, sizeof(finding->title), "%s through stdio (%s) in parts of %s",
                   wio_finding_size(&words, (double)group->bytes), wio_op_name(site->outer),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)));
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s system calls, %s each",
                   wio_finding_count(&words, group->count),
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_requests(group, finding);
    if (!wio_finding_larger(input, group, finding)) {
        (void)snprintf(finding->change, sizeof(finding->change),
                       "transfers sorted by offset, or pread and pwrite of the records");
        finding->no_gain = "what streams transfer at random places hangs on where they seek";
    }
}

const struct wio_finding_kind wio_finding_stdio_bulk = {.kind = "stdio_bulk_data",
                                                        .is_general = false,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
