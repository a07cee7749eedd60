/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units of a queue may go to any thread: the program would have gone on in another way, but a trace
 * cannot. A thread that gets a unit out of recorded order and then waits for something else may
 * deadlock with the thread whose turn it was, and which now waits for the next unit. So a queue is
 * served in any order only where no thread waits for anything else between a get and its next put
 * or get. The others keep the recorded order, in which all threads came to an end: each get after
 * its put. Gets of one call count as one.
 */
#include "schedule/queues.h"

#include <stdlib.h>

#include "base/cleanup.h"

struct ordering {
    struct wio_waits *waits;
    bool *is_ordered; /* of each queue */
    bool *is_open;    /* of each queue: this stream has got from it, and not put since */
    uint32_t *open;   /* those */
    uint32_t open_count;
};

static void close_queue(struct ordering *ordering, uint32_t queue)
{
    uint32_t i = 0;
    if (!ordering->is_open[queue]) {
        return;
    }
    while (ordering->open[i] != queue) {
        i++;
    }
    ordering->open[i] = ordering->open[--ordering->open_count];
    ordering->is_open[queue] = false;
}

static void open_queue(struct ordering *ordering, uint32_t queue)
{
    if (!ordering->is_open[queue]) {
        ordering->open[ordering->open_count++] = queue;
        ordering->is_open[queue] = true;
    }
}

static void close_all(struct ordering *ordering, bool is_wait)
{
    while (ordering->open_count > 0) {
        uint32_t queue = ordering->open[ordering->open_count - 1];
        ordering->is_ordered[queue] |= is_wait;
        close_queue(ordering, queue);
    }
}

/* Those that are got together do not wait for each other. */
static void see_gets(struct ordering *ordering, const struct wio_act *acts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        close_queue(ordering, wio_waits_queue(ordering->waits, acts[i].index));
    }
    close_all(ordering, true);
    for (size_t i = 0; i < count; i++) {
        open_queue(ordering, wio_waits_queue(ordering->waits, acts[i].index));
    }
}

static void see_act(struct ordering *ordering, const struct wio_act *act, size_t together)
{
    switch (act->kind) {
    case WIO_ACT_PUT:
        close_queue(ordering, wio_waits_queue(ordering->waits, act->index));
        break;
    case WIO_ACT_GET:
        see_gets(ordering, act, together);
        break;
    case WIO_ACT_TAKE:
    case WIO_ACT_LEAVE:
    case WIO_ACT_LOCKED:
        close_all(ordering, true);
        break;
    default:
        break;
    }
}

static bool convert(struct ordering *ordering)
{
    bool is_any = false;
    struct wio_waits *waits = ordering->waits;
    for (uint32_t i = 0; i < waits->token_count; i++) {
        struct wio_plan_token *token = &waits->tokens[i];
        if (token->queue != UINT32_MAX && ordering->is_ordered[token->queue]) {
            if (token->kind == WIO_TOKEN_GET && token->edge != UINT32_MAX) {
                waits->edges[token->edge].how = WIO_BY_EDGE;
                is_any = true;
            }
            token->queue = UINT32_MAX;
        }
    }
    for (uint32_t i = 0; i < waits->edge_count; i++) {
        struct wio_plan_edge *edge = &waits->edges[i];
        if (edge->how == WIO_BY_QUEUE && ordering->is_ordered[edge->queue]) {
            edge->how = WIO_BY_EDGE;
            is_any = true;
        }
    }
    return is_any;
}

static void ordering_fini(struct ordering *ordering)
{
    free(ordering->is_ordered);
    free(ordering->is_open);
    free(ordering->open);
}

enum wio_status wio_queues_order(struct wio_waits *waits, bool *changed_out)
{
    size_t room = (size_t)waits->queue_count + 1;
    struct ordering ordering WIO_CLEANUP(ordering_fini) = {
        .waits = waits,
        .is_ordered = calloc(room, sizeof(bool)),
        .is_open = calloc(room, sizeof(bool)),
        .open = calloc(room, sizeof(uint32_t)),
    };
    *changed_out = false;
    if (ordering.is_ordered == NULL || ordering.is_open == NULL || ordering.open == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t stream = 0; stream < waits->stream_count; stream++) {
        size_t together;
        for (size_t i = waits->first[stream]; i < waits->first[stream + 1]; i += together) {
            together = wio_waits_together(waits, i, waits->first[stream + 1]);
            see_act(&ordering, &waits->acts[i], together);
        }
        close_all(&ordering, false);
    }
    *changed_out = convert(&ordering);
    return WIO_OK;
}
