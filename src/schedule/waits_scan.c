/* SPDX-License-Identifier: Apache-2.0 */
/* Matches edges with their events: when each was given in the trace, and how it is replayed. */
#include <stdlib.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "ops/calls.h"
#include "schedule/lockset.h"
#include "schedule/queues.h"
#include "schedule/semaphore_units.h"
#include "schedule/sync.h"
#include "schedule/waits.h"

/* The event itself releases, not the one behind it. */
static bool is_given_at_end(const struct wio_plan_edge *edge)
{
    return edge->evidence == WIO_EVIDENCE_POLL || edge->evidence == WIO_EVIDENCE_HELD;
}

/* Of a lock the stored edge begins at the call that leaves it; only of pthread_cond_wait, which
 * leaves one too, at the event before. */
static bool leaves_lock(const struct wio_plan_edge *edge, const struct wio_event *event)
{
    if (edge->edge_class != WIO_EDGE_MUTEX) {
        return false;
    }
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_UNLOCK:
    case WIO_CLASS_MPI_UNLOCK:
    case WIO_CLASS_LOCK:
    case WIO_CLASS_FCNTL:
    case WIO_CLASS_CLOSE:
    case WIO_CLASS_DUP:
        return true;
    default:
        return false;
    }
}

/* ---- calls of System V with several operations (R-SYNC-6) ---- */

static void see_call(struct wio_semop_call *call, const struct wio_event *event)
{
    bool is_operation = wio_is_semop(event);
    bool is_part = is_operation && (event->flags & WIO_EVENT_CAUSED) != 0 &&
                   call->t_ns == event->t_ns && call->seq < event->seq;
    if (!is_part) {
        *call = (struct wio_semop_call){
            .seq = event->seq, .t_ns = event->t_ns, .end_ns = event->t_ns + event->dur_ns};
    }
    call->may_wait |= is_operation && event->op != WIO_OP_semop_post;
}

static bool is_late_post(const struct wio_semop_call *call, const struct wio_event *event)
{
    return event->op == WIO_OP_semop_post && call->may_wait && call->seq < event->seq;
}

/* Such a post is given by its own event, but a stored edge may also begin there since the event
 * behind it releases: a wait for zero ends with a take. The waiting event decides which of both it
 * is; where that is not known yet, neither is the time. */
static void see_late_post(struct wio_plan_edge *edge, const struct wio_semop_call *call)
{
    bool is_waiter_known = edge->to_op != 0;
    edge->is_given_late = !is_waiter_known || edge->to_op == WIO_OP_semop;
    edge->release_ns = is_waiter_known && edge->is_given_late ? call->end_ns : 0;
}

static void see_late_wait(const struct wio_waits *waits, struct wio_plan_edge *edge)
{
    edge->is_given_late = edge->is_given_late && edge->to_op == WIO_OP_semop;
    if (edge->is_given_late && edge->release_ns == 0) { /* that call is still the last one */
        edge->release_ns = waits->at[edge->from_stream].call.end_ns;
    }
}

/* The event behind posts, too, or sets the value. */
static void see_next_post(struct wio_plan_edge *edge, const struct wio_event *event)
{
    if (edge->is_given_late &&
        (wio_op_class(event->op) == WIO_CLASS_SEM_POST || event->op == WIO_OP_semctl)) {
        edge->is_given_late = false;
        edge->release_ns = event->t_ns;
    }
}

/* ---- what a stream gives ---- */

static void see_out(struct wio_waits *waits, const struct wio_event *event)
{
    uint32_t *at = &waits->at[event->stream].out;
    while (*at < waits->edge_count) {
        struct wio_plan_edge *edge = &waits->edges[waits->out[*at]];
        if (edge->from_stream != event->stream || edge->from_seq >= event->seq) {
            break;
        }
        if (edge->from_seq + 1 == event->seq) {
            see_next_post(edge, event);
        }
        if (edge->release_ns == 0) {
            edge->release_ns = event->t_ns;
        }
        (*at)++;
    }
    for (uint32_t i = *at; i < waits->edge_count; i++) {
        struct wio_plan_edge *edge = &waits->edges[waits->out[i]];
        if (edge->from_stream != event->stream || edge->from_seq != event->seq) {
            break;
        }
        if (is_given_at_end(edge)) {
            edge->release_ns = event->t_ns + event->dur_ns;
        } else if (is_late_post(&waits->at[event->stream].call, event)) {
            see_late_post(edge, &waits->at[event->stream].call);
        } else if (leaves_lock(edge, event)) {
            edge->release_ns = event->t_ns;
            edge->is_given_within = true;
        }
    }
}

