/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives: the k-th of a communicator on every rank is one event. */
#include <inttypes.h>

#include "base/cleanup.h"
#include "causal/match_internal.h"

static enum wio_status refuse(const struct wio_collective_call *call, const char *why,
                              struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                         "collective %" PRIu64 " of communicator %" PRIx64 ", rank %" PRIu32 ": %s",
                         call->sequence, call->communicator, call->rank, why);
}

static enum wio_status check(const struct wio_match *match, const struct wio_match_channel *channel,
                             const struct wio_collective_call *call, struct wio_error *err)
{
    const struct wio_collective_call *first = &channel->call;
    if (call->rank >= call->size || call->size > match->edges->threads) {
        return refuse(call, "there is no such rank, or fewer threads than ranks", err);
    }
    if (channel->is_done) {
        return refuse(call, "it had all its members before", err);
    }
    if (channel->given.count == 0) {
        return WIO_OK;
    }
    if (call->size != first->size) {
        return refuse(call, "its size is another than that of the other ranks", err);
    }
    if (call->kind != first->kind ||
        (call->kind != WIO_COLLECTIVE_ALL && call->root != first->root)) {
        return refuse(call, "it calls another function, or with another root, than others", err);
    }
    uint32_t i = channel->given.first;
    for (; i != WIO_CAUSAL_NONE; i = match->items[i].next) {
        if (match->items[i].rank == call->rank || match->items[i].thread == call->thread) {
            return refuse(call, "it is there twice", err);
        }
    }
    return WIO_OK;
}

static struct wio_member member_of(const struct wio_collective_call *call,
                                   const struct wio_match_item *item)
{
    bool is_root = item->rank == call->root;
    return (struct wio_member){
        .thread = item->thread,
        .enter_op = item->begin_op,
        .leave_op = item->end_op,
        .gives =
            call->kind == WIO_COLLECTIVE_ALL || (call->kind == WIO_COLLECTIVE_FROM_ROOT) == is_root,
        .takes =
            call->kind == WIO_COLLECTIVE_ALL || (call->kind == WIO_COLLECTIVE_TO_ROOT) == is_root,
    };
}

/* All members are there: make the collective, and forget them. */
static enum wio_status complete(struct wio_match *match, struct wio_match_channel *channel,
                                uint32_t communicator)
{
    const struct wio_alloc *alloc = &match->edges->alloc;
    struct wio_member *members = wio_causal_array(alloc, channel->given.count, sizeof(*members));
    if (members == NULL) {
        return WIO_ERR_NOMEM;
    }
    size_t count = 0;
    while (channel->given.count > 0) {
        members[count++] = member_of(&channel->call, &match->items[channel->given.first]);
        wio_match_drop_first(match, &channel->given);
    }
    channel->is_done = true;
    match->left.collectives--;
    enum wio_status status =
        wio_edges_add_collective(match->edges, members, count, communicator, WIO_EVIDENCE_MPI);
    alloc->put(alloc->context, members);
    return status;
}

enum wio_status wio_match_collective(struct wio_match *match,
                                     const struct wio_collective_call *call, struct wio_error *err)
{
    struct wio_match_channel *channel;
    uint32_t communicator;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_MESSAGE, call->communicator, UINT64_MAX, &channel,
                              &communicator));
    WIO_TRY(wio_match_channel(match, WIO_MATCH_COLLECTIVE, call->communicator, call->sequence,
                              &channel, NULL));
    WIO_TRY(check(match, channel, call, err));
    if (channel->given.count == 0) {
        channel->call = *call;
        match->left.collectives++;
    }
    struct wio_match_item item = {.begin_op = call->enter_op,
                                  .end_op = call->leave_op,
                                  .thread = call->thread,
                                  .rank = call->rank};
    WIO_TRY(wio_match_append(match, &channel->given, &item));
    return channel->given.count == call->size ? complete(match, channel, communicator + 1) : WIO_OK;
}
