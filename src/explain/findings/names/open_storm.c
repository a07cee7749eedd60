/* SPDX-License-Identifier: Apache-2.0 */
/* The same files are opened and closed again and again. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

/* What a stream or a language asks of a descriptor behind each open. */
static bool comes_with_opens(const struct wio_finding_input *input, const struct wio_step *step)
{
    uint64_t opens =
        step->path < input->patterns->file_capacity ? input->patterns->files[step->path].opens : 0;

    return wio_finding_site(input, step)->op == WIO_OP_fstat &&
           (double)opens >= input->thresholds->many_opens && step->count <= opens + opens / 2;
}

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    unsigned cls = wio_finding_class(input, step);

    if (comes_with_opens(input, step)) {
        return 1;
    }

    return (cls == WIO_CLASS_OPEN || cls == WIO_CLASS_CLOSE) && wio_finding_is_io(input, step) &&
                   (double)step->count >= input->thresholds->many_opens &&
                   wio_finding_part(step->repeated, step->count) >= input->thresholds->dominant
               ? 1
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)input;
    (void)snprintf(finding->title, sizeof(finding->title),
                   group->opens > 0 ? "%s opens of the same file%s"
                                    : "%s calls behind opens of the same file%s",
                   wio_finding_count(&words, group->opens > 0 ? group->opens : group->count),
                   group->is_several ? "s" : "");
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s opens, closes and looks, %s each",
                   wio_finding_count(&words, group->count),
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_item(finding, "calls", (double)group->count, "");
    wio_finding_item(finding, "time_per_call", wio_finding_part(group->time_ns, group->count) / 1e9,
                     "s");
    (void)snprintf(finding->change, sizeof(finding->change), "open once and keep the descriptor");
    /* looks at descriptors go with the opens, and are repeated where these are */
    double repeated = wio_finding_part(group->repeated, group->count);
    wio_finding_removes(finding, 1 - repeated);
}

const struct wio_finding_kind wio_finding_open_storm = {.kind = "open_storm",
                                                        .is_general = false,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
