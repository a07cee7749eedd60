/* SPDX-License-Identifier: Apache-2.0 */
/* Threads do their I/O one after the other: a token, a lock or rounds of a barrier. */
#include <stdio.h>

#include "explain/findings/finding.h"
#include "ops/calls.h"

#define MAX_FRAMES 64u

static double claim(const struct wio_finding_input *input, const struct wio_step *step)
{
    return input->serial->is_there && input->in_turn[step - input->steps->steps] != 0 ? 1 : 0;
}

static const char *means_of(const struct wio_finding_input *input)
{
    const struct wio_step *step = &input->steps->steps[input->serial->step];
    const struct wio_site *site = wio_finding_site(input, step);
    enum wio_class cls = wio_op_class(site->op);

    if (site->outer - WIO_OUTER_SHADOW >= WIO_EVIDENCE_COUNT) {
        return "rounds of a collective";
    }
    if (cls == WIO_CLASS_SEM_WAIT) {
        return "a semaphore";
    }
    return site->outer - WIO_OUTER_SHADOW == WIO_EVIDENCE_LOCK || cls == WIO_CLASS_MUTEX ||
                   cls == WIO_CLASS_LOCK || cls == WIO_CLASS_FCNTL
               ? "a lock"
               : "a token";
}

/* A lock that a template of a library takes has no stack: its line is not the program's. */
static bool has_line(const struct wio_finding_input *input, uint32_t step)
{
    const struct wio_places *places = &input->steps->places;
    uint32_t place = wio_finding_site(input, &input->steps->steps[step])->place;
    struct wio_frame frames[MAX_FRAMES];

    if (place == 0 || places->texts == NULL) {
        return true;
    }
    uint32_t number = places->frame_numbers[place];
    uint32_t count = wio_trace_source(input->trace, places->sources[place], frames, MAX_FRAMES);
    return number >= count || number >= MAX_FRAMES ||
           !wio_sources_is_header(places->texts, &frames[number]);
}

static void describe(const struct wio_finding_input *input, const struct wio_finding_group *group,
                     struct wio_finding *finding)
{
    struct wio_finding_words words = {0};

    (void)snprintf(finding->title, sizeof(finding->title),
                   "I/O of %u threads one after the other, by %s", input->serial->threads,
                   means_of(input));
    (void)snprintf(finding->detail, sizeof(finding->detail),
                   "%s requests of %s; each thread waits here until the one before has done its "
                   "I/O",
                   wio_finding_count(&words, group->count),
                   wio_finding_size(&words, wio_finding_part(group->bytes, group->count)));
    wio_finding_item(finding, "threads", input->serial->threads, "");
    wio_finding_requests(group, finding);
    if (has_line(input, input->serial->step)) { /* else that of the I/O */
        finding->step = input->serial->step;
    }
    (void)snprintf(finding->change, sizeof(finding->change),
                   "let the threads do this I/O at the same time, each in its own file or part");
    wio_finding_removes(finding, 1.0 / input->serial->threads);
}

const struct wio_finding_kind wio_finding_serialised = {.kind = "serialised",
                                                        .is_general = false,
                                                        .by = WIO_BY_ROLE,
                                                        .claim = claim,
                                                        .describe = describe};
