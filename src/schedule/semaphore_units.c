/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any thread may get what any thread has put, in an order that need not be the recorded one. So
 * nothing may get lost: no post may be dropped, since another order of threads may consume a post
 * that was surplus in the trace. Edges tie only posts and waits of different threads; here every
 * post puts and every wait gets. What is made where another one was is a queue of its own.
 *
 * A call of System V with several operations is atomic: its gets belong to its first event, its
 * puts come behind them. A trace does not say in which order its operations stand ({+1, -1} never
 * waits, {-1, +1} does): what a call gets where nothing is left at that moment of the trace are
 * units of its own, and both operations are left out.
 */
#include "schedule/semaphore_units.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/pick.h"
#include "ops/calls.h"
#include "schedule/thread_clock.h"

/* More in one call are taken for so many: only a broken trace has them. */
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
                               const struct wio_semop_call *call, uint32_t image, uint32_t edge)
{
    int kind = kind_of(event);
    if (kind < 0 || event->error != 0) {
        return WIO_OK;
    }
    bool is_late = kind == WIO_TOKEN_PUT && call->may_wait && call->seq < event->seq;
    bool is_at_end = is_late || kind == WIO_TOKEN_GET;
    struct wio_plan_token token = {
        .object = wio_lock_key(image, event->arg[0]),
        .seq = event->seq,
        .call_seq = call->seq,
        .is_late = is_late,
        .t_ns = event->t_ns + (is_at_end ? event->dur_ns : 0),
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

static int compare(uint64_t x, uint64_t y)
{
    return x == y ? 0 : x < y ? -1 : 1;
}

/* At a time: puts, what is made, gets, and puts behind what their call has got. Tokens of one call
 * and kind lie side by side, by object. */
static int by_time(const void *a, const void *b, void *arg)
{
    const struct wio_plan_token *tokens = arg;
    const struct wio_plan_token *x = &tokens[*(const uint32_t *)a];
    const struct wio_plan_token *y = &tokens[*(const uint32_t *)b];
    const int orders[] = {compare(x->t_ns, y->t_ns),         (int)x->is_late - (int)y->is_late,
                          (int)x->kind - (int)y->kind,       compare(x->stream, y->stream),
                          compare(x->call_seq, y->call_seq), compare(x->object, y->object)};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(orders); i++) {
        if (orders[i] != 0) {
            return orders[i];
        }
    }
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Gets of a stream's call that found nothing: its own puts may do. */
struct owed {
    uint32_t first; /* token, UINT32_MAX = none */
    uint32_t last;
};

struct settling {
    struct wio_waits *waits;
    uint32_t *order;   /* tokens by time */
    uint32_t *next;    /* of each token that is owed */
    uint32_t *current; /* of each place: the queue of its semaphore, UINT32_MAX = not met yet */
    int64_t *held;     /* of each queue: what it would hold now; negative: puts are on their way */
    bool *is_tied;     /* of each queue: an edge ends there */
    struct owed *owed; /* of each stream */
};

static void begin_queue(struct settling *settling, uint32_t *queue, uint32_t value)
{
    *queue = settling->waits->queue_count++;
    settling->waits->spare[*queue] = value;
    settling->held[*queue] = value;
}

static void tie(struct settling *settling, const struct wio_plan_token *token)
{
    if (token->edge != UINT32_MAX) {
        settling->waits->edges[token->edge].queue = token->queue;
        settling->is_tied[token->queue] = true;
    }
}

/* Nothing was left, and no unit of its own came. One that an edge ties is that of a call which ends
 * later. Where the begin of the queue is not known: the least that lets the recorded order happen.
 */
static void lack(struct settling *settling, const struct wio_plan_token *token)
{
    if (token->edge != UINT32_MAX && settling->waits->edges[token->edge].is_given_late) {
        settling->held[token->queue]--;
    } else {
        settling->waits->spare[token->queue]++;
    }
    tie(settling, token);
}

static void owe(struct settling *settling, uint32_t index)
{
    struct owed *owed = &settling->owed[settling->waits->tokens[index].stream];
    settling->next[index] = UINT32_MAX;
    if (owed->first == UINT32_MAX) {
        owed->first = index;
    } else {
        settling->next[owed->last] = index;
    }
    owed->last = index;
}

static void get(struct settling *settling, uint32_t index)
{
    const struct wio_plan_token *token = &settling->waits->tokens[index];
    if (settling->held[token->queue] > 0) {
        settling->held[token->queue]--;
        tie(settling, token);
    } else if (token->may_cancel) {
        owe(settling, index);
    } else {
        lack(settling, token);
    }
}

/* What is owed up to `object` of call `seq`; true if that is the next one. */
static bool find_owed(struct settling *settling, struct owed *owed, uint64_t seq, uint64_t object)
{
    while (owed->first != UINT32_MAX) {
        const struct wio_plan_token *token = &settling->waits->tokens[owed->first];
        if (token->call_seq == seq && token->object >= object) {
            return token->object == object;
        }
        lack(settling, token);
        owed->first = settling->next[owed->first];
    }
    return false;
}

/* A get and a put of one call: neither is there. */
static void cancel(struct settling *settling, struct wio_plan_token *get_token,
                   struct wio_plan_token *put_token)
{
    if (get_token->edge != UINT32_MAX) {
        struct wio_plan_edge *edge = &settling->waits->edges[get_token->edge];
        edge->how = WIO_BY_CHANCE;
        settling->waits->by_class[edge->edge_class]--;
    }
    get_token->queue = UINT32_MAX;
    put_token->queue = UINT32_MAX;
}

static void put(struct settling *settling, struct wio_plan_token *token)
{
    struct owed *owed = &settling->owed[token->stream];
    if (token->is_late && find_owed(settling, owed, token->call_seq, token->object)) {
        struct wio_plan_token *own = &settling->waits->tokens[owed->first];
        owed->first = settling->next[owed->first];
        cancel(settling, own, token);
    } else {
        settling->held[token->queue]++;
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
            put(settling, token);
        } else if (token->kind == WIO_TOKEN_GET) {
            (void)find_owed(settling, &settling->owed[token->stream], token->call_seq, 0);
            get(settling, settling->order[i]);
        }
    }
    for (uint32_t i = 0; i < waits->stream_count; i++) {
        (void)find_owed(settling, &settling->owed[i], UINT64_MAX, 0);
    }
}

/* Of one stream they lie as its events do, puts behind the gets of their call. */
static void find_own(struct settling *settling)
{
    struct wio_plan_token *tokens = settling->waits->tokens;
    for (uint32_t i = settling->waits->token_count; i-- > 0;) {
        if (tokens[i].is_late) {
            settling->owed[tokens[i].stream].last = i;
        } else if (tokens[i].kind == WIO_TOKEN_GET) {
            uint32_t last = settling->owed[tokens[i].stream].last;
            tokens[i].may_cancel =
                last != UINT32_MAX && tokens[last].call_seq == tokens[i].call_seq;
        }
    }
}

static void drop_untied(struct settling *settling)
{
    for (uint32_t i = 0; i < settling->waits->token_count; i++) {
        struct wio_plan_token *token = &settling->waits->tokens[i];
        bool is_tied = token->queue != UINT32_MAX && settling->is_tied[token->queue];
        token->queue = is_tied ? token->queue : UINT32_MAX;
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
        .next = calloc((size_t)waits->token_count + 1, sizeof(*settling->next)),
        .held = calloc(queues, sizeof(*settling->held)),
        .is_tied = calloc(queues, sizeof(*settling->is_tied)),
        .owed = calloc((size_t)waits->stream_count + 1, sizeof(*settling->owed)),
    };
    if (waits->spare == NULL || settling->order == NULL || settling->current == NULL ||
        settling->next == NULL || settling->held == NULL || settling->is_tied == NULL ||
        settling->owed == NULL) {
        return false;
    }
    memset(settling->owed, 0xff, waits->stream_count * sizeof(*settling->owed));
    for (uint32_t i = 0; i < waits->token_count; i++) {
        settling->order[i] = i;
    }
    memset(settling->current, 0xff, waits->semaphore_count * sizeof(*settling->current));
    return true;
}

static void settling_fini(struct settling *settling)
{
    free(settling->order);
    free(settling->next);
    free(settling->current);
    free(settling->held);
    free(settling->is_tied);
    free(settling->owed);
}

enum wio_status wio_tokens_settle(struct wio_waits *waits)
{
    struct settling settling WIO_CLEANUP(settling_fini) = {0};
    keep_queues(waits);
    if (!settling_init(&settling, waits)) {
        return WIO_ERR_NOMEM;
    }
    qsort_r(settling.order, waits->token_count, sizeof(*settling.order), by_time, waits->tokens);
    find_own(&settling);
    walk(&settling);
    drop_untied(&settling);
    return WIO_OK;
}

/* Did it poll? Not where what it waited for had come too long before. */
static bool has_looked(const struct wio_plan_edge *edge, uint64_t t_ns)
{
    bool had_come =
        t_ns > edge->release_ns && wio_gap_was_busy(t_ns - edge->release_ns, edge->lag_ns);
    return edge->evidence == WIO_EVIDENCE_HELD && !had_come;
}

uint64_t wio_waits_computed(const struct wio_waits *waits, size_t act, size_t act_end,
                            const struct wio_event *event)
{
    uint64_t cpu_ns = event->gap_cpu_ns;
    for (; act < act_end && waits->acts[act].seq <= event->seq; act++) {
        const struct wio_act *next = &waits->acts[act];
        if (next->kind == WIO_ACT_TAKE && next->seq == event->seq &&
            has_looked(&waits->edges[next->index], event->t_ns)) {
            cpu_ns = wio_smaller(cpu_ns, waits->edges[next->index].cpu_ns);
        }
    }
    return cpu_ns;
}

size_t wio_waits_together(const struct wio_waits *waits, size_t act, size_t act_end)
{
    size_t count = 1;
    if (waits->acts[act].kind != WIO_ACT_GET) {
        return 1;
    }
    while (act + count < act_end && waits->acts[act + count].kind == WIO_ACT_GET &&
           waits->acts[act + count].seq == waits->acts[act].seq) {
        count++;
    }
    return count;
}

uint32_t wio_waits_queue(const struct wio_waits *waits, uint32_t index)
{
    return index < waits->edge_count ? waits->edges[index].queue
                                     : waits->tokens[index - waits->edge_count].queue;
}
