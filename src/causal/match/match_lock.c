/* SPDX-License-Identifier: Apache-2.0 */
/* Locks: each acquire after the releases that it had to wait for. */
#include "base/cleanup.h"
#include "causal/match/match_internal.h"

static enum wio_status follow(struct wio_match *match, uint32_t lock, enum wio_evidence evidence,
                              struct wio_point from, struct wio_point to)
{
    if (from.thread == to.thread) {
        return WIO_OK;
    }
    return wio_edges_add(match->edges, &(struct wio_edge){.from_thread = from.thread,
                                                          .from_op = from.op,
                                                          .to_thread = to.thread,
                                                          .to_op = to.op,
                                                          .object = lock,
                                                          .class = WIO_EDGE_MUTEX,
                                                          .evidence = evidence});
}

/* Of each reader the last release counts: the thread's order implies those before. Kept, they would
 * be as many as there are reads. */
static enum wio_status note_reader(struct wio_match *match, uint32_t number, struct wio_point at)
{
    struct wio_match_list *readers = &match->channels[number].given;
    uint32_t place = wio_pair_map_get(&match->reader_of, number, at.thread);
    if (place != WIO_NO_INDEX) {
        match->items[place].begin_op = at.op;
        return WIO_OK;
    }
    struct wio_match_item item = {.begin_op = at.op, .thread = at.thread};
    WIO_TRY(wio_match_append(match, readers, &item));
    return wio_pair_map_put(&match->reader_of, number, at.thread, readers->last);
}

static void forget_readers(struct wio_match *match, uint32_t number)
{
    struct wio_match_list *readers = &match->channels[number].given;
    while (readers->count > 0) {
        wio_pair_map_remove(&match->reader_of, number, match->items[readers->first].thread);
        wio_match_drop_first(match, readers);
    }
}

/* An acquire that ended before the release that it waited for was told. */
static enum wio_status add_waiter(struct wio_match *match, uint32_t number, struct wio_point at)
{
    struct wio_match_item item = {.begin_op = at.op, .thread = at.thread};
    uint32_t count = wio_pair_map_get(&match->waiters_of, number, at.thread);
    WIO_TRY(wio_pair_map_put(&match->waiters_of, number, at.thread,
                             count != WIO_NO_INDEX ? count + 1 : 1));
    return wio_match_append(match, &match->channels[number].taken, &item);
}

static enum wio_status take_waiter(struct wio_match *match, uint32_t number,
                                   struct wio_point *at_out)
{
    struct wio_match_list *waiters = &match->channels[number].taken;
    const struct wio_match_item *item = &match->items[waiters->first];
    *at_out = (struct wio_point){item->begin_op, item->thread};
    uint32_t count = wio_pair_map_get(&match->waiters_of, number, at_out->thread);
    wio_match_drop_first(match, waiters);
    if (count > 1) {
        return wio_pair_map_put(&match->waiters_of, number, at_out->thread, count - 1);
    }
    wio_pair_map_remove(&match->waiters_of, number, at_out->thread);
    return WIO_OK;
}

/* Takes the lock: after the last exclusive release, and alone also after the readers' releases. */
static enum wio_status take(struct wio_match *match, uint32_t number, uint32_t lock,
                            enum wio_evidence evidence, struct wio_point at, bool shared)
{
    struct wio_match_channel *channel = &match->channels[number];
    if (channel->has_last) {
        WIO_TRY(follow(match, lock, evidence, channel->last, at));
    }
    uint32_t i = shared ? WIO_NO_INDEX : channel->given.first;
    for (; i != WIO_NO_INDEX; i = match->items[i].next) {
        struct wio_point reader = {match->items[i].begin_op, match->items[i].thread};
        WIO_TRY(follow(match, lock, evidence, reader, at));
    }
    if (!shared) { /* what takes it alone from now on follows this thread */
        forget_readers(match, number);
        channel->has_owner = true;
        channel->owner = at.thread;
    }
    return WIO_OK;
}

enum wio_status wio_match_acquire(struct wio_match *match, uint32_t lock,
                                  enum wio_evidence evidence, struct wio_point at, bool shared)
{
    struct wio_match_channel *channel;
    uint32_t number;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_LOCK, lock, 0, &channel, &number));
    if (!shared && channel->has_owner && channel->owner != at.thread) {
        return add_waiter(match, number, at);
    }
    return take(match, number, lock, evidence, at, shared);
}

enum wio_status wio_match_owner(struct wio_match *match, uint32_t lock, uint32_t *thread_out)
{
    struct wio_match_channel *channel;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_LOCK, lock, 0, &channel, NULL));
    *thread_out = channel->has_owner ? channel->owner : WIO_NO_INDEX;
    return WIO_OK;
}

/* A release by a thread that waits behind the owner: the owner's release was missed, and so were
 * those of the threads between them. (Another thread may release for the owner.) */
static enum wio_status forget_owner(struct wio_match *match, uint32_t number, uint32_t thread)
{
    struct wio_point next = {0, match->channels[number].owner};
    if (wio_pair_map_get(&match->waiters_of, number, thread) == WIO_NO_INDEX) {
        return WIO_OK;
    }
    while (next.thread != thread) {
        WIO_TRY(take_waiter(match, number, &next));
    }
    match->channels[number].owner = thread;
    return WIO_OK;
}

enum wio_status wio_match_release(struct wio_match *match, uint32_t lock,
                                  enum wio_evidence evidence, struct wio_point at, bool shared)
{
    struct wio_match_channel *channel;
    uint32_t number;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_LOCK, lock, 0, &channel, &number));
    if (shared) {
        return note_reader(match, number, at);
    }
    if (channel->has_owner && channel->owner != at.thread) {
        WIO_TRY(forget_owner(match, number, at.thread));
    }
    forget_readers(match, number);
    channel->last = at;
    channel->has_last = true;
    channel->has_owner = false;
    if (channel->taken.count == 0) {
        return WIO_OK;
    }
    struct wio_point next;
    WIO_TRY(take_waiter(match, number, &next));
    return take(match, number, lock, evidence, next, false);
}
