/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs connects with accepts: the two sockets are each other's peers from then on. */
#include <errno.h>
#include <string.h>

#include "causal/files/files.h"

enum wio_status wio_infer_connects_init(struct wio_infer *infer)
{
    wio_pair_map_init(&infer->sockets.unpaired_of, &infer->alloc);
    return WIO_OK;
}

void wio_infer_connects_fini(struct wio_infer *infer)
{
    wio_pair_map_fini(&infer->sockets.unpaired_of);
}

/* Both ends are on one host: other hosts may have a connection of that name too. */
static bool is_within_host(const struct wio_infer *infer, uint32_t connection)
{
    static const char *const kinds[] = {"unix ", "inet 127.", "inet6 [0:0:0:0:0:0:0:1]:"};
    const char *text = infer->params.text(infer->params.context, connection);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(kinds); i++) {
        if (strncmp(text, kinds[i], strlen(kinds[i])) == 0) {
            return true;
        }
    }
    return false;
}

static uint64_t connection_of(const struct wio_infer *infer, const struct wio_event *event)
{
    uint64_t host =
        is_within_host(infer, event->path2) ? (uint64_t)wio_infer_host(infer, event) + 1 : 0;
    return host << 32 | event->path2;
}

/* The list of connects (or accepts) of one connection that are not paired yet. */
static enum wio_status list_of(struct wio_infer *infer, uint64_t connection, bool accepts,
                               uint32_t *list_out)
{
    uint32_t list = wio_pair_map_get(&infer->sockets.unpaired_of, connection, accepts ? 1 : 0);
    if (list == WIO_INFER_NONE) {
        WIO_TRY(wio_infer_new_list(infer, &list));
        WIO_TRY(wio_pair_map_put(&infer->sockets.unpaired_of, connection, accepts ? 1 : 0, list));
    }
    *list_out = list;
    return WIO_OK;
}

/* R-CHAN-2: the inode of the socket that connected, 0: not known. */
static uint64_t connector_of(const struct wio_infer *infer, const struct wio_event *event)
{
    static const char prefix[] = "socket:[";
    if (event->op == WIO_OP_accept) {
        return event->arg[1] > 0 ? (uint64_t)event->arg[1] : 0;
    }
    const char *text = infer->params.text(infer->params.context, event->path);
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
static bool find_other(const struct wio_infer *infer, const struct wio_infer_list *list,
                       const struct wio_infer_node *node, bool accepts, uint32_t *before_out)
{
    *before_out = WIO_INFER_NONE;
    for (uint32_t i = list->first; i != WIO_INFER_NONE; i = infer->lists.nodes[i].next) {
        uint64_t wanted = accepts ? node->b : infer->lists.nodes[i].b;
        if (wanted == 0 || node->b == infer->lists.nodes[i].b) {
            return true;
        }
        *before_out = i;
    }
    return false;
}

/* R-CHAN-2: the k-th connect is paired with the k-th accept, by their ends, or with the one that it
 * names. */
static enum wio_status meet(struct wio_infer *infer, const struct wio_event *event, bool accepts)
{
    uint32_t object;
    uint32_t mine;
    uint32_t theirs;
    uint32_t before;
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    WIO_TRY(wio_infer_channel(infer, event, event->path, &object));
    if (!wio_infer_is(infer, object, WIO_INFER_SOCKET) || event->path2 == WIO_NO_STRING ||
        event->path2 >= infer->params.string_count) {
        return WIO_OK;
    }
    WIO_TRY(list_of(infer, connection_of(infer, event), accepts, &mine));
    WIO_TRY(list_of(infer, connection_of(infer, event), !accepts, &theirs));
    node.a = object;
    node.b = connector_of(infer, event);
    wio_infer_socket(infer, object)->is_connected = true;
    if (!find_other(infer, &infer->lists.items[theirs], &node, accepts, &before)) {
        return wio_infer_append(infer, &infer->lists.items[mine], &node);
    }
    uint32_t found = before == WIO_INFER_NONE ? infer->lists.items[theirs].first
                                              : infer->lists.nodes[before].next;
    struct wio_infer_node other = infer->lists.nodes[found];
    wio_infer_drop_behind(infer, &infer->lists.items[theirs], before);
    struct wio_infer_socket *own = wio_infer_socket(infer, object);
    struct wio_infer_socket *peer = wio_infer_socket(infer, (uint32_t)other.a);
    own->peer = (uint32_t)other.a;
    peer->peer = object;
    own->has_messages = own->has_messages || peer->has_messages; /* the connecting socket's type */
    peer->has_messages = own->has_messages;
    const struct wio_infer_node *connect = accepts ? &other : &node;
    const struct wio_infer_node *accept = accepts ? &node : &other;
    return wio_infer_edge_from_before(infer, (struct wio_edge){.from_thread = connect->thread,
                                                               .from_op = connect->op,
                                                               .to_thread = accept->thread,
                                                               .to_op = accept->op,
                                                               .class = WIO_EDGE_HARD,
                                                               .evidence = WIO_EVIDENCE_SOCKET});
}

enum wio_status wio_infer_connect_end(struct wio_infer *infer, const struct wio_event *event)
{
    bool is_done = event->error == 0 || event->error == EINPROGRESS;
    if (!is_done || (event->op != WIO_OP_connect && event->op != WIO_OP_accept)) {
        return WIO_OK;
    }
    if (wio_infer_is_datagram(infer, event->path2)) {
        return wio_infer_message_bind(infer, event);
    }
    return meet(infer, event, event->op == WIO_OP_accept);
}