static void see_member(struct wio_waits *waits, const struct wio_event *event)
{
    uint32_t *at = &waits->at[event->stream].member;
    for (; *at < waits->member_count; (*at)++) {
        const struct wio_plan_member *member = &waits->members[*at];
        if (member->stream != event->stream || member->enter_seq > event->seq) {
            return;
        }
        struct wio_meeting *meeting = &waits->meetings[member->meeting];
        if (member->gives && event->t_ns > meeting->release_ns) {
            meeting->release_ns = event->t_ns;
        }
    }
}

/* ---- what it waits for ---- */

static enum wio_status number_of(struct wio_map *map, uint64_t key, uint32_t *count,
                                 uint32_t *number_out)
{
    const uint64_t *known = wio_map_get(map, key);
    if (known != NULL) {
        *number_out = (uint32_t)*known;
        return WIO_OK;
    }
    *number_out = (*count)++;
    return wio_map_put(map, key, *number_out);
}

static enum wio_status choose_how(struct wio_waits *waits, struct wio_plan_edge *edge,
                                  const struct wio_event *event, uint32_t image)
{
    enum wio_class cls = wio_op_class(event->op);
    edge->to_op = event->op;
    edge->lock = UINT32_MAX;
    if (edge->edge_class == WIO_EDGE_QUEUE && cls == WIO_CLASS_SEM_WAIT) {
        edge->how = WIO_BY_TOKEN;
        return number_of(&waits->semaphores, wio_lock_key(image, event->arg[0]),
                         &waits->semaphore_count, &edge->queue);
    }
    if (edge->edge_class == WIO_EDGE_QUEUE) {
        edge->how = WIO_BY_QUEUE;
        return number_of(&waits->queues, edge->object, &waits->queue_count, &edge->queue);
    }
    if (edge->edge_class != WIO_EDGE_MUTEX) {
        return WIO_OK;
    }
    if (wio_waits_by_chance(event)) {
        edge->how = WIO_BY_CHANCE;
        return WIO_OK;
    }
    if (cls == WIO_CLASS_MUTEX || cls == WIO_CLASS_COND_WAIT) {
        edge->how = WIO_BY_LOCK;
        return number_of(&waits->locks, wio_lock_key(image, wio_lock_of(event)), &waits->lock_count,
                         &edge->lock);
    }
    /* the file system keeps file locks that are waited for; any other keeps the recorded order */
    bool is_file_lock = cls == WIO_CLASS_LOCK || cls == WIO_CLASS_FCNTL;
    bool is_try = is_file_lock && wio_tries_lock(event);
    edge->how = is_file_lock && !is_try ? WIO_BY_LOCK : WIO_BY_EDGE;
    return is_try ? wio_lockset_keep(waits, event, image) : WIO_OK;
}

/* ---- how long a thread needs behind a wait that nothing shows ----
 *
 * It may have waited anywhere between two operations. But the same code does the same behind its
 * wait each time: no more than the least of the times from release to operation. And before it: no
 * more than the least of its processor times, which include polling for what it waited for.
 */

static uint64_t place_of(const struct wio_plan_edge *edge)
{
    return (uint64_t)edge->to_stream << 32 | edge->source;
}

static enum wio_status keep_least(struct wio_map *map, uint64_t place, uint64_t value)
{
    const uint64_t *least = wio_map_get(map, place);
    return least == NULL || value < *least ? wio_map_put(map, place, value) : WIO_OK;
}

static enum wio_status see_lag(struct wio_waits *waits, struct wio_plan_edge *edge,
                               const struct wio_event *event)
{
    if (edge->evidence != WIO_EVIDENCE_HELD) {
        return WIO_OK;
    }
    edge->source = event->source;
    edge->lag_ns = event->t_ns > edge->release_ns ? event->t_ns - edge->release_ns : 0;
    if (event->gap_slept == 0) {
        WIO_TRY(keep_least(&waits->works, place_of(edge), event->gap_cpu_ns));
    }
    return keep_least(&waits->lags, place_of(edge), edge->lag_ns);
}

/* Nothing is known of a place without a name. */
static void settle_lag(const struct wio_waits *waits, struct wio_plan_edge *edge)
{
    bool is_known = edge->evidence == WIO_EVIDENCE_HELD && edge->source != 0;
    const uint64_t *lag_ns = is_known ? wio_map_get(&waits->lags, place_of(edge)) : NULL;
    const uint64_t *cpu_ns = is_known ? wio_map_get(&waits->works, place_of(edge)) : NULL;
    edge->lag_ns = lag_ns != NULL ? *lag_ns : edge->lag_ns;
    edge->cpu_ns = cpu_ns != NULL ? *cpu_ns : 0;
}

