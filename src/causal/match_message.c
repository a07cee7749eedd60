/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives: of one (communicator, source, destination, tag), first to first. */
#include "base/cleanup.h"
#include "causal/match_internal.h"

/* A rendezvous is a collective of two: each waits for what precedes the other's begin. */
static enum wio_status meet(struct wio_match *match, const struct wio_match_item *send,
                            const struct wio_match_item *receive, uint32_t communicator)
{
    WIO_TRY(
        wio_match_tell(match, send->thread, send->begin_ns, receive->thread, receive->begin_ns));
    if (send->is_synchronous && send->thread != receive->thread) {
        const struct wio_member members[] = {
            {send->begin_op, send->end_op, send->thread, true, true},
            {receive->begin_op, receive->end_op, receive->thread, true, true}};
        return wio_edges_add_collective(match->edges, members, WIO_ARRAY_SIZE(members),
                                        communicator, WIO_EVIDENCE_MPI);
    }
    return wio_match_edge_from_before(match, (struct wio_edge){.from_thread = send->thread,
                                                               .from_op = send->begin_op,
                                                               .to_thread = receive->thread,
                                                               .to_op = receive->end_op,
                                                               .object = communicator,
                                                               .class = WIO_EDGE_HARD,
                                                               .evidence = WIO_EVIDENCE_MPI});
}

static enum wio_status find(struct wio_match *match, const struct wio_message *message,
                            struct wio_match_channel **channel_out)
{
    uint64_t ends = (uint64_t)message->source << 32 | message->destination;
    uint64_t rest = (uint64_t)message->communicator << 32 | (uint32_t)message->tag;
    return wio_match_channel(match, WIO_MATCH_MESSAGE, ends, rest, channel_out, NULL);
}

static struct wio_match_item item_of(const struct wio_message *message)
{
    return (struct wio_match_item){.begin_op = message->begin_op,
                                   .end_op = message->end_op,
                                   .thread = message->thread,
                                   .begin_ns = message->when_ns,
                                   .is_synchronous = message->is_synchronous};
}

enum wio_status wio_match_send(struct wio_match *match, const struct wio_message *send)
{
    struct wio_match_channel *channel;
    WIO_TRY(find(match, send, &channel));
    struct wio_match_item item = item_of(send);
    if (channel->taken.count == 0) {
        match->left.sends++;
        return wio_match_append(match, &channel->given, &item);
    }
    struct wio_match_item receive = match->items[channel->taken.first];
    wio_match_drop_first(match, &channel->taken);
    match->left.receives--;
    return meet(match, &item, &receive, send->communicator);
}

enum wio_status wio_match_receive(struct wio_match *match, const struct wio_message *receive)
{
    struct wio_match_channel *channel;
    WIO_TRY(find(match, receive, &channel));
    struct wio_match_item item = item_of(receive);
    if (channel->given.count == 0) {
        match->left.receives++;
        return wio_match_append(match, &channel->taken, &item);
    }
    struct wio_match_item send = match->items[channel->given.first];
    wio_match_drop_first(match, &channel->given);
    match->left.sends--;
    return meet(match, &send, &item, receive->communicator);
}
