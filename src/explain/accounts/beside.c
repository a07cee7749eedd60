/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/accounts/beside.h"

#include <stdlib.h>

#include "base/cleanup.h"

/* Shorter transfers are served from memory: how many there are at a time says nothing. */
#define SHORT_NS 20000u

struct wio_beside_thread {
    uint64_t end_ns;      /* of the operations so far */
    uint64_t computed_ns; /* since its last transfer; ready without a processor counts, too */
};

struct wio_beside_transfer {
    uint64_t end_ns;
    uint64_t dur_ns;
    uint64_t bytes;
    double passed; /* at its begin */
    struct wio_step_pattern *pattern;
};

enum wio_status wio_beside_init(struct wio_beside *beside, uint32_t streams)
{
    beside->threads = calloc((size_t)streams + 1, sizeof(*beside->threads));
    beside->transfers = calloc((size_t)streams + 1, sizeof(*beside->transfers));
    beside->streams = streams;
    return beside->threads != NULL && beside->transfers != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

void wio_beside_fini(struct wio_beside *beside)
{
    free(beside->threads);
    free(beside->transfers);
}

/* ---- computing ---- */

void wio_beside_event(struct wio_beside *beside, const struct wio_event *event)
{
    struct wio_beside_thread *thread = &beside->threads[event->stream];
    uint64_t end_ns = event->t_ns + event->dur_ns;

    if (thread->end_ns != 0 && event->t_ns > thread->end_ns) {
        uint64_t gap_ns = event->t_ns - thread->end_ns;
        bool has_stood = event->gap_slept && event->gap_cpu_ns < gap_ns;
        thread->computed_ns += has_stood ? event->gap_cpu_ns : gap_ns;
    }
    thread->end_ns = end_ns > thread->end_ns ? end_ns : thread->end_ns;
}

/* ---- transfers under way ---- */

static void put(struct wio_beside *beside, const struct wio_beside_transfer *transfer)
{
    struct wio_beside_transfer *heap = beside->transfers;
    uint32_t at = beside->count++;

    while (at > 0 && heap[(at - 1) / 2].end_ns > transfer->end_ns) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = *transfer;
}

static struct wio_beside_transfer take_first(struct wio_beside *beside)
{
    struct wio_beside_transfer *heap = beside->transfers;
    struct wio_beside_transfer first = heap[0];
    struct wio_beside_transfer last = heap[--beside->count];
    uint32_t at = 0;

    for (uint32_t child = 1; child < beside->count; child = 2 * at + 1) {
        child += child + 1 < beside->count && heap[child + 1].end_ns < heap[child].end_ns;
        if (heap[child].end_ns >= last.end_ns) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

static void go_to(struct wio_beside *beside, uint64_t ns)
{
    beside->passed += (double)beside->count * (double)(ns - beside->now_ns);
    beside->now_ns = ns;
}

/* 1, 2, 3 to 4, 5 to 8 .. transfers at a time. */
static uint32_t level_of(double count)
{
    uint32_t level = 0;

    while (level + 1 < WIO_LEVELS && (double)(1u << level) + 0.5 <= count) {
        level++;
    }
    return level;
}

static void end_first(struct wio_beside *beside)
{
    go_to(beside, beside->transfers[0].end_ns);
    struct wio_beside_transfer ended = take_first(beside);
    uint32_t level = level_of((beside->passed - ended.passed) / (double)ended.dur_ns);

    struct wio_level *row = &ended.pattern->levels[level];
    row->count++;
    row->bytes += ended.bytes;
    row->ns += ended.dur_ns;
}

void wio_beside_add(struct wio_beside *beside, const struct wio_event *event, uint64_t bytes,
                    struct wio_step_pattern *pattern)
{
    struct wio_beside_thread *thread = &beside->threads[event->stream];
    bool is_first = pattern->stalled + pattern->usual <= 1;

    if ((event->flags & WIO_EVENT_ASYNC) != 0) {
        return;
    }
    pattern->overlap_ns +=
        thread->computed_ns < event->dur_ns ? thread->computed_ns : event->dur_ns;
    pattern->computed_ns += is_first ? 0 : thread->computed_ns;
    pattern->overlaps += thread->computed_ns >= event->dur_ns / 2;
    thread->computed_ns = 0;
    if (event->dur_ns < SHORT_NS) {
        return;
    }
    while (beside->count > 0 && beside->transfers[0].end_ns <= event->t_ns) {
        end_first(beside);
    }
    if (beside->count == beside->streams || event->t_ns < beside->now_ns) {
        return; /* the times of a thread are odd */
    }
    go_to(beside, event->t_ns);
    struct wio_beside_transfer transfer = {.end_ns = event->t_ns + event->dur_ns,
                                           .dur_ns = event->dur_ns,
                                           .bytes = bytes,
                                           .passed = beside->passed,
                                           .pattern = pattern};
    put(beside, &transfer);
}

void wio_beside_end(struct wio_beside *beside)
{
    while (beside->count > 0) {
        end_first(beside);
    }
}