/* `token_edge_out`: the edge from a semaphore's post that ends here, UINT32_MAX = none. */
static enum wio_status see_in(struct wio_waits *waits, const struct wio_event *event,
                              uint32_t image, uint32_t *token_edge_out)
{
    uint32_t *at = &waits->at[event->stream].in;
    for (; *at < waits->edge_count; (*at)++) {
        struct wio_plan_edge *edge = &waits->edges[*at];
        if (edge->to_stream != event->stream || edge->to_seq > event->seq) {
            return WIO_OK;
        }
        if (edge->to_seq == event->seq) {
            WIO_TRY(choose_how(waits, edge, event, image));
            WIO_TRY(see_lag(waits, edge, event));
            *token_edge_out = edge->how == WIO_BY_TOKEN ? *at : *token_edge_out;
            see_late_wait(waits, edge);
            edge->to_seq = waits->at[event->stream].call.seq;
        }
    }
    return WIO_OK;
}

enum wio_status wio_waits_see(struct wio_waits *waits, const struct wio_event *event,
                              uint32_t image)
{
    uint32_t token_edge = UINT32_MAX;
    if (!waits->is_there || event->stream >= waits->stream_count) {
        return WIO_OK;
    }
    struct wio_semop_call *call = &waits->at[event->stream].call;
    see_call(call, event);
    wio_lockset_see(&waits->held[event->stream], event);
    see_out(waits, event);
    see_member(waits, event);
    WIO_TRY(see_in(waits, event, image, &token_edge));
    return wio_tokens_see(waits, event, call, image, token_edge);
}

/* ---- acts ---- */

struct builder {
    struct wio_waits *waits;
    size_t count;
    struct wio_act *acts; /* NULL while they are only counted */
    size_t *place;        /* of each stream: where its next act goes; counts at first */
};

static void put(struct builder *builder, uint32_t stream, uint64_t seq, enum wio_act_kind kind,
                uint32_t index)
{
    size_t at = builder->place[stream]++;
    if (builder->acts != NULL) {
        builder->acts[at] = (struct wio_act){seq, index, (uint8_t)kind};
    }
}

static void put_edge(struct builder *builder, uint32_t index)
{
    const struct wio_plan_edge *edge = &builder->waits->edges[index];
    if (edge->how == WIO_BY_LOCK) {
        put(builder, edge->to_stream, edge->to_seq, WIO_ACT_LOCKED, index);
        return;
    }
    if (edge->how == WIO_BY_TOKEN || edge->how == WIO_BY_CHANCE) {
        return; /* put_token; nothing is kept */
    }
    if (edge->how == WIO_BY_QUEUE) {
        put(builder, edge->from_stream, edge->from_seq + 1, WIO_ACT_PUT, index);
        put(builder, edge->to_stream, edge->to_seq, WIO_ACT_GET, index);
        return;
    }
    bool at_end = is_given_at_end(edge) || edge->is_given_late;
    put(builder, edge->from_stream, edge->from_seq + (at_end || edge->is_given_within ? 0 : 1),
        at_end ? WIO_ACT_GIVE_END : WIO_ACT_GIVE, index);
    put(builder, edge->to_stream, edge->to_seq, WIO_ACT_TAKE, index);
}

static void put_token(struct builder *builder, uint32_t index)
{
    const struct wio_waits *waits = builder->waits;
    const struct wio_plan_token *token = &waits->tokens[index];
    if (token->queue == UINT32_MAX || token->kind == WIO_TOKEN_MAKE) {
        return;
    }
    put(builder, token->stream, token->kind == WIO_TOKEN_GET ? token->call_seq : token->seq,
        token->kind == WIO_TOKEN_PUT ? WIO_ACT_PUT : WIO_ACT_GET,
        token->edge != UINT32_MAX ? token->edge : waits->edge_count + index);
}

static void put_member(struct builder *builder, const struct wio_plan_member *member)
{
    if (member->gives) {
        put(builder, member->stream, member->enter_seq, WIO_ACT_ENTER, member->meeting);
    }
    if (member->takes) {
        put(builder, member->stream, member->leave_seq, WIO_ACT_LEAVE, member->meeting);
    }
}

static bool leads_before(const struct wio_plan_edge *edge, const struct wio_plan_poll *poll)
{
    return edge->to_stream != poll->stream ? edge->to_stream < poll->stream
                                           : edge->to_seq < poll->last_seq;
}

static bool leads_to(const struct wio_plan_edge *edge, const struct wio_plan_poll *poll)
{
    return edge->to_stream == poll->stream && edge->to_seq == poll->last_seq;
}

