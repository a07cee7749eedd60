/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives: of one (communicator, source, destination, tag), first to first. */
#include "base/cleanup.h"
#include "causal/match/match_internal.h"

/* No library sends more than this ahead, as it comes: Intel MPI's limit, the greatest. */
#define EAGER_BYTES_MOST 262144u

/*
 * MPI_Send need not wait for its receive, but libraries let large messages wait: then what precedes
 * the receive comes before its end. This is concluded where the send began before the receive, and
 * no send of its size was ever over before its receive began.
 */
static enum wio_status note_size(struct wio_match *match, const struct wio_match_item *send,
                                 const struct wio_match_item *receive, uint32_t communicator)
{
    if (send->end_ns < receive->begin_ns) {
        match->eager_bytes = send->bytes > match->eager_bytes ? send->bytes : match->eager_bytes;
        return WIO_OK;
    }
    if (send->bytes <= EAGER_BYTES_MOST || send->begin_ns >= receive->begin_ns) {
        return WIO_OK;
    }
    WIO_TRY(wio_alloc_room(&match->edges->alloc, (void **)&match->slow, &match->slow_room,
                           match->slow_count + 1, sizeof(*match->slow)));
    match->slow[match->slow_count++] =
        (struct wio_match_slow){.edge = {.from_thread = receive->thread,
                                         .from_op = receive->begin_op,
                                         .to_thread = send->thread,
                                         .to_op = send->end_op,
                                         .object = communicator,
                                         .class = WIO_EDGE_HARD,
                                         .evidence = WIO_EVIDENCE_MPI},
                                .bytes = send->bytes};
    return WIO_OK;
}

enum wio_status wio_match_messages_end(struct wio_match *match)
{
    for (size_t i = 0; i < match->slow_count; i++) {
        if (match->slow[i].bytes > match->eager_bytes) {
            WIO_TRY(wio_match_edge_from_before(match, match->slow[i].edge));
        }
    }
    match->slow_count = 0;
    return WIO_OK;
}

/* A rendezvous is a collective of two: each waits for what precedes the other's begin. */
static enum wio_status meet(struct wio_match *match, const struct wio_match_item *send,
                            const struct wio_match_item *receive, uint32_t communicator)
{
    WIO_TRY(wio_match_tell(match, send->thread, send->begin_ns, receive->thread, receive->end_ns));
    if (send->bytes > 0) {
        WIO_TRY(note_size(match, send, receive, communicator));
    }
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
                                   .begin_ns = message->begin_ns,
                                   .end_ns = message->end_ns,
                                   .bytes = message->bytes,
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
