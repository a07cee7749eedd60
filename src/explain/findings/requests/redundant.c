/* SPDX-License-Identifier: Apache-2.0 */
/* The same bytes are read more than once. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

/* Of a file that several processes read: the part of its bytes that one read too many. All of them
 * take part, also the one that comes first. Where most of what is read is read too often, reading
 * it on each of them is the pattern: all of it. */
static double shared_part(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_patterns *patterns = input->patterns;

    if (step->path >= patterns->file_capacity || !patterns->files[step->path].is_read_by_several) {
        return 0;
    }
    const struct wio_file_row *file = &patterns->files[step->path];
    uint64_t bytes = file->past_bytes + file->extent;
    double part = file->bytes_read > bytes ? 1 - wio_finding_part(bytes, file->bytes_read) : 0;
    return part > 0 && part >= input->thresholds->dominant ? 1 : part;
}

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_step_pattern *pattern = step->pattern;
    unsigned cls = wio_finding_class(input, step);
    double part = 0;
    double shared = 0;

    if (pattern == NULL || (cls != WIO_CLASS_READ && cls != WIO_CLASS_ASYNC_READ)) {
        return 0;
    }
    part = wio_finding_part(pattern->again_ns + pattern->others_ns, step->time_ns);
    shared = shared_part(input, step);
    part = part > shared ? part : shared;
    return part >= input->thresholds->again ? part : 0;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const struct wio_step_pattern *pattern = &group->pattern;
    bool is_own = pattern->again_bytes >= pattern->others_bytes;
    struct wio_finding_words words = {0};

    bool is_named = pattern->again_bytes + pattern->others_bytes > 0;

    (void)snprintf(
        finding->title, sizeof(finding->title),
        !is_named ? "%s of %s of files that other processes read as well"
        : is_own  ? "%s of %s are read more than once"
                  : "%s of %s were read by another thread before",
        wio_finding_size(&words, is_named ? (double)(pattern->again_bytes + pattern->others_bytes)
                                          : (double)group->bytes),
        wio_finding_size(&words, (double)group->bytes));
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s reads of %s, %s each",
                   wio_finding_count(&words, group->count),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)),
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)));
    wio_finding_requests(group, finding);
    wio_finding_item(finding, "bytes_again", (double)pattern->again_bytes, "B");
    wio_finding_item(finding, "bytes_of_others", (double)pattern->others_bytes, "B");
    (void)snprintf(finding->change, sizeof(finding->change), "%s",
                   is_own && is_named ? "read once and keep the data in memory"
                   : input->ranks > 1 ? "let one rank read and send the data to the others"
                                      : "read once and share the data in memory");
    double again = wio_finding_part(pattern->again_bytes + pattern->others_bytes, group->bytes);
    wio_finding_removes(finding, 1 - again);
}

const struct wio_finding_kind wio_finding_redundant = {.kind = "redundant_reads",
                                                       .is_general = false,
                                                       .by = WIO_BY_PLACE,
                                                       .claim = claim,
                                                       .describe = describe};
