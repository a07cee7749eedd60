/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/changes/phases.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/cleanup.h"

#define NONE UINT32_MAX

/* ---- ranks ---- */

static int32_t recorded_rank(const struct wio_trace *trace, uint32_t stream)
{
    return wio_trace_process(trace, wio_trace_stream(trace, stream)->process)->rank;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a;
    int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The recorded ranks that have a stream, each once, rising. Gives their number. */
static uint32_t collect_ranks(const struct wio_trace *trace, int32_t *ranks)
{
    uint32_t count = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < wio_trace_stream_count(trace); i++) {
        int32_t rank = recorded_rank(trace, i);
        if (rank >= 0) {
            ranks[count++] = rank;
        }
    }
    if (count > 0) {
        qsort(ranks, count, sizeof(*ranks), by_number);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || ranks[kept - 1] != ranks[i]) {
            ranks[kept++] = ranks[i];
        }
    }
    return kept;
}

/* Recorded ranks may have gaps (a part of the ranks was recorded): here they are numbered 0, 1 ..
 * in their order. */
static enum wio_status find_ranks(struct wio_program_phases *phases)
{
    const struct wio_trace *trace = phases->program->trace;
    uint32_t streams = wio_trace_stream_count(trace);
    int32_t *recorded = calloc((size_t)streams + 1, sizeof(*recorded));
    if (recorded == NULL) {
        return WIO_ERR_NOMEM;
    }
    phases->rank_count = collect_ranks(trace, recorded);
    for (uint32_t i = 0; i < streams; i++) {
        int32_t rank = recorded_rank(trace, i);
        const int32_t *at =
            bsearch(&rank, recorded, phases->rank_count, sizeof(*recorded), by_number);
        phases->ranks[i] = at != NULL ? (uint32_t)(at - recorded) : NONE;
    }
    free(recorded);
    return WIO_OK;
}

static bool is_meeting(const struct wio_act *act)
{
    return act->kind == WIO_ACT_LEAVE || act->kind == WIO_ACT_ENTER;
}

static uint64_t memberships(const struct wio_waits *waits, uint32_t stream)
{
    uint64_t count = 0;
    for (size_t i = waits->first[stream]; i < waits->first[stream + 1]; i++) {
        count += is_meeting(&waits->acts[i]);
    }
    return count;
}

static enum wio_status find_streams(struct wio_program_phases *phases)
{
    const struct wio_waits *waits = &phases->program->waits;
    uint32_t streams = wio_trace_stream_count(phases->program->trace);
    uint64_t *most = calloc((size_t)phases->rank_count + 1, sizeof(*most));
    if (most == NULL) {
        return WIO_ERR_NOMEM;
    }
    memset(phases->streams, 0xff, phases->rank_count * sizeof(*phases->streams)); /* NONE */
    for (uint32_t i = 0; i < streams; i++) {
        uint32_t rank = phases->ranks[i];
        uint64_t count = rank != NONE ? memberships(waits, i) : 0;
        if (rank != NONE && (phases->streams[rank] == NONE || count > most[rank])) {
            phases->streams[rank] = i;
            most[rank] = count;
        }
    }
    free(most);
    return WIO_OK;
}

/* ---- collectives of all ranks ---- */

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of a collective: how many ranks take part so far, and the last one of these. */
struct attendance {
    uint32_t ranks;
    uint32_t last; /* rank + 1 */
};

static void count_members(const struct wio_program_phases *phases, struct attendance *meetings)
{
    const struct wio_waits *waits = &phases->program->waits;
    for (uint32_t rank = 0; rank < phases->rank_count; rank++) {
        uint32_t stream = phases->streams[rank];
        for (size_t i = waits->first[stream]; i < waits->first[stream + 1]; i++) {
            const struct wio_act *act = &waits->acts[i];
            if (is_meeting(act) && meetings[act->index].last != rank + 1) {
                meetings[act->index].ranks++;
                meetings[act->index].last = rank + 1;
            }
        }
    }
}

