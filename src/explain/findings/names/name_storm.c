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
                   cls == WIO_CLASS_MKNOD || cls == WIO_CLASS_SIZE ||
                   (cls == WIO_CLASS_OPEN &&
                    wio_finding_part(step->created, step->count) >= input->thresholds->dominant);

    uint64_t calls = input->calls[step - input->steps->steps];

    return is_name && (double)calls >= input->thresholds->many_opens ? 1 : 0;
}

/* The operation of the most time, and another one where there are several. */
static void write_ops(const struct wio_finding_input *input, const struct wio_finding *finding,
                      uint16_t lead, char *text, size_t size)
{
    for (uint32_t i = 0; i < finding->step_count; i++) {
        const struct wio_step *step = &input->steps->steps[finding->steps[i]];
        uint16_t op = wio_finding_site(input, step)->op;
        if (op != lead) {
            (void)snprintf(text, size, "%s and %s", wio_op_name(lead), wio_op_name(op));
            return;
        }
    }
    (void)snprintf(text, size, "%s", wio_op_name(lead));
}

static const char *change_of(unsigned cls)
{
    switch ((int)cls) {
    case WIO_CLASS_ATTR:
        return "set modes, owners and times as files are made, or leave them as they are";
    case WIO_CLASS_RENAME:
        return "make many files and rename their directory, or write under the last name";
    case WIO_CLASS_SIZE:
        return "give the file its size once";
    default:
        return "keep files instead of making them anew, or keep them in memory (/dev/shm)";
    }
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_site *site = wio_finding_site(input, &input->steps->steps[group->lead]);
    struct wio_finding_words words = {0};

    char ops[WIO_FINDING_TEXT / 2];

    write_ops(input, finding, site->op, ops, sizeof(ops));
    (void)snprintf(finding->title, sizeof(finding->title), "%s calls of %s",
                   wio_finding_count(&words, group->count), ops);
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s each",
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_item(finding, "calls", (double)group->count, "");
    wio_finding_item(finding, "time_per_call", wio_finding_part(group->time_ns, group->count) / 1e9,
                     "s");
    (void)snprintf(finding->change, sizeof(finding->change), "%s",
                   change_of(wio_op_class(site->op)));
    wio_finding_removes(finding, 0);
}

const struct wio_finding_kind wio_finding_name_storm = {.kind = "metadata_storm",
                                                        .is_general = false,
                                                        .is_of_library = true,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
