/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs connects with accepts: the two sockets are each other's peers from then on. */
#include <errno.h>
#include <string.h>

#include "causal/files/files.h"

/* Both ends are on one host: other hosts may have a connection of that name too. */
static bool is_within_host(const struct wio_feed *feed, uint32_t connection)
{
    static const char *const kinds[] = {"unix ", "inet 127.", "inet6 [0:0:0:0:0:0:0:1]:"};
    const char *text = feed->params.text(feed->params.context, connection);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(kinds); i++) {
        if (strncmp(text, kinds[i], strlen(kinds[i])) == 0) {
            return true;
        }
    }
    return false;
}

static uint64_t connection_of(const struct wio_feed *feed, const struct wio_event *event)
{
    uint64_t host =
        is_within_host(feed, event->path2) ? (uint64_t)wio_feed_host(feed, event) + 1 : 0;
    return host << 32 | event->path2;
}

/* The list of connects (or accepts) of one connection that are not paired yet. */
static enum wio_status list_of(struct wio_feed *feed, uint64_t connection, bool accepts,
                               uint32_t *list_out)
{
    uint32_t list = wio_pair_map_get(&feed->lists_of, connection, accepts ? 1 : 0);
    if (list == WIO_FEED_NONE) {
        WIO_TRY(wio_feed_new_list(feed, &list));
        WIO_TRY(wio_pair_map_put(&feed->lists_of, connection, accepts ? 1 : 0, list));
    }
    *list_out = list;
    return WIO_OK;
}

/* R-CHAN-2: the inode of the socket that connected, 0: not known. */
static uint64_t connector_of(const struct wio_feed *feed, const struct wio_event *event)
{
    static const char prefix[] = "socket:[";
    if (event->op == WIO_OP_accept) {
        return event->arg[1] > 0 ? (uint64_t)event->arg[1] : 0;
    }
    const char *text = feed->params.text(feed->params.context, event->path);
    uint64_t inode = 0;
    if (strncmp(text, prefix, sizeof(prefix) - 1) == 0) {
        text += sizeof(prefix) - 1;
        for (; *text >= '0' && *text <= '9'; text++) {
            inode = inode * 10 + (uint64_t)(*text - '0');
        }
    }
    return inode;
}

/* Is the other side of this call in the list? `before_out`: the node before it. */
static bool find_other(const struct wio_feed *feed, const struct wio_feed_list *list,
                       const struct wio_feed_node *node, bool accepts, uint32_t *before_out)
{
    *before_out = WIO_FEED_NONE;
    for (uint32_t i = list->first; i != WIO_FEED_NONE; i = feed->nodes[i].next) {
        uint64_t wanted = accepts ? node->b : feed->nodes[i].b;
        if (wanted == 0 || node->b == feed->nodes[i].b) {
            return true;
        }
        *before_out = i;
    }
    return false;
}

/* R-CHAN-2: the k-th connect is paired with the k-th accept, by their ends, or with the one that it
 * names. */
static enum wio_status meet(struct wio_feed *feed, const struct wio_event *event, bool accepts)
{
    uint32_t object;
    uint32_t mine;
    uint32_t theirs;
    uint32_t before;
    struct wio_feed_node node = wio_feed_node_of(feed, event);
    WIO_TRY(wio_feed_channel(feed, event, event->path, &object));
    if (object == 0 || event->path2 == WIO_NO_STRING || event->path2 >= feed->params.string_count) {
        return WIO_OK;
    }
    WIO_TRY(list_of(feed, connection_of(feed, event), accepts, &mine));
    WIO_TRY(list_of(feed, connection_of(feed, event), !accepts, &theirs));
    node.a = object;
    node.b = connector_of(feed, event);
    feed->objects[object].is_connected = true;
    if (!find_other(feed, &feed->lists[theirs], &node, accepts, &before)) {
        return wio_feed_append(feed, &feed->lists[mine], &node);
    }
    uint32_t found = before == WIO_FEED_NONE ? feed->lists[theirs].first : feed->nodes[before].next;
    struct wio_feed_node other = feed->nodes[found];
    wio_feed_drop_behind(feed, &feed->lists[theirs], before);
    feed->objects[object].peer = (uint32_t)other.a;
    feed->objects[other.a].peer = object;
    bool has_messages = feed->objects[object].has_messages || feed->objects[other.a].has_messages;
    feed->objects[object].has_messages = has_messages; /* the connecting socket's type */
    feed->objects[other.a].has_messages = has_messages;
    const struct wio_feed_node *connect = accepts ? &other : &node;
    const struct wio_feed_node *accept = accepts ? &node : &other;
    return wio_feed_edge_from_before(feed, (struct wio_edge){.from_thread = connect->thread,
                                                             .from_op = connect->op,
                                                             .to_thread = accept->thread,
                                                             .to_op = accept->op,
                                                             .class = WIO_EDGE_HARD,
                                                             .evidence = WIO_EVIDENCE_SOCKET});
}

enum wio_status wio_feed_connect_end(struct wio_feed *feed, const struct wio_event *event)
{
    bool is_done = event->error == 0 || event->error == EINPROGRESS;
    if (!is_done || (event->op != WIO_OP_connect && event->op != WIO_OP_accept)) {
        return WIO_OK;
    }
    if (wio_feed_is_datagram(feed, event->path2)) {
        return wio_feed_message_bind(feed, event);
    }
    return meet(feed, event, event->op == WIO_OP_accept);
}
