/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of findings have in common. */
#include <stdio.h>

#include "base/text.h"
#include "explain/findings/finding.h"
#include "ops/calls.h"

const struct wio_site *wio_finding_site(const struct wio_finding_input *input,
                                        const struct wio_step *step)
{
    return &input->steps->sites[step->site];
}

unsigned wio_finding_class(const struct wio_finding_input *input, const struct wio_step *step)
{
    return wio_op_class(wio_finding_site(input, step)->op);
}

unsigned wio_finding_outer_class(const struct wio_finding_input *input, const struct wio_step *step)
{
    uint16_t outer = wio_finding_site(input, step)->outer;

    return outer >= WIO_OUTER_CHANNEL ? (unsigned)WIO_CLASS_UNKNOWN : wio_op_class(outer);
}

bool wio_finding_is_of_stream(const struct wio_finding_input *input, const struct wio_step *step)
{
    unsigned outer = wio_finding_outer_class(input, step);

    return outer == WIO_CLASS_STDIO_READ || outer == WIO_CLASS_STDIO_WRITE ||
           outer == WIO_CLASS_STDIO_FLUSH || outer == WIO_CLASS_STDIO_SEEK;
}

double wio_finding_part(uint64_t a, uint64_t b)
{
    return b == 0 ? 0 : (double)a / (double)b;
}

int32_t wio_finding_rank(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_stream_info *stream = wio_trace_stream(input->trace, step->stream);

    return wio_trace_process(input->trace, stream->process)->rank;
}

struct wio_rank_set wio_finding_copy_ranks(const struct wio_rank_set *from,
                                           struct wio_rank_set ranks)
{
    struct wio_rank_set copy = {0};

    for (int32_t rank = 0; (rank = wio_rank_set_next(from, rank)) >= 0; rank++) {
        if (wio_rank_set_add(&copy, rank) != WIO_OK) {
            wio_rank_set_fini(&copy);
            return ranks;
        }
    }
    wio_rank_set_fini(&ranks);
    return copy;
}

bool wio_finding_is_io(const struct wio_finding_input *input, const struct wio_step *step)
{
    return wio_finding_site(input, step)->kind == WIO_STEP_IO;
}

double wio_finding_stalled(const struct wio_finding_input *input, const struct wio_step *step)
{
    const struct wio_step_pattern *pattern = step->pattern;
    unsigned cls = wio_finding_class(input, step);

    return pattern != NULL && (cls == WIO_CLASS_WRITE || cls == WIO_CLASS_COPY) &&
                   pattern->direct == 0 && pattern->stalled > 1 &&
                   (double)step->bytes >= input->thresholds->stalled_bytes
               ? wio_finding_part(pattern->stalled_ns, step->time_ns)
               : 0;
}

void wio_finding_removes(struct wio_finding *finding, double kept)
{
    finding->is_removal = kept < 1;
    finding->kept = kept > 0 ? kept : 0;
}

void wio_finding_item(struct wio_finding *finding, const char *key, double value, const char *unit)
{
    if (finding->evidence_count < WIO_EVIDENCE_ITEMS) {
        finding->evidence[finding->evidence_count++] = (struct wio_finding_item){key, value, unit};
    }
}

static char *next_word(struct wio_finding_words *words)
{
    return words->text[words->at++ % WIO_FINDING_WORDS];
}

const char *wio_finding_size(struct wio_finding_words *words, double bytes)
{
    return wio_format_size(next_word(words), bytes > 0 ? (uint64_t)(bytes + 0.5) : 0);
}

const char *wio_finding_time(struct wio_finding_words *words, double ns)
{
    return wio_format_time(next_word(words), ns > 0 ? (uint64_t)(ns + 0.5) : 0);
}

const char *wio_finding_count(struct wio_finding_words *words, uint64_t count)
{
    return wio_format_count(next_word(words), count);
}

void wio_finding_requests(const struct wio_finding_group *group, struct wio_finding *finding)
{
    wio_finding_item(finding, "requests", (double)group->count, "");
    wio_finding_item(finding, "bytes", (double)group->bytes, "B");
    wio_finding_item(finding, "bytes_per_request", wio_finding_part(group->bytes, group->count),
                     "B");
    wio_finding_item(finding, "time_per_request",
                     wio_finding_part(group->time_ns, group->count) / 1e9, "s");
}

const char *wio_finding_verb(const struct wio_finding_input *input,
                             const struct wio_finding_group *group)
{
    unsigned cls = wio_finding_class(input, &input->steps->steps[group->lead]);

    return cls == WIO_CLASS_READ || cls == WIO_CLASS_ASYNC_READ || cls == WIO_CLASS_STDIO_READ
               ? "read"
               : "write";
}