/* The edge from the event that made the file which the poll finds in the end. */
static uint32_t maker_of(const struct wio_waits *waits, const struct wio_plan_poll *poll)
{
    size_t first = WIO_FIRST(i, 0, waits->edge_count, !leads_before(&waits->edges[i], poll));
    for (size_t i = first; i < waits->edge_count && leads_to(&waits->edges[i], poll); i++) {
        if (waits->edges[i].evidence == WIO_EVIDENCE_POLL) {
            return (uint32_t)i;
        }
    }
    return UINT32_MAX;
}

static void put_poll(struct builder *builder, uint32_t index)
{
    struct wio_plan_poll *poll = &builder->waits->polls[index];
    poll->edge = maker_of(builder->waits, poll);
    if (poll->edge != UINT32_MAX) {
        put(builder, poll->stream, poll->first_seq, WIO_ACT_POLL, index);
    }
}

static void put_all(struct builder *builder)
{
    for (uint32_t i = 0; i < builder->waits->poll_count; i++) {
        put_poll(builder, i);
    }
    for (uint32_t i = 0; i < builder->waits->edge_count; i++) {
        put_edge(builder, i);
    }
    for (uint32_t i = 0; i < builder->waits->token_count; i++) {
        put_token(builder, i);
    }
    for (uint32_t i = 0; i < builder->waits->member_count; i++) {
        put_member(builder, &builder->waits->members[i]);
    }
}

/* Gets of one event lie by queue. */
static int by_seq(const void *a, const void *b, void *arg)
{
    const struct wio_waits *waits = arg;
    const struct wio_act *x = a;
    const struct wio_act *y = b;
    if (x->seq != y->seq) {
        return x->seq < y->seq ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->kind == WIO_ACT_GET) {
        uint32_t from = wio_waits_queue(waits, x->index);
        uint32_t other = wio_waits_queue(waits, y->index);
        if (from != other) {
            return from < other ? -1 : 1;
        }
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* Counts become places, and `first`. */
static size_t lay_out(struct wio_waits *waits, size_t *place)
{
    size_t at = 0;
    for (uint32_t stream = 0; stream < waits->stream_count; stream++) {
        size_t count = place[stream];
        waits->first[stream] = at;
        place[stream] = at;
        at += count;
    }
    waits->first[waits->stream_count] = at;
    return at;
}

static enum wio_status build_acts(struct wio_waits *waits)
{
    struct builder builder = {.waits = waits,
                              .place = calloc((size_t)waits->stream_count + 1, sizeof(size_t))};
    if (builder.place == NULL) {
        return WIO_ERR_NOMEM;
    }
    put_all(&builder);
    size_t count = lay_out(waits, builder.place);
    waits->acts = calloc(count + 1, sizeof(*waits->acts));
    builder.acts = waits->acts;
    if (builder.acts != NULL) {
        put_all(&builder);
    }
    free(builder.place);
    for (uint32_t stream = 0; waits->acts != NULL && stream < waits->stream_count; stream++) {
        size_t first = waits->first[stream];
        qsort_r(&waits->acts[first], waits->first[stream + 1] - first, sizeof(*waits->acts), by_seq,
                waits);
    }
    return waits->acts == NULL ? WIO_ERR_NOMEM : WIO_OK;
}

/* Which queues are served in any order is known from the acts. */
static enum wio_status build_final_acts(struct wio_waits *waits)
{
    bool has_changed;
    WIO_TRY(build_acts(waits));
    WIO_TRY(wio_queues_order(waits, &has_changed));
    if (!has_changed) {
        return WIO_OK;
    }
    free(waits->acts);
    waits->acts = NULL;
    return build_acts(waits);
}

/* ---- the end ---- */

/* What is behind a stream's last event is given when it ends. */
static void give_at_end(struct wio_waits *waits)
{
    for (uint32_t i = 0; i < waits->edge_count; i++) {
        struct wio_plan_edge *edge = &waits->edges[i];
        if (edge->release_ns == 0) {
            edge->release_ns = wio_trace_stream(waits->trace, edge->from_stream)->last_ns;
        }
        settle_lag(waits, edge);
        waits->by_class[edge->edge_class] += edge->how != WIO_BY_CHANCE;
    }
    waits->by_class[WIO_EDGE_COLLECTIVE] = waits->meeting_count;
}

enum wio_status wio_waits_finish(struct wio_waits *waits)
{
    give_at_end(waits);
    free(waits->out);
    free(waits->at);
    free(waits->held);
    waits->out = NULL;
    waits->at = NULL;
    waits->held = NULL;
    wio_held_settle(waits);
    WIO_TRY(wio_tokens_settle(waits));
    enum wio_status status = build_final_acts(waits);
    free(waits->members);
    waits->members = NULL;
    return status;
}
