/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any thread may get what any thread has put, in an order that need not be the recorded one. So
 * nothing may get lost: a post that nobody waited for in the trace is what some thread lives on
 * when another one came first. Edges tie only posts and waits of different threads; here every
 * post puts and every wait gets.
 */
#include "plan/tokens.h"

#include <stdlib.h>

#include "trace/calls.h"

#define ROOM_FIRST 256u

static bool grow(struct wio_waits *waits)
{
    if (waits->token_count < waits->token_room) {
        return true;
    }
    if (waits->token_room > UINT32_MAX / 4) {
        return false;
    }
    uint32_t room = waits->token_room == 0 ? ROOM_FIRST : waits->token_room * 2;
    struct wio_plan_token *more = reallocarray(waits->tokens, room, sizeof(*more));
    if (more != NULL) {
        waits->tokens = more;
        waits->token_room = room;
    }
    return more != NULL;
}

enum wio_status wio_tokens_see(struct wio_waits *waits, const struct wio_event *event,
                               uint32_t image, uint32_t edge)
{
    enum wio_class cls = wio_op_class(event->op);
    bool is_put = cls == WIO_CLASS_SEM_POST;
    if ((!is_put && cls != WIO_CLASS_SEM_WAIT) || event->error != 0) {
        return WIO_OK;
    }
    if (!grow(waits)) {
        return WIO_ERR_NOMEM;
    }
    waits->tokens[waits->token_count++] = (struct wio_plan_token){
        .object = wio_lock_key(image, event->arg[0]),
        .seq = event->seq,
        .t_ns = event->t_ns + (is_put ? 0 : event->dur_ns),
        .stream = event->stream,
        .edge = edge,
        .is_put = is_put,
    };
    return WIO_OK;
}

static void keep_queues(struct wio_waits *waits)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < waits->token_count; i++) {
        struct wio_plan_token *token = &waits->tokens[i];
        const uint64_t *queue = wio_map_get(&waits->semaphores, token->object);
        if (queue != NULL) {
            token->queue = (uint32_t)*queue;
            waits->tokens[kept++] = *token;
        }
    }
    waits->token_count = kept;
}

static int by_time(const void *a, const void *b, void *arg)
{
    const struct wio_plan_token *tokens = arg;
    const struct wio_plan_token *x = &tokens[*(const uint32_t *)a];
    const struct wio_plan_token *y = &tokens[*(const uint32_t *)b];
    if (x->t_ns != y->t_ns) {
        return x->t_ns < y->t_ns ? -1 : 1;
    }
    return (int)y->is_put - (int)x->is_put;
}

/* A semaphore's first value is not in a trace: the least that lets the recorded order happen. */
static void count_spare(struct wio_waits *waits, const uint32_t *order, uint32_t *held)
{
    for (uint32_t i = 0; i < waits->token_count; i++) {
        const struct wio_plan_token *token = &waits->tokens[order[i]];
        if (token->is_put) {
            held[token->queue]++;
        } else if (held[token->queue] > 0) {
            held[token->queue]--;
        } else {
            waits->spare[token->queue]++;
        }
    }
}

enum wio_status wio_tokens_settle(struct wio_waits *waits)
{
    keep_queues(waits);
    uint32_t *order = calloc((size_t)waits->token_count + 1, sizeof(*order));
    uint32_t *held = calloc((size_t)waits->queue_count + 1, sizeof(*held));
    waits->spare = calloc((size_t)waits->queue_count + 1, sizeof(*waits->spare));
    bool is_there = order != NULL && held != NULL && waits->spare != NULL;
    for (uint32_t i = 0; is_there && i < waits->token_count; i++) {
        order[i] = i;
    }
    if (is_there) {
        qsort_r(order, waits->token_count, sizeof(*order), by_time, waits->tokens);
        count_spare(waits, order, held);
    }
    free(order);
    free(held);
    return is_there ? WIO_OK : WIO_ERR_NOMEM;
}

uint32_t wio_waits_queue(const struct wio_waits *waits, uint32_t index)
{
    return index < waits->edge_count ? waits->edges[index].queue
                                     : waits->tokens[index - waits->edge_count].queue;
}
