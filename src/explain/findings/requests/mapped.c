/* SPDX-License-Identifier: Apache-2.0 */
/* A thread stands between two operations while files are mapped: pages of them are read. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return wio_finding_site(input, step)->kind == WIO_STEP_SLEPT &&
                   input->maps[wio_trace_stream(input->trace, step->stream)->process] != 0
               ? 1
               : 0;
}

/* Of one map. */
static double bytes_of(const struct wio_step *step)
{
    return wio_finding_part(step->asked, step->count);
}

/* Rings and devices are mapped, too. */
static bool is_file(const struct wio_finding_input *input, const struct wio_step *step)
{
    return step->path == WIO_SEVERAL_FILES ||
           (step->path != 0 && step->path < input->patterns->path_count &&
            input->patterns->is_data[step->path] != 0);
}

/* The largest map of a file in the processes of the finding; WIO_NO_STEP: none. */
static uint32_t find_map(const struct wio_finding_input *input, const struct wio_finding *finding)
{
    uint32_t role = input->steps->roles[input->steps->steps[finding->step].stream];
    uint32_t found = WIO_NO_STEP;

    for (uint32_t i = 0; i < input->steps->count; i++) {
        const struct wio_step *step = &input->steps->steps[i];
        bool is_map = wio_finding_site(input, step)->op == WIO_OP_mmap && is_file(input, step) &&
                      input->maps[wio_trace_stream(input->trace, step->stream)->process] != 0 &&
                      input->steps->roles[step->stream] == role;
        if (is_map &&
            (found == WIO_NO_STEP || bytes_of(step) > bytes_of(&input->steps->steps[found]))) {
            found = i;
        }
    }
    return found;
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    uint32_t map = find_map(input, finding);

    (void)group;
    (void)snprintf(finding->title, sizeof(finding->title),
                   "standing between operations while a file is mapped: page faults");
    if (map != WIO_NO_STEP) {
        struct wio_finding_words words = {0};
        finding->step = map;
        finding->path = input->steps->steps[map].path;
        (void)snprintf(finding->detail, sizeof(finding->detail), "%s are mapped here",
                       wio_finding_size(&words, bytes_of(&input->steps->steps[map])));
    }
    (void)snprintf(finding->change, sizeof(finding->change),
                   "read the file in large requests, or ask for its pages early (madvise)");
    (void)snprintf(finding->predict_options, sizeof(finding->predict_options), "--read-maps=1M");
}

const struct wio_finding_kind wio_finding_mapped = {.kind = "mapped_faults",
                                                    .is_general = false,
                                                    .by = WIO_BY_PLACE,
                                                    .claim = claim,
                                                    .describe = describe};
