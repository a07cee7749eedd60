/* SPDX-License-Identifier: Apache-2.0 */
/* Small requests that follow each other. */
#include <math.h>
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

/* Bytes; of a stream whose file system names no larger block (BUFSIZ is twice that). */
#define STREAM_BUFFER 4096.0

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_step_pattern *pattern = step->pattern;

    return pattern != NULL && (double)pattern->small >= input->thresholds->many_requests &&
                   wio_finding_part(pattern->small_ns, step->time_ns) >= input->thresholds->dominant
               ? 1
               : 0;
}

/* A stream that is flushed when its buffer is full, and at the end. */
static void describe_flushes(const struct wio_finding_group *group, struct wio_finding *finding)
{
    double full = ceil((double)group->bytes / STREAM_BUFFER);

    (void)snprintf(finding->change, sizeof(finding->change),
                   "let the buffer of the stream fill: fflush at the end, or where it is read");
    wio_finding_removes(finding, full / (double)group->count);
}

static void describe_change(const struct wio_finding_input *input,
                            const struct wio_finding_group *group, const char *verb,
                            struct wio_finding *finding)
{
    const struct wio_library_buffer *buffer = wio_finding_buffer(input, group);

    if (wio_finding_site(input, &input->steps->steps[group->lead])->outer == WIO_OP_fflush) {
        describe_flushes(group, finding);
        return;
    }
    if (wio_finding_larger(input, group, finding)) {
        return;
    }
    if (buffer != NULL) {
        (void)snprintf(finding->change, sizeof(finding->change),
                       "requests of 1 MiB: by a buffer of %s (%s by default): %s", buffer->name,
                       buffer->size, buffer->larger);
    } else {
        (void)snprintf(finding->change, sizeof(finding->change),
                       "requests of 1 MiB: gather %ss in a buffer", verb);
    }
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--aggregate=1M");
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    const char *verb = wio_finding_verb(input, group);
    struct wio_finding_words words = {0};

    finding->kind = verb[0] == 'r' ? "small_reads" : "small_writes";
    (void)snprintf(finding->title, sizeof(finding->title), "%s %ss of %s each",
                   wio_finding_count(&words, group->count), verb,
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)));
    (void)snprintf(finding->detail, sizeof(finding->detail), "%s each, %s in all",
                   wio_finding_time(&words, wio_finding_part(group->time_ns, group->count)),
                   wio_finding_size(&words, (double)group->bytes));
    wio_finding_requests(group, finding);
    describe_change(input, group, verb, finding);
}

const struct wio_finding_kind wio_finding_small_requests = {.kind = "small_requests",
                                                            .is_general = false,
                                                            .is_of_library = true,
                                                            .by = WIO_BY_PLACE,
                                                            .claim = claim,
                                                            .describe = describe};
