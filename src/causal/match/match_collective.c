/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: the k-th of a communicator on every rank is one event. What has all its members is
 * forgotten. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "causal/match/match_internal.h"

static enum wio_status refuse(const struct wio_collective_call *call, const char *why,
                              struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                         "collective %" PRIu64 " of communicator %" PRIu32 ", rank %" PRIu32 ": %s",
                         call->sequence, call->communicator, call->rank, why);
}

static bool has_root(enum wio_collective_kind kind)
{
    return kind == WIO_COLLECTIVE_FROM_ROOT || kind == WIO_COLLECTIVE_TO_ROOT;
}

static enum wio_status check(const struct wio_match *match, uint32_t number,
                             const struct wio_collective_call *call, struct wio_error *err)
{
    const struct wio_collective_call *first = &match->gatherings[number].call;
    if (call->size != first->size) {
        return refuse(call, "its size is another than that of the other ranks", err);
    }
    bool is_loose = call->kind == WIO_COLLECTIVE_LOOSE || first->kind == WIO_COLLECTIVE_LOOSE;
    if ((call->kind != first->kind && !is_loose) ||
        (has_root(call->kind) && call->root != first->root)) {
        return refuse(call, "it calls another function, or with another root, than others", err);
    }
    if (wio_pair_map_get(&match->member_of, number, call->rank) != WIO_NO_INDEX) {
        return refuse(call, "it is there twice", err);
    }
    return WIO_OK;
}

static struct wio_member member_of(const struct wio_collective_call *call,
                                   const struct wio_match_item *item)
{
    bool is_root = item->rank == call->root;
    struct wio_member member = {.thread = item->thread,
                                .enter_op = item->begin_op,
                                .leave_op = item->end_op,
                                .gives = item->gives,
                                .takes = item->takes};
    if (call->kind != WIO_COLLECTIVE_ROLES) {
        member.gives = !has_root(call->kind) || (call->kind == WIO_COLLECTIVE_FROM_ROOT) == is_root;
        member.takes = !has_root(call->kind) || (call->kind == WIO_COLLECTIVE_TO_ROOT) == is_root;
    }
    return member;
}

/* LOOSE: did all leave after all had come? */
static bool has_met(const struct wio_match *match, const struct wio_match_gathering *gathering)
{
    uint64_t last_enter = 0;
    uint64_t first_leave = UINT64_MAX;
    uint32_t i = gathering->members.first;
    for (; i != WIO_NO_INDEX; i = match->items[i].next) {
        const struct wio_match_item *item = &match->items[i];
        last_enter = item->begin_ns > last_enter ? item->begin_ns : last_enter;
        first_leave = item->end_ns < first_leave ? item->end_ns : first_leave;
    }
    return first_leave >= last_enter;
}

/* The taker left after the giver had entered. */
static enum wio_status tell(struct wio_match *match, const struct wio_match_item *giver,
                            const struct wio_member *gives, const struct wio_match_item *taker,
                            const struct wio_member *takes)
{
    if (!gives->gives || !takes->takes || giver->thread == taker->thread) {
        return WIO_OK;
    }
    return wio_match_tell(match, giver->thread, giver->begin_ns, taker->thread, taker->end_ns);
}

/* Of each member with the next one, both ways, and with the first. */
static enum wio_status tell_all(struct wio_match *match,
                                const struct wio_match_gathering *gathering,
                                const struct wio_member *members)
{
    uint32_t first = gathering->members.first;
    uint32_t last = first;
    uint32_t i = match->items[first].next;
    for (size_t k = 1; i != WIO_NO_INDEX; last = i, i = match->items[i].next, k++) {
        const struct wio_match_item *item = &match->items[i];
        WIO_TRY(tell(match, item, &members[k], &match->items[last], &members[k - 1]));
        WIO_TRY(tell(match, &match->items[last], &members[k - 1], item, &members[k]));
        WIO_TRY(tell(match, item, &members[k], &match->items[first], &members[0]));
        WIO_TRY(tell(match, &match->items[first], &members[0], item, &members[k]));
    }
    return WIO_OK;
}

static enum wio_status add_members(struct wio_match *match,
                                   const struct wio_match_gathering *gathering)
{
    const struct wio_alloc *alloc = &match->edges->alloc;
    const struct wio_collective_call *call = &gathering->call;
    struct wio_member *members = wio_alloc_array(alloc, call->size, sizeof(*members));
    if (members == NULL) {
        return WIO_ERR_NOMEM;
    }
    size_t count = 0;
    uint32_t i = gathering->members.first;
    for (; i != WIO_NO_INDEX; i = match->items[i].next) {
        members[count++] = member_of(call, &match->items[i]);
    }
    enum wio_status status =
        wio_edges_add_collective(match->edges, members, count, call->communicator, call->evidence);
    if (status == WIO_OK && match->watch != NULL) {
        status = tell_all(match, gathering, members);
    }
    alloc->put(alloc->context, members);
    return status;
}

/* By rank: the members' places in `items`. */
static void order_by_rank(const struct wio_match *match,
                          const struct wio_match_gathering *gathering, uint32_t *items)
{
    for (uint32_t i = gathering->members.first; i != WIO_NO_INDEX; i = match->items[i].next) {
        items[match->items[i].rank] = i;
    }
}

/* The ranks from .. middle - 1 give, those up to `to` - 1 take. */
static enum wio_status add_half(struct wio_match *match, const struct wio_collective_call *call,
                                const uint32_t *items, const uint32_t part[3],
                                struct wio_member *members)
{
    for (uint32_t rank = part[0]; rank < part[2]; rank++) {
        const struct wio_match_item *item = &match->items[items[rank]];
        members[rank - part[0]] = (struct wio_member){.thread = item->thread,
                                                      .enter_op = item->begin_op,
                                                      .leave_op = item->end_op,
                                                      .gives = rank < part[1],
                                                      .takes = rank >= part[1]};
    }
    return wio_edges_add_collective(match->edges, members, part[2] - part[0], call->communicator,
                                    call->evidence);
}

