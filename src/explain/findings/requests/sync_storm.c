/* SPDX-License-Identifier: Apache-2.0 */
/* Data is flushed to the device in small parts: each flush waits for a journal commit. */
#include <stdio.h>
#include <stdlib.h>

#include "base/ids.h"
#include "explain/findings/finding.h"
#include "ops/calls.h"

/* Parts of the step's time in flushes, or in writes that flush, of little data each. */
static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_thresholds *limits = input->thresholds;
    unsigned cls = wio_finding_class(input, step);

    if ((double)step->count < limits->many_syncs) {
        return 0;
    }
    if (wio_finding_site(input, step)->op == WIO_OP_msync) {
        return wio_finding_part(step->asked, step->count) < limits->sync_bytes ? 1 : 0;
    }
    if (cls == WIO_CLASS_SYNC || cls == WIO_CLASS_ASYNC_SYNC) {
        return wio_finding_part(step->unsynced, step->count) < limits->sync_bytes ? 1 : 0;
    }
    if (step->pattern != NULL && wio_finding_part(step->bytes, step->count) < limits->sync_bytes) {
        return wio_finding_part(step->pattern->sync_ns, step->time_ns);
    }
    return 0;
}

/* Flushes in --fsync-every are those of one descriptor. */
#define FLUSHED_TOGETHER 16

/* Opens of the files that were flushed, each file once; of so many that they are not told apart, as
 * many as flushes. Without memory none. */
static uint64_t count_opens(const struct wio_finding_input *input,
                            const struct wio_finding *finding)
{
    uint32_t *paths = calloc((size_t)finding->step_count + 1, sizeof(*paths));
    uint64_t opens = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; paths != NULL && i < finding->step_count; i++) {
        const struct wio_step *step = &input->steps->steps[finding->steps[i]];
        if (step->path < input->patterns->file_capacity) {
            paths[count++] = step->path;
        } else {
            opens += step->count;
        }
    }
    if (count > 0) {
        qsort(paths, count, sizeof(*paths), wio_ids_compare);
    }
    for (uint32_t i = 0; i < count; i++) {
        opens += i == 0 || paths[i] != paths[i - 1] ? input->patterns->files[paths[i]].opens : 0;
    }
    free(paths);
    return opens;
}

static void describe_change(const struct wio_finding_input *input,
                            const struct wio_finding_group *group, struct wio_finding *finding)
{
    const struct wio_site *site = wio_finding_site(input, &input->steps->steps[group->lead]);

    if (group->pattern.sync > 0) {
        (void)snprintf(finding->change, sizeof(finding->change),
                       "write without O_SYNC and flush once per step");
        (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--sync=off");
        return;
    }
    bool is_each_open = group->count < 2 * count_opens(input, finding);
    if (site->op == WIO_OP_msync || is_each_open) {
        (void)snprintf(finding->change, sizeof(finding->change), "%s",
                       is_each_open ? "commit 16 of these together, in one file with one flush"
                                    : "one flush for every 16 of these");
        wio_finding_removes(finding, 1.0 / FLUSHED_TOGETHER);
        return;
    }
    (void)snprintf(finding->change, sizeof(finding->change), "one flush for every 16 of these");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--fsync-every=16");
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};
    const struct wio_site *site = wio_finding_site(input, &input->steps->steps[group->lead]);
    uint64_t bytes = group->unsynced > 0 ? group->unsynced : group->bytes;
    bytes = site->op == WIO_OP_msync ? group->asked : bytes;
    double each = wio_finding_part(bytes, group->count);
    bool is_write = group->pattern.sync > 0;

    if (bytes == 0) {
        uint32_t path = input->steps->steps[group->lead].path;
        (void)snprintf(finding->title, sizeof(finding->title), "%s of %s", wio_op_name(site->op),
                       wio_patterns_is_directory(input->patterns, path)
                           ? "a directory, for the names in it"
                           : "a file with nothing new written");
    } else {
        (void)snprintf(finding->title, sizeof(finding->title),
                       is_write                   ? "%s with O_SYNC of %s each"
                       : site->op == WIO_OP_msync ? "%s of %s each"
                                                  : "%s after every %s",
                       wio_op_name(site->op), wio_finding_size(&words, each));
    }
    (void)snprintf(finding->detail, sizeof(finding->detail),
                   "%s flushes, each waits %s for the device",
                   wio_finding_count(&words, group->count),
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_item(finding, "flushes", (double)group->count, "");
    wio_finding_item(finding, "bytes_per_flush", each, "B");
    wio_finding_item(finding, "time_per_flush",
                     wio_finding_part(group->time_ns, group->count) / 1e9, "s");
    describe_change(input, group, finding);
}

const struct wio_finding_kind wio_finding_sync_storm = {.kind = "sync_storm",
                                                        .is_general = false,
                                                        .is_of_library = true,
                                                        .by = WIO_BY_PLACE,
                                                        .claim = claim,
                                                        .describe = describe};
