/* SPDX-License-Identifier: Apache-2.0 */
/* A thread stands between two operations while files are mapped: pages of them are read. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return wio_finding_site(input, step)->kind == WIO_STEP_SLEPT &&
                   input->maps[wio_trace_stream(input->trace, step->stream)->process] != 0
               ? 1
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    (void)input;
    (void)group;
    (void)snprintf(finding->title, sizeof(finding->title),
                   "standing between operations while a file is mapped: page faults");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "read the file in large requests, or ask for its pages early (madvise)");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--read-maps=1M");
}

const struct wio_finding_kind wio_finding_mapped = {.kind = "mapped_faults",
                                                    .is_general = false,
                                                    .by = WIO_BY_PLACE,
                                                    .claim = claim,
                                                    .describe = describe};
