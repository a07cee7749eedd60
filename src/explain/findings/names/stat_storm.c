/* SPDX-License-Identifier: Apache-2.0 */
/* Files are looked at again and again, or names are tried that do not exist. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    unsigned cls = wio_finding_class(input, step);
    bool is_look = cls == WIO_CLASS_STAT || cls == WIO_CLASS_ACCESS || cls == WIO_CLASS_READLINK ||
                   cls == WIO_CLASS_STATFS || cls == WIO_CLASS_XATTR;

    uint64_t tried = cls == WIO_CLASS_XATTR ? 0 : step->errors;
    uint64_t most = step->repeated > tried ? step->repeated : tried;

    return is_look && (double)step->count >= input->thresholds->many_stats &&
                   wio_finding_part(most, step->count) >= input->thresholds->dominant
               ? 1
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_site *site = wio_finding_site(input, &input->steps->steps[group->lead]);
    struct wio_finding_words words = {0};
    uint64_t most = group->repeated > group->errors ? group->repeated : group->errors;

    (void)snprintf(finding->title, sizeof(finding->title), "%s calls of %s",
                   wio_finding_count(&words, group->count), wio_op_name(site->op));
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s each, %s failed",
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)),
                   wio_finding_count(&words, group->errors));
    wio_finding_item(finding, "calls", (double)group->count, "");
    wio_finding_item(finding, "failed", (double)group->errors, "");
    wio_finding_item(finding, "time_per_call", wio_finding_part(group->time_ns, group->count) / 1e9,
                     "s");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "remember what is known of the file, or open it and handle the failure");
    wio_finding_removes(finding, 1 - wio_finding_part(most, group->count));
}

const struct wio_finding_kind wio_finding_stat_storm = {.kind = "stat_storm",
                                                        .is_general = false,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
