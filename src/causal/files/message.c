/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets that keep messages apart: datagrams (of addresses, connected, or in pairs) and sequences
 * of packets. A message is read whole or cut, never together with the next one; one that the kernel
 * dropped, or that came from where nothing is recorded, is recognised by its size. R-CHAN-3
 */
#include <string.h>
#include <sys/socket.h>

#include "base/mix.h"
#include "causal/files/files.h"

/* Unread messages that are kept per socket. Older ones are only counted: the next reads are theirs.
 */
#define KEPT_MAX 4096u
/* sendmmsg reports one size for all. */
#define ANY_SIZE UINT64_MAX

#define FIELDS 4 /* "dgram", family, address, address of the other end */

enum wio_status wio_infer_messages_init(struct wio_infer *infer)
{
    wio_pair_map_init(&infer->sockets.bound_of, &infer->alloc);
    return WIO_OK;
}

void wio_infer_messages_fini(struct wio_infer *infer)
{
    wio_pair_map_fini(&infer->sockets.bound_of);
}

struct address_field {
    const char *text;
    size_t length;
};

/* The fields of "dgram inet A:PORT [B:PORT]"; 0 where it is none. */
static unsigned split(const struct wio_infer *infer, uint32_t string,
                      struct address_field fields[FIELDS])
{
    unsigned count = 0;
    if (string == WIO_NO_STRING || string >= infer->params.string_count) {
        return 0;
    }
    const char *text = infer->params.text(infer->params.context, string);
    if (strncmp(text, "dgram ", 6) != 0) {
        return 0;
    }
    for (;;) {
        size_t length = strcspn(text, " ");
        fields[count++] = (struct address_field){text, length};
        if (text[length] == '\0' || count == FIELDS) {
            return count;
        }
        text += length + 1;
    }
}

static bool is_any(const struct address_field *address)
{
    static const char *const any[] = {"0.0.0.0:", "[0:0:0:0:0:0:0:0]:"};
    return strncmp(address->text, any[0], strlen(any[0])) == 0 ||
           strncmp(address->text, any[1], strlen(any[1])) == 0;
}

static bool is_loopback(const struct address_field *address)
{
    static const char *const own[] = {"127.", "[0:0:0:0:0:0:0:1]:"};
    return strncmp(address->text, own[0], strlen(own[0])) == 0 ||
           strncmp(address->text, own[1], strlen(own[1])) == 0;
}

/* All addresses of the host: by their port. */
static uint64_t port_key(const struct address_field *address)
{
    size_t at = address->length;
    while (at > 0 && address->text[at - 1] != ':') {
        at--;
    }
    return wio_mix_text(1, address->text + at, address->length - at);
}

static uint64_t address_key(const struct address_field *address)
{
    return wio_mix_text(WIO_MIX_TEXT, address->text, address->length);
}

/* The socket that receives what is sent to the address; 0 where it is not known. */
static uint32_t reader_of(const struct wio_infer *infer, const struct wio_event *event,
                          const struct address_field *address)
{
    uint32_t host = wio_infer_host(infer, event);
    uint32_t object = wio_pair_map_get(&infer->sockets.bound_of, host, address_key(address));
    if (object == WIO_INFER_NONE && is_loopback(address)) {
        object = wio_pair_map_get(&infer->sockets.bound_of, host, port_key(address));
    }
    return object == WIO_INFER_NONE ? 0 : object;
}

bool wio_infer_is_datagram(const struct wio_infer *infer, uint32_t string)
{
    struct address_field fields[FIELDS];
    return split(infer, string, fields) > 0;
}

enum wio_status wio_infer_message_bind(struct wio_infer *infer, const struct wio_event *event)
{
    uint32_t object;
    struct address_field fields[FIELDS];
    unsigned count = split(infer, event->path2, fields);
    WIO_TRY(wio_infer_channel(infer, event, event->path, &object));
    if (count < 3 || !wio_infer_is(infer, object, WIO_INFER_SOCKET)) {
        return WIO_OK;
    }
    struct wio_infer_socket *socket = wio_infer_socket(infer, object);
    socket->has_messages = true;
    socket->address = count == FIELDS ? event->path2 : socket->address;
    uint64_t key = is_any(&fields[2]) ? port_key(&fields[2]) : address_key(&fields[2]);
    return fields[2].length == 0 ? WIO_OK
                                 : wio_pair_map_put(&infer->sockets.bound_of,
                                                    wio_infer_host(infer, event), key, object);
}