/*
 * SCAN is no event of all: each rank waits for the lower ones. That is so exactly if the upper half
 * waits for the lower half, and each half is such a scan: n log n members, where one edge for each
 * pair would be n^2.
 */
static enum wio_status add_halves(struct wio_match *match, const struct wio_collective_call *call,
                                  const uint32_t *items, struct wio_member *members)
{
    for (uint32_t width = 1; width < call->size; width *= 2) {
        for (uint32_t from = 0; from + width < call->size; from += 2 * width) {
            uint32_t to = call->size - from < 2 * width ? call->size : from + 2 * width;
            const uint32_t part[3] = {from, from + width, to};
            WIO_TRY(add_half(match, call, items, part, members));
        }
    }
    return WIO_OK;
}

static enum wio_status add_scan(struct wio_match *match,
                                const struct wio_match_gathering *gathering)
{
    const struct wio_alloc *alloc = &match->edges->alloc;
    const struct wio_collective_call *call = &gathering->call;
    struct wio_member *members = wio_alloc_array(alloc, call->size, sizeof(*members));
    uint32_t *items = wio_alloc_array(alloc, call->size, sizeof(*items));
    enum wio_status status = WIO_ERR_NOMEM;
    if (members != NULL && items != NULL) {
        order_by_rank(match, gathering, items);
        status = add_halves(match, call, items, members);
    }
    alloc->put(alloc->context, members);
    alloc->put(alloc->context, items);
    return status;
}

static enum wio_status refuse_twice(const struct wio_collective_call *call, enum wio_status status,
                                    struct wio_error *err)
{
    return status == WIO_ERR_USAGE ? refuse(call, "one of its threads is there twice", err)
                                   : status;
}

static enum wio_status add(struct wio_match *match, const struct wio_match_gathering *gathering,
                           struct wio_error *err)
{
    const struct wio_collective_call *call = &gathering->call;
    if (call->kind == WIO_COLLECTIVE_SCAN) {
        return refuse_twice(call, add_scan(match, gathering), err);
    }
    if (call->size <= 1 || (call->kind == WIO_COLLECTIVE_LOOSE && !has_met(match, gathering))) {
        return WIO_OK;
    }
    return refuse_twice(call, add_members(match, gathering), err);
}

/* All members are there: make the collective, and forget them. */
static enum wio_status complete(struct wio_match *match, uint32_t number, struct wio_error *err)
{
    struct wio_match_gathering *gathering = &match->gatherings[number];
    enum wio_status status = add(match, gathering, err);
    wio_pair_map_remove(&match->gathering_of, gathering->call.communicator,
                        gathering->call.sequence);
    while (gathering->members.count > 0) {
        wio_pair_map_remove(&match->member_of, number, match->items[gathering->members.first].rank);
        wio_match_drop_first(match, &gathering->members);
    }
    gathering->next_free = match->gathering_free;
    match->gathering_free = number;
    match->left.collectives--;
    return status;
}

static enum wio_status begin(struct wio_match *match, const struct wio_collective_call *call,
                             uint32_t *number_out)
{
    const struct wio_alloc *alloc = &match->edges->alloc;
    uint32_t number = match->gathering_free;
    if (number != WIO_NO_INDEX) {
        match->gathering_free = match->gatherings[number].next_free;
    } else {
        WIO_TRY(wio_alloc_room(alloc, (void **)&match->gatherings, &match->gathering_room,
                               (size_t)match->gathering_count + 1, sizeof(*match->gatherings)));
        number = match->gathering_count++;
    }
    struct wio_match_gathering *gathering = &match->gatherings[number];
    gathering->members = wio_match_list_empty;
    gathering->call = *call;
    match->left.collectives++;
    *number_out = number;
    return wio_pair_map_put(&match->gathering_of, call->communicator, call->sequence, number);
}

enum wio_status wio_match_collective(struct wio_match *match,
                                     const struct wio_collective_call *call, struct wio_error *err)
{
    bool is_roles = call->kind == WIO_COLLECTIVE_ROLES; /* whose ranks may be threads */
    if (call->size > match->edges->threads ||
        call->rank >= (is_roles ? match->edges->threads : call->size)) {
        return refuse(call, "there is no such rank, or fewer threads than ranks", err);
    }
    uint32_t number = wio_pair_map_get(&match->gathering_of, call->communicator, call->sequence);
    if (number == WIO_NO_INDEX) {
        WIO_TRY(begin(match, call, &number));
    } else {
        WIO_TRY(check(match, number, call, err));
        if (call->kind == WIO_COLLECTIVE_LOOSE) {
            match->gatherings[number].call.kind = WIO_COLLECTIVE_LOOSE;
        }
    }
    struct wio_match_item item = {
        .begin_op = call->enter_op,
        .end_op = call->leave_op,
        .begin_ns = call->enter_ns,
        .end_ns = call->leave_ns,
        .thread = call->thread,
        .rank = call->rank,
        .gives = call->gives,
        .takes = call->takes,
    };
    struct wio_match_gathering *gathering = &match->gatherings[number];
    WIO_TRY(wio_match_append(match, &gathering->members, &item));
    WIO_TRY(wio_pair_map_put(&match->member_of, number, call->rank, 1));
    return gathering->members.count == call->size ? complete(match, number, err) : WIO_OK;
}
