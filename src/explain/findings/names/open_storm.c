/* SPDX-License-Identifier: Apache-2.0 */
/* The same files are opened and closed again and again. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

#define ASKED_EACH 4u

/* What a stream or a language asks of a descriptor behind each open: its size and its position. */
static bool comes_with_opens(const struct wio_finding_input *input, const struct wio_step *step)
{
    uint64_t opens =
        step->path < input->patterns->file_capacity ? input->patterns->files[step->path].opens : 0;

    bool is_asked = wio_finding_site(input, step)->op == WIO_OP_fstat ||
                    wio_finding_class(input, step) == WIO_CLASS_SEEK;
    return is_asked && (double)opens >= input->thresholds->many_opens &&
           step->count <= ASKED_EACH * opens;
}

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    unsigned cls = wio_finding_class(input, step);

    if (comes_with_opens(input, step)) {
        return 1;
    }

    bool is_new = wio_finding_part(step->created, step->count) >= input->thresholds->dominant;
    return (cls == WIO_CLASS_OPEN || cls == WIO_CLASS_CLOSE) && wio_finding_is_io(input, step) &&
                   !is_new && (double)step->count >= input->thresholds->many_opens &&
                   wio_finding_part(step->repeated, step->count) >= input->thresholds->dominant
               ? 1
               : 0;
}

/* Of the opens and closes: what is asked of a descriptor goes with these. */
static double repeated_part(const struct wio_finding_input *input,
                            const struct wio_finding *finding)
{
    uint64_t repeated = 0;
    uint64_t count = 0;

    for (uint32_t i = 0; i < finding->step_count; i++) {
        const struct wio_step *step = &input->steps->steps[finding->steps[i]];
        unsigned cls = wio_finding_class(input, step);
        if (cls == WIO_CLASS_OPEN || cls == WIO_CLASS_CLOSE) {
            repeated += step->repeated;
            count += step->count;
        }
    }
    return count > 0 ? wio_finding_part(repeated, count) : 1;
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
    wio_finding_removes(finding, 1 - repeated_part(input, finding));
}

const struct wio_finding_kind wio_finding_open_storm = {.kind = "open_storm",
                                                        .is_general = false,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
