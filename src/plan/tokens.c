/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any thread may get what any thread has put, in an order that need not be the recorded one. So
 * nothing may get lost: a post that nobody waited for in the trace is what some thread lives on
 * when another one came first. Edges tie only posts and waits of different threads; here every
 * post puts and every wait gets. What is made where another one was is a queue of its own.
 */
#include "plan/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "plan/gap.h"
#include "trace/calls.h"

/* More in one call are taken for so many: nobody does, but a broken trace may say it. */
#define UNITS_MAX 255

static int kind_of(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_SEM_POST:
        return WIO_TOKEN_PUT;
    case WIO_CLASS_SEM_INIT:
        return WIO_TOKEN_MAKE;
    case WIO_CLASS_SEM_WAIT:
        return WIO_TOKEN_GET;
    default:
        return -1;
    }
}

/* R-SYNC-6: a call of System V may give and take several. */
static uint32_t units_of(const struct wio_event *event)
{
    bool may_be_more = event->op == WIO_OP_semop || event->op == WIO_OP_semop_post;
    int64_t more = may_be_more && event->arg[1] > 0 ? event->arg[1] : 0;
    return 1 + (uint32_t)(more < UNITS_MAX ? more : UNITS_MAX);
}

enum wio_status wio_tokens_see(struct wio_waits *waits, const struct wio_event *event,
                               uint32_t image, uint32_t edge)
{
    int kind = kind_of(event);
    if (kind < 0 || event->error != 0) {
        return WIO_OK;
    }
    struct wio_plan_token token = {
        .object = wio_lock_key(image, event->arg[0]),
        .seq = event->seq,
        .t_ns = event->t_ns + (kind == WIO_TOKEN_GET ? event->dur_ns : 0),
        .stream = event->stream,
        .edge = edge,
        .queue = UINT32_MAX,
        .value = kind == WIO_TOKEN_MAKE ? (uint32_t)event->arg[1] : 0,
        .kind = (uint8_t)kind,
        .is_opened = kind == WIO_TOKEN_MAKE && event->arg[2] == 1,
    };
    uint32_t units = units_of(event);
    void *tokens = waits->tokens;
    WIO_TRY(wio_make_room(&tokens, sizeof(token), &waits->token_room, waits->token_count + units));
    waits->tokens = tokens;
    while (units-- > 0) {
        waits->tokens[waits->token_count++] = token;
        token.edge = UINT32_MAX;
    }
    return WIO_OK;
}