static enum wio_status find_ends(struct wio_program_phases *phases)
{
    const struct wio_waits *waits = &phases->program->waits;
    struct attendance *counts = calloc((size_t)waits->meeting_count + 1, sizeof(*counts));
    phases->ends = calloc((size_t)waits->meeting_count + 1, sizeof(*phases->ends));
    phases->count = 1;
    if (counts == NULL || phases->ends == NULL) {
        free(counts);
        return WIO_ERR_NOMEM;
    }
    count_members(phases, counts);
    for (uint32_t i = 0; i < waits->meeting_count && phases->rank_count > 1; i++) {
        if (counts[i].ranks == phases->rank_count) {
            phases->ends[phases->count++ - 1] = waits->meetings[i].release_ns;
        }
    }
    free(counts);
    qsort(phases->ends, phases->count - 1, sizeof(*phases->ends), by_value);
    return WIO_OK;
}

enum wio_status wio_program_phases_init(struct wio_program_phases *phases,
                                        const struct wio_program *program)
{
    size_t streams = wio_trace_stream_count(program->trace);
    phases->program = program;
    phases->ranks = calloc(streams + 1, sizeof(*phases->ranks));
    if (phases->ranks == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(find_ranks(phases));
    phases->streams = calloc((size_t)phases->rank_count + 1, sizeof(*phases->streams));
    if (phases->streams == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(find_streams(phases));
    return find_ends(phases);
}

void wio_program_phases_fini(struct wio_program_phases *phases)
{
    free(phases->ends);
    free(phases->streams);
    free(phases->ranks);
    *phases = (struct wio_program_phases){0};
}

/* ---- moments and events ---- */

uint32_t wio_program_phases_at(const struct wio_program_phases *phases, uint64_t t_ns)
{
    return (uint32_t)WIO_FIRST(i, 0, phases->count - 1, phases->ends[i] > t_ns);
}

/* The first act of the stream at or behind `at` that is its part in a collective; `end`: none. */
static size_t next_meeting(const struct wio_waits *waits, size_t at, size_t end)
{
    while (at < end && !is_meeting(&waits->acts[at])) {
        at++;
    }
    return at;
}

/* The next part at or behind `at` is in a collective that had all before the moment. */
static bool has_met_before(const struct wio_waits *waits, size_t at, size_t end, uint64_t moment_ns)
{
    size_t next = next_meeting(waits, at, end);
    return next < end && waits->meetings[waits->acts[next].index].release_ns < moment_ns;
}

/* The stream's first part in a collective that had all at `moment_ns` or later. */
static const struct wio_act *part_at(const struct wio_waits *waits, uint32_t stream,
                                     uint64_t moment_ns)
{
    size_t end = waits->first[stream + 1];
    size_t first =
        WIO_FIRST(i, waits->first[stream], end, !has_met_before(waits, i, end, moment_ns));
    size_t at = next_meeting(waits, first, end);
    return at < end ? &waits->acts[at] : NULL;
}

uint64_t wio_program_phases_begin(const struct wio_program_phases *phases, uint32_t phase,
                                  uint32_t rank)
{
    const struct wio_waits *waits = &phases->program->waits;
    uint32_t number = phases->streams[rank];
    uint64_t first_seq = wio_trace_stream(phases->program->trace, number)->first_seq;
    const struct wio_act *act = phase > 0 ? part_at(waits, number, phases->ends[phase - 1]) : NULL;
    if (act == NULL) {
        return first_seq;
    }
    uint64_t seq = act->seq; /* it comes to the collective, and leaves it later */
    for (const struct wio_act *more = act;
         more < waits->acts + waits->first[number + 1] && more->seq <= seq + 1; more++) {
        seq = is_meeting(more) && more->index == act->index ? more->seq : seq;
    }
    return seq + 1;
}

uint64_t wio_program_phases_end(const struct wio_program_phases *phases, uint32_t phase,
                                uint32_t rank)
{
    uint32_t number = phases->streams[rank];
    const struct wio_stream_info *stream = wio_trace_stream(phases->program->trace, number);
    const struct wio_act *act = phase + 1 < phases->count
                                    ? part_at(&phases->program->waits, number, phases->ends[phase])
                                    : NULL;
    return act != NULL ? act->seq
                       : stream->first_seq + (stream->events > 0 ? stream->events - 1 : 0);
}