void wio_infer_message_make(struct wio_infer *infer, uint32_t object, int64_t type)
{
    int64_t kind = type & ~(int64_t)(SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (object == 0) {
        return;
    }
    struct wio_infer_socket *socket = wio_infer_socket(infer, object);
    socket->has_messages = kind == SOCK_DGRAM || kind == SOCK_SEQPACKET;
    socket->is_connected = kind == SOCK_STREAM;
}

/* The address that is named, or was connected to, or the other one of the pair. */
static uint32_t destination_of(const struct wio_infer *infer, const struct wio_event *event,
                               uint32_t object)
{
    struct address_field fields[FIELDS];
    if (split(infer, event->path2, fields) == FIELDS - 1) {
        return reader_of(infer, event, &fields[2]);
    }
    if (split(infer, wio_infer_socket(infer, object)->address, fields) == FIELDS) {
        return reader_of(infer, event, &fields[3]);
    }
    return wio_infer_socket(infer, object)->peer;
}

static void forget_oldest(struct wio_infer *infer, struct wio_infer_socket *socket)
{
    while (socket->messages.count > KEPT_MAX) {
        wio_infer_drop_first(infer, &socket->messages);
        socket->forgotten++;
    }
}

enum wio_status wio_infer_message_write(struct wio_infer *infer, const struct wio_event *event,
                                        uint32_t object)
{
    uint32_t to = destination_of(infer, event, object);
    if (to == 0) {
        return WIO_OK;
    }
    bool is_many = event->op == WIO_OP_sendmmsg && event->arg[1] != 1;
    struct wio_infer_socket *socket = wio_infer_socket(infer, to);
    struct wio_infer_node node = wio_infer_node_of(infer, event);
    node.a = is_many ? ANY_SIZE : (uint64_t)event->result;
    node.b = wio_infer_end_ns(event);
    int64_t count = is_many ? event->arg[1] : 1;
    for (int64_t i = 0; i < count && i < KEPT_MAX; i++) { /* whatever a broken trace says */
        WIO_TRY(wio_infer_append(infer, &socket->messages, &node));
    }
    forget_oldest(infer, socket);
    return WIO_OK;
}

/* Can this message be what was read? */
static bool fits(const struct wio_infer_node *message, const struct wio_event *event)
{
    uint64_t got = (uint64_t)event->result;
    bool is_cut = got == event->size && (event->arg[0] & MSG_TRUNC) == 0;
    return event->op == WIO_OP_recvmmsg || message->a == ANY_SIZE ||
           (is_cut ? message->a >= got : message->a == got);
}

/* Two threads sent at the same time: the order of their messages is not known. */
static bool is_uncertain(const struct wio_infer *infer, const struct wio_infer_node *first,
                         const struct wio_event *event)
{
    uint32_t i = first->next;
    while (i != WIO_INFER_NONE && infer->lists.nodes[i].begin_ns <= first->b) {
        if (infer->lists.nodes[i].thread != first->thread && fits(&infer->lists.nodes[i], event)) {
            return true;
        }
        i = infer->lists.nodes[i].next;
    }
    return false;
}

/* The first message that it can be; those before it were lost, or are another sender's. `stays`: it
 * is only peeked at. */
static enum wio_status take(struct wio_infer *infer, const struct wio_event *event, uint32_t from,
                            bool stays)
{
    struct wio_infer_list *list = &wio_infer_socket(infer, from)->messages;
    uint32_t before = WIO_INFER_NONE;
    uint32_t at = list->first;
    if (wio_infer_socket(infer, from)->forgotten > 0) {
        wio_infer_socket(infer, from)->forgotten -= stays ? 0 : 1;
        return WIO_OK;
    }
    while (at != WIO_INFER_NONE && !fits(&infer->lists.nodes[at], event)) {
        before = at;
        at = infer->lists.nodes[at].next;
    }
    if (at == WIO_INFER_NONE) {
        return WIO_OK;
    }
    const struct wio_infer_node message = infer->lists.nodes[at];
    struct wio_point point = wio_infer_point(infer, event);
    bool is_known = !is_uncertain(infer, &message, event);
    if (!stays) {
        wio_infer_drop_behind(infer, list, before);
    }
    return !is_known ? WIO_OK
                     : wio_infer_edge_from_before(
                           infer, (struct wio_edge){.from_thread = message.thread,
                                                    .from_op = message.op,
                                                    .to_thread = point.thread,
                                                    .to_op = point.op,
                                                    .object = from,
                                                    .class = WIO_EDGE_HARD,
                                                    .evidence = WIO_EVIDENCE_SOCKET});
}

enum wio_status wio_infer_message_read(struct wio_infer *infer, const struct wio_event *event,
                                       uint32_t object, bool stays)
{
    wio_infer_note_taker(&infer->objects.items[object], wio_infer_point(infer, event).thread);
    int64_t count = event->op == WIO_OP_recvmmsg ? event->arg[1] : 1;
    for (int64_t i = 0; i < count && i < KEPT_MAX; i++) { /* whatever a broken trace says */
        WIO_TRY(take(infer, event, object, stays));
    }
    return WIO_OK;
}

enum wio_status wio_infer_message_none(struct wio_infer *infer, const struct wio_event *event,
                                       uint32_t object)
{
    struct wio_infer_socket *socket = wio_infer_socket(infer, object);
    socket->forgotten = 0;
    while (socket->messages.count > 0 &&
           infer->lists.nodes[socket->messages.first].b < event->t_ns) {
        wio_infer_drop_first(infer, &socket->messages);
    }
    return WIO_OK;
}