/* Only places in memory where some semaphore is a queue. */
static void keep_queues(struct wio_waits *waits)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < waits->token_count; i++) {
        if (wio_map_get(&waits->semaphores, waits->tokens[i].object) != NULL) {
            waits->tokens[kept++] = waits->tokens[i];
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
    return (int)x->kind - (int)y->kind;
}

struct settling {
    struct wio_waits *waits;
    uint32_t *order;   /* tokens by time */
    uint32_t *current; /* of each place: the queue of its semaphore, UINT32_MAX = not met yet */
    uint32_t *held;    /* of each queue: what it would hold now */
    bool *is_tied;     /* of each queue: an edge ends there */
};

static void begin_queue(struct settling *settling, uint32_t *queue, uint32_t value)
{
    *queue = settling->waits->queue_count++;
    settling->waits->spare[*queue] = value;
    settling->held[*queue] = value;
}

/* Where nobody saw how it began: with the least that lets the recorded order happen. */
static void get(struct settling *settling, const struct wio_plan_token *token)
{
    struct wio_waits *waits = settling->waits;
    if (settling->held[token->queue] > 0) {
        settling->held[token->queue]--;
    } else {
        waits->spare[token->queue]++;
    }
    if (token->edge != UINT32_MAX) {
        waits->edges[token->edge].queue = token->queue;
        settling->is_tied[token->queue] = true;
    }
}

static void walk(struct settling *settling)
{
    struct wio_waits *waits = settling->waits;
    for (uint32_t i = 0; i < waits->token_count; i++) {
        struct wio_plan_token *token = &waits->tokens[settling->order[i]];
        uint32_t *queue = &settling->current[*wio_map_get(&waits->semaphores, token->object)];
        bool is_begin = token->kind == WIO_TOKEN_MAKE && !token->is_opened;
        if (is_begin || *queue == UINT32_MAX) {
            begin_queue(settling, queue, token->value);
        }
        token->queue = *queue;
        if (token->kind == WIO_TOKEN_PUT) {
            settling->held[*queue]++;
        } else if (token->kind == WIO_TOKEN_GET) {
            get(settling, token);
        }
    }
}

static void drop_untied(struct settling *settling)
{
    for (uint32_t i = 0; i < settling->waits->token_count; i++) {
        struct wio_plan_token *token = &settling->waits->tokens[i];
        token->queue = settling->is_tied[token->queue] ? token->queue : UINT32_MAX;
    }
}

static bool settling_init(struct settling *settling, struct wio_waits *waits)
{
    size_t queues = (size_t)waits->queue_count + waits->semaphore_count + 1;
    for (uint32_t i = 0; i < waits->token_count; i++) {
        queues += waits->tokens[i].kind == WIO_TOKEN_MAKE;
    }
    waits->spare = calloc(queues, sizeof(*waits->spare));
    *settling = (struct settling){
        .waits = waits,
        .order = calloc((size_t)waits->token_count + 1, sizeof(*settling->order)),
        .current = calloc((size_t)waits->semaphore_count + 1, sizeof(*settling->current)),
        .held = calloc(queues, sizeof(*settling->held)),
        .is_tied = calloc(queues, sizeof(*settling->is_tied)),
    };
    if (waits->spare == NULL || settling->order == NULL || settling->current == NULL ||
        settling->held == NULL || settling->is_tied == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < waits->token_count; i++) {
        settling->order[i] = i;
    }
    memset(settling->current, 0xff, waits->semaphore_count * sizeof(*settling->current));
    return true;
}

static void settling_fini(struct settling *settling)
{
    free(settling->order);
    free(settling->current);
    free(settling->held);
    free(settling->is_tied);
}

enum wio_status wio_tokens_settle(struct wio_waits *waits)
{
    struct settling settling WIO_CLEANUP(settling_fini) = {0};
    keep_queues(waits);
    if (!settling_init(&settling, waits)) {
        return WIO_ERR_NOMEM;
    }
    qsort_r(settling.order, waits->token_count, sizeof(*settling.order), by_time, waits->tokens);
    walk(&settling);
    drop_untied(&settling);
    return WIO_OK;
}

/* Unless what it waited for had been there for so long that it had only to look once. */
static bool has_looked(const struct wio_plan_edge *edge, uint64_t t_ns)
{
    bool had_come =
        t_ns > edge->release_ns && wio_gap_was_busy(t_ns - edge->release_ns, edge->lag_ns);
    return edge->evidence == WIO_EVIDENCE_HELD && !had_come;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t wio_waits_computed(const struct wio_waits *waits, size_t act, size_t act_end,
                            const struct wio_event *event)
{
    uint64_t cpu_ns = event->gap_cpu_ns;
    for (; act < act_end && waits->acts[act].seq <= event->seq; act++) {
        const struct wio_act *next = &waits->acts[act];
        if (next->kind == WIO_ACT_TAKE && next->seq == event->seq &&
            has_looked(&waits->edges[next->index], event->t_ns)) {
            cpu_ns = least(cpu_ns, waits->edges[next->index].cpu_ns);
        }
    }
    return cpu_ns;
}

uint32_t wio_waits_queue(const struct wio_waits *waits, uint32_t index)
{
    return index < waits->edge_count ? waits->edges[index].queue
                                     : waits->tokens[index - waits->edge_count].queue;
}
