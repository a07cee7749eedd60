/* SPDX-License-Identifier: Apache-2.0 */
/* Directories are read again and again: each from its begin, not entry by entry. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_site *site = wio_finding_site(input, step);
    unsigned cls = wio_finding_class(input, step);

    bool is_opened = (cls == WIO_CLASS_OPEN || cls == WIO_CLASS_CLOSE) &&
                     wio_patterns_is_directory(input->patterns, step->path);

    return (cls == WIO_CLASS_READDIR || site->op == WIO_OP_opendir || site->op == WIO_OP_closedir ||
            site->op == WIO_OP_fdopendir || is_opened) &&
                   wio_patterns_scans(input->patterns, step->path) >= input->thresholds->many_scans
               ? 1
               : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)snprintf(finding->title, sizeof(finding->title), "directories read again and again");
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s calls, %s each",
                   wio_finding_count(&words, group->count),
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_item(finding, "calls", (double)group->count, "");
    (void)snprintf(finding->change, sizeof(finding->change),
                   "read the directory once, or keep a list of its files");
    double scans = wio_patterns_scans(input->patterns, finding->path);
    wio_finding_removes(finding, scans > 0 ? 1 / scans : 1);
}

const struct wio_finding_kind wio_finding_dir_scan = {.kind = "dir_scan",
                                                      .is_general = false,
                                                      .by = WIO_BY_ROLE,
                                                      .claim = claim,
                                                      .describe = describe};
