/* SPDX-License-Identifier: Apache-2.0 */
/* Names are made, changed and removed again and again. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    unsigned cls = wio_finding_class(input, step);
    bool is_name = cls == WIO_CLASS_UNLINK || cls == WIO_CLASS_RENAME || cls == WIO_CLASS_MKDIR ||
                   cls == WIO_CLASS_LINK || cls == WIO_CLASS_SYMLINK || cls == WIO_CLASS_ATTR ||
                   cls == WIO_CLASS_MKNOD || cls == WIO_CLASS_SIZE;

    uint64_t calls = input->calls[step - input->steps->steps];

    return is_name && (double)calls >= input->thresholds->many_opens ? 1 : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_site *site = wio_finding_site(input, &input->steps->steps[group->lead]);
    struct wio_finding_words words = {0};

    (void)snprintf(finding->title, sizeof(finding->title), "%s calls of %s",
                   wio_finding_count(&words, group->count), wio_op_name(site->op));
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s each",
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_item(finding, "calls", (double)group->count, "");
    wio_finding_item(finding, "time_per_call", wio_finding_part(group->time_ns, group->count) / 1e9,
                     "s");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "keep files instead of making them anew, or keep them in memory (/dev/shm)");
    wio_finding_removes(finding, 0);
}

const struct wio_finding_kind wio_finding_name_storm = {.kind = "metadata_storm",
                                                        .is_general = false,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
