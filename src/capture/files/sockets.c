/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on sockets that may be more than one event: R-CHAN-3, R-CHAN-7. */
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "capture/files/hooks.h"

/* ---- bind: a Unix socket with a path is a file that it makes ---- */

/* WIO_NO_STRING: the address is no path. */
static uint32_t path_of(struct cap_thread *self, const struct sockaddr *address, socklen_t length)
{
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
    const size_t head = offsetof(struct sockaddr_un, sun_path);
    if (length <= head || address->sa_family != AF_UNIX) {
        return WIO_NO_STRING;
    }
    size_t bytes = length - head < sizeof(path) - 1 ? length - head : sizeof(path) - 1;
    memcpy(path, (const char *)address + head, bytes);
    path[bytes] = '\0'; /* there need not be one in the address */
    return path[0] != '\0' ? cap_string(self, AT_FDCWD, path) : WIO_NO_STRING;
}

static void emit_file(struct cap_thread *self, const struct cap_event *bind, uint32_t path)
{
    struct cap_event ev = CAP_EVENT(mknod, bind->source);
    ev.begin = bind->begin;
    ev.end = bind->end;
    ev.flags = WIO_EVENT_CAUSED;
    ev.path = path;
    ev.offset = S_IFSOCK | 0777;
    ev.size = 0;
    cap_emit(self, &ev);
}

CAP_EXPORT int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t length)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter(source, WIO_CALL_bind);
    if (self == NULL) {
        return CAP_REAL(bind)(fd, address, length);
    }
    struct cap_event ev = CAP_EVENT(bind, source);
    struct cap_ext ext = CAP_EXT;
    ev.path = cap_fd_path(self, fd);
    ev.begin = cap_begin(self);
    int result = CAP_REAL(bind)(fd, address, length);
    ev.end = cap_now();
    ev.error = result < 0 ? errno : 0;
    ev.result = result;
    ev.fd = fd;
    cap_channel_bound(self, &ev, &ext);
    uint32_t path =
        result == 0 ? path_of(self, address.__sockaddr__, length) : (uint32_t)WIO_NO_STRING;
    cap_emit_ext(self, &ev, &ext);
    if (path != WIO_NO_STRING) {
        emit_file(self, &ev, path);
    }
    return result;
}

/* ---- sendmmsg: one event for the messages to each address ---- */

static bool is_same_end(const struct msghdr *one, const struct msghdr *other)
{
    return one->msg_namelen == other->msg_namelen &&
           (one->msg_name != NULL) == (other->msg_name != NULL) &&
           (one->msg_name == NULL || memcmp(one->msg_name, other->msg_name, one->msg_namelen) == 0);
}

static unsigned same_ends(const struct mmsghdr *messages, unsigned count)
{
    unsigned same = 1;
    while (same < count && is_same_end(&messages[0].msg_hdr, &messages[same].msg_hdr)) {
        same++;
    }
    return same;
}

/* Of a descriptor, or an address, the first message that goes there tells more. */
static void tell_first(struct cap_thread *self, const struct cap_event *ev,
                       const struct mmsghdr *messages, unsigned sent)
{
    bool has_address = false;
    for (unsigned i = 0; i < sent; i++) {
        if (messages[i].msg_hdr.msg_controllen > 0) {
            cap_fd_share_sent(&messages[i].msg_hdr);
        }
        has_address = has_address || messages[i].msg_hdr.msg_name != NULL;
    }
    if (has_address) {
        cap_channel_sent_to(self, ev);
    }
}

/* All but the first have been caused by it: they are the same call. */
static void emit_sent(struct cap_thread *self, struct cap_event *ev, struct cap_ext *ext,
                      const struct mmsghdr *messages, unsigned sent, unsigned count)
{
    for (unsigned at = 0; at < sent;) {
        const struct mmsghdr *first = &messages[at];
        const unsigned same = same_ends(first, sent - at);
        const unsigned asked = at + same < sent ? same : count - at;
        ext->arg[1] = same;
        ext->path2 = cap_message_end_of(self, 0, &first->msg_hdr);
        ev->size = cap_messages_bytes(first, asked, 0);
        ev->result = cap_messages_done(first, (int)same);
        cap_emit_ext(self, ev, ext);
        ev->flags |= WIO_EVENT_CAUSED;
        at += same;
    }
}

CAP_EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags)
{
    const uintptr_t source = CAP_CALLER();
    struct cap_thread *self = cap_enter(source, WIO_CALL_sendmmsg);
    if (self == NULL) {
        return CAP_REAL(sendmmsg)(fd, messages, count, flags);
    }
    struct cap_event ev = CAP_EVENT(sendmmsg, source);
    struct cap_ext ext = CAP_EXT;
    ev.path = cap_fd_path(self, fd);
    ev.begin = cap_begin(self);
    int result = CAP_REAL(sendmmsg)(fd, messages, count, flags);
    ev.end = cap_now();
    ev.error = result < 0 ? errno : 0;
    ev.fd = fd;
    ext.arg[0] = flags;
    ext.arg[1] = result;
    if (result > 0) {
        tell_first(self, &ev, messages, (unsigned)result);
        emit_sent(self, &ev, &ext, messages, (unsigned)result, count);
        return result;
    }
    ev.result = result;
    ev.size = cap_messages_bytes(messages, count, ev.error);
    cap_emit_ext(self, &ev, &ext);
    return result;
}
