/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the turns that any thread may take (task_pool.h). */
#include <stdlib.h>

#include "base/cleanup.h"
#include "schedule/task_pool.h"

static int by_lock(const void *a, const void *b)
{
    const struct wio_turn_span *x = a;
    const struct wio_turn_span *y = b;
    if (x->lock != y->lock) {
        return x->lock < y->lock ? -1 : 1;
    }
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int by_stream(const void *a, const void *b)
{
    const struct wio_turn_span *x = a;
    const struct wio_turn_span *y = b;
    if (x->stream != y->stream) {
        return x->stream < y->stream ? -1 : 1;
    }
    return (x->first_seq > y->first_seq) - (x->first_seq < y->first_seq);
}

static int by_time(const void *a, const void *b, void *arg)
{
    const struct wio_turn *turns = arg;
    const struct wio_turn *x = &turns[*(const uint32_t *)a];
    const struct wio_turn *y = &turns[*(const uint32_t *)b];
    return (x->taken_ns > y->taken_ns) - (x->taken_ns < y->taken_ns);
}

/* One pool at most: spans of one lock, each of which overlaps in time with one before it. */
static uint32_t cluster_end(const struct wio_turns *turns, uint32_t begin)
{
    uint64_t end_ns = turns->spans[begin].end_ns;
    uint32_t i = begin + 1;
    for (; i < turns->span_count && turns->spans[i].lock == turns->spans[begin].lock &&
           turns->spans[i].begin_ns < end_ns;
         i++) {
        end_ns = turns->spans[i].end_ns > end_ns ? turns->spans[i].end_ns : end_ns;
    }
    return i;
}

/* The same ones, for the same purpose. */
static bool has_same_files(const struct wio_turn_span *a, const struct wio_turn_span *b)
{
    for (uint32_t i = 0; i < a->files; i++) {
        uint32_t k = 0;
        while (k < b->files && b->paths[k] != a->paths[i]) {
            k++;
        }
        if (k == b->files || a->uses[i] != b->uses[k]) {
            return false;
        }
    }
    return a->files == b->files;
}

/* Several threads, all of which can do what any of them did. */
static bool is_shared(const struct wio_turns *turns, uint32_t begin, uint32_t end)
{
    bool is_several = false;
    for (uint32_t i = begin + 1; i < end; i++) {
        is_several |= turns->spans[i].stream != turns->spans[begin].stream;
        if (!has_same_files(&turns->spans[begin], &turns->spans[i])) {
            return false;
        }
    }
    return is_several;
}

/* Does the place of the work go with the order? */
static bool is_in_order(const struct wio_turns *turns, const uint32_t *order, uint32_t count)
{
    const struct wio_turn *first = &turns->turns[order[0]];
    bool goes_up = true;
    bool goes_down = true;
    for (uint32_t i = 1; i < count; i++) {
        const struct wio_turn *before = &turns->turns[order[i - 1]];
        const struct wio_turn *turn = &turns->turns[order[i]];
        goes_up &= turn->offset > before->offset;
        goes_down &= turn->offset < before->offset;
        if (turn->op != first->op || turn->path != first->path || (!goes_up && !goes_down)) {
            return false;
        }
    }
    return true;
}

/* Turns of the spans, behind those of the pools before. */
static uint32_t gather(struct wio_turns *turns, uint32_t begin, uint32_t end, uint32_t at)
{
    uint32_t first = at;
    for (uint32_t i = begin; i < end; i++) {
        for (uint32_t k = 0; k < turns->spans[i].count; k++) {
            turns->order[at++] = turns->spans[i].first + k;
        }
    }
    qsort_r(&turns->order[first], at - first, sizeof(*turns->order), by_time, turns->turns);
    return at - first;
}

static void try_pool(struct wio_turns *turns, uint32_t begin, uint32_t end, uint32_t *placed)
{
    if (!is_shared(turns, begin, end)) {
        return;
    }
    uint32_t count = gather(turns, begin, end, *placed);
    if (count < WIO_TURNS_MIN || !is_in_order(turns, &turns->order[*placed], count)) {
        return;
    }
    for (uint32_t i = begin; i < end; i++) {
        turns->spans[i].pool = turns->pool_count;
    }
    turns->pools[turns->pool_count++] = (struct wio_turn_pool){*placed, count};
    *placed += count;
}

static void drop_others(struct wio_turns *turns)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < turns->span_count; i++) {
        if (turns->spans[i].pool != UINT32_MAX) {
            turns->spans[kept++] = turns->spans[i];
        }
    }
    turns->span_count = kept;
}

enum wio_status wio_turns_settle(struct wio_turns *turns)
{
    uint32_t placed = 0;
    turns->order = calloc((size_t)turns->turn_count + 1, sizeof(*turns->order));
    turns->pools = calloc((size_t)turns->span_count + 1, sizeof(*turns->pools));
    if (turns->order == NULL || turns->pools == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (turns->span_count == 0) {
        return WIO_OK;
    }
    qsort(turns->spans, turns->span_count, sizeof(*turns->spans), by_lock);
    for (uint32_t i = 0; i < turns->span_count;) {
        uint32_t end = cluster_end(turns, i);
        try_pool(turns, i, end, &placed);
        i = end;
    }
    drop_others(turns);
    qsort(turns->spans, turns->span_count, sizeof(*turns->spans), by_stream);
    return WIO_OK;
}
