/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk data goes through the buffers of stdio, in requests of a buffer each. */
#include <math.h>
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"
#include "predict/fit.h"

#define LARGER (UINT64_C(1) << 20)

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    unsigned outer = wio_finding_outer_class(input, step);
    bool is_stdio = outer == WIO_CLASS_STDIO_READ || outer == WIO_CLASS_STDIO_WRITE ||
                    outer == WIO_CLASS_STDIO_FLUSH || outer == WIO_CLASS_STDIO_SEEK;

    return is_stdio && step->pattern != NULL &&
                   (double)step->bytes >= input->thresholds->stdio_bytes &&
                   (double)step->count >= input->thresholds->many_requests &&
                   wio_finding_part(step->bytes, step->count) < input->thresholds->small_request
               ? 1
               : 0;
}

/* Part of the time that requests of LARGER take: each as one of these, and the time of its other
 * bytes (wio_fit_assumed). */
static double kept(const struct wio_finding_group *group)
{
    double count = ceil((double)group->bytes / (double)LARGER);
    double bytes = (double)group->bytes / count - wio_finding_part(group->bytes, group->count);
    double one_s = wio_finding_part(group->time_ns, group->count) / 1e9;
    double larger_s = one_s + fmax(bytes, 0) / WIO_FIT_ASSUMED_BW;

    return fmin(count * larger_s / ((double)group->count * one_s), 1);
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
    (void)snprintf(finding->change, sizeof(finding->change),
                   "a buffer of 1 MiB (setvbuf), or read and write without stdio");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--bf=1M");
    wio_finding_removes(finding, kept(group));
}

const struct wio_finding_kind wio_finding_stdio_bulk = {.kind = "stdio_bulk_data",
                                                        .is_general = false,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
