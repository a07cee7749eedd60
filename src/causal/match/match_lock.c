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

/* Takes the lock: after the last exclusive release, and alone also after the readers' releases. */
static enum wio_status take(struct wio_match *match, struct wio_match_channel *channel,
                            uint32_t lock, enum wio_evidence evidence, struct wio_point at,
                            bool shared)
{
    if (channel->has_last) {
        WIO_TRY(follow(match, lock, evidence, channel->last, at));
    }
    uint32_t i = shared ? WIO_NO_INDEX : channel->given.first;
    for (; i != WIO_NO_INDEX; i = match->items[i].next) {
        struct wio_point reader = {match->items[i].begin_op, match->items[i].thread};
        WIO_TRY(follow(match, lock, evidence, reader, at));
    }
    if (!shared) {
        channel->has_owner = true;
        channel->owner = at.thread;
    }
    return WIO_OK;
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

enum wio_status wio_match_acquire(struct wio_match *match, uint32_t lock,
                                  enum wio_evidence evidence, struct wio_point at, bool shared)
{
    struct wio_match_channel *channel;
    WIO_TRY(wio_match_channel(match, WIO_MATCH_LOCK, lock, 0, &channel, NULL));
    if (!shared && channel->has_owner && channel->owner != at.thread) {
        struct wio_match_item item = {.begin_op = at.op, .thread = at.thread};
        return wio_match_append(match, &channel->taken, &item);
    }
    return take(match, channel, lock, evidence, at, shared);
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
static void forget_owner(struct wio_match *match, struct wio_match_channel *channel,
                         uint32_t thread)
{
    uint32_t i = channel->taken.first;
    while (i != WIO_NO_INDEX && match->items[i].thread != thread) {
        i = match->items[i].next;
    }
    while (i != WIO_NO_INDEX && channel->owner != thread) {
        channel->owner = match->items[channel->taken.first].thread;
        wio_match_drop_first(match, &channel->taken);
    }
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
        forget_owner(match, channel, at.thread);
    }
    forget_readers(match, number);
    channel->last = at;
    channel->has_last = true;
    channel->has_owner = false;
    if (channel->taken.count == 0) {
        return WIO_OK;
    }
    struct wio_match_item next = match->items[channel->taken.first];
    wio_match_drop_first(match, &channel->taken);
    return take(match, channel, lock, evidence, (struct wio_point){next.begin_op, next.thread},
                false);
}
