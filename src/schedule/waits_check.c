/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycle check of waits. All streams are walked as far as their acts let them, without any time: a
 * stream that is left over in the end waits for another one that is. Locks and queues take no part,
 * their order is made by the replay.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "schedule/waits.h"
#include "schedule/waits_name.h"

#define NAMED_MOST 6u

struct waits_walk {
    const struct wio_waits *waits;
    size_t *at;        /* of each stream: its next act */
    bool *given;       /* edges */
    uint32_t *entered; /* meetings: givers that have come */
    uint32_t *ready;   /* streams that may be able to go on */
    bool *is_ready;
    uint32_t ready_count;
    uint32_t *comer; /* of each meeting: 1 + a stream that has yet to come, 0 = none; in the end */
};

static void make_ready(struct waits_walk *walk, uint32_t stream)
{
    if (!walk->is_ready[stream]) {
        walk->is_ready[stream] = true;
        walk->ready[walk->ready_count++] = stream;
    }
}

static bool is_blocked(const struct waits_walk *walk, const struct wio_act *act)
{
    if (act->kind == WIO_ACT_TAKE) {
        return !walk->given[act->index];
    }
    return act->kind == WIO_ACT_LEAVE &&
           walk->entered[act->index] < walk->waits->meetings[act->index].givers;
}

/* Streams that wait for a collective are searched for among all: only when its last giver has
 * come. */
static void enter(struct waits_walk *walk, uint32_t meeting)
{
    if (++walk->entered[meeting] != walk->waits->meetings[meeting].givers) {
        return;
    }
    for (uint32_t i = 0; i < walk->waits->stream_count; i++) {
        size_t at = walk->at[i];
        if (at < walk->waits->first[i + 1] && walk->waits->acts[at].kind == WIO_ACT_LEAVE &&
            walk->waits->acts[at].index == meeting) {
            make_ready(walk, i);
        }
    }
}

static void run(struct waits_walk *walk, uint32_t stream)
{
    const struct wio_waits *waits = walk->waits;
    for (; walk->at[stream] < waits->first[stream + 1]; walk->at[stream]++) {
        const struct wio_act *act = &waits->acts[walk->at[stream]];
        if (is_blocked(walk, act)) {
            return;
        }
        if (act->kind == WIO_ACT_GIVE || act->kind == WIO_ACT_GIVE_END) {
            walk->given[act->index] = true;
            make_ready(walk, waits->edges[act->index].to_stream);
        } else if (act->kind == WIO_ACT_ENTER) {
            enter(walk, act->index);
        }
    }
}

static void run_all(struct waits_walk *walk)
{
    for (uint32_t i = 0; i < walk->waits->stream_count; i++) {
        make_ready(walk, i);
    }
    while (walk->ready_count > 0) {
        uint32_t stream = walk->ready[--walk->ready_count];
        walk->is_ready[stream] = false;
        run(walk, stream);
    }
}

static bool is_left(const struct waits_walk *walk, uint32_t stream)
{
    return walk->at[stream] < walk->waits->first[stream + 1];
}

/* Once for all meetings: there may be as many as there are steps to the cycle. */
static bool find_comers(struct waits_walk *walk)
{
    const struct wio_waits *waits = walk->waits;
    walk->comer = calloc((size_t)waits->meeting_count + 1, sizeof(*walk->comer));
    for (uint32_t i = 0; walk->comer != NULL && i < waits->stream_count; i++) {
        for (size_t at = walk->at[i]; at < waits->first[i + 1]; at++) {
            const struct wio_act *act = &waits->acts[at];
            if (act->kind == WIO_ACT_ENTER && walk->comer[act->index] == 0) {
                walk->comer[act->index] = i + 1;
            }
        }
    }
    return walk->comer != NULL;
}

/* A stream that the one that is left waits for: that of the edge, or one that has yet to come to
 * the collective. */
static uint32_t waited_for(const struct waits_walk *walk, uint32_t stream)
{
    const struct wio_act *act = &walk->waits->acts[walk->at[stream]];
    if (act->kind == WIO_ACT_TAKE) {
        return walk->waits->edges[act->index].from_stream;
    }
    uint32_t comer = walk->comer[act->index];
    return comer != 0 ? comer - 1 : stream;
}

static enum wio_status name_circle(const struct waits_walk *walk, uint32_t stream,
                                   struct wio_error *err)
{
    char text[WIO_NAME_MAX];
    for (uint32_t i = 0; i < walk->waits->stream_count; i++) {
        stream = waited_for(walk, stream); /* now certainly on the cycle itself */
    }
    (void)wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                        "the waits of the trace form a cycle");
    uint32_t first = stream;
    for (uint32_t i = 0; i < NAMED_MOST; i++) {
        const struct wio_act *act = &walk->waits->acts[walk->at[stream]];
        wio_error_add(err, "%s", wio_name_wait(walk->waits, stream, act, text));
        stream = waited_for(walk, stream);
        if (stream == first) {
            break;
        }
    }
    return WIO_ERR_FORMAT;
}

static bool walk_init(struct waits_walk *walk, const struct wio_waits *waits)
{
    size_t streams = (size_t)waits->stream_count + 1;
    walk->waits = waits;
    walk->at = calloc(streams, sizeof(*walk->at));
    walk->given = calloc((size_t)waits->edge_count + 1, sizeof(*walk->given));
    walk->entered = calloc((size_t)waits->meeting_count + 1, sizeof(*walk->entered));
    walk->ready = calloc(streams, sizeof(*walk->ready));
    walk->is_ready = calloc(streams, sizeof(*walk->is_ready));
    if (walk->at == NULL || walk->given == NULL || walk->entered == NULL || walk->ready == NULL ||
        walk->is_ready == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < waits->stream_count; i++) {
        walk->at[i] = waits->first[i];
    }
    return true;
}

static void walk_fini(struct waits_walk *walk)
{
    free(walk->at);
    free(walk->given);
    free(walk->entered);
    free(walk->ready);
    free(walk->is_ready);
    free(walk->comer);
}

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                         "no memory for the waits of the trace");
}

enum wio_status wio_waits_check(const struct wio_waits *waits, struct wio_error *err)
{
    struct waits_walk walk WIO_CLEANUP(walk_fini) = {0};
    if (!walk_init(&walk, waits)) {
        return no_memory(err);
    }
    run_all(&walk);
    for (uint32_t i = 0; i < waits->stream_count; i++) {
        if (is_left(&walk, i)) {
            return find_comers(&walk) ? name_circle(&walk, i, err) : no_memory(err);
        }
    }
    return WIO_OK;
}
