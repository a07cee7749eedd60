/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/files/channels.h"

#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "base/fmt.h"
#include "capture/core/raw.h"
#include "capture/files/fds.h"

#define TEXT_MAX 512u

union any_address {
    struct sockaddr plain;
    struct sockaddr_in inet;
    struct sockaddr_in6 inet6;
    struct sockaddr_un local;
    struct sockaddr_storage storage;
};

struct end {
    union any_address address;
    socklen_t length;
};

/* ---- texts ------------------------------------------------------------------------------------
 */

static void put_inet(struct wio_fmt *fmt, const uint8_t *bytes, uint16_t port)
{
    for (unsigned i = 0; i < 4; i++) {
        wio_fmt_str(fmt, i > 0 ? "." : "");
        wio_fmt_u64(fmt, bytes[i]);
    }
    wio_fmt_str(fmt, ":");
    wio_fmt_u64(fmt, ntohs(port));
}

static void put_inet6(struct wio_fmt *fmt, const uint8_t *bytes, uint16_t port)
{
    for (unsigned i = 0; i < 16; i += 2) {
        wio_fmt_str(fmt, i > 0 ? ":" : "[");
        wio_fmt_hex(fmt, (uint64_t)bytes[i] << 8 | bytes[i + 1], 1);
    }
    wio_fmt_str(fmt, "]:");
    wio_fmt_u64(fmt, ntohs(port));
}

/* A name without blanks: bytes that are none of a plain text as %XX. */
static void put_local(struct wio_fmt *fmt, const struct sockaddr_un *address, socklen_t length)
{
    size_t bytes = length > offsetof(struct sockaddr_un, sun_path)
                       ? length - offsetof(struct sockaddr_un, sun_path)
                       : 0;
    bool is_abstract = bytes > 0 && address->sun_path[0] == '\0';
    if (!is_abstract) {
        bytes = strnlen(address->sun_path, bytes);
    }
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)address->sun_path[i];
        if (i == 0 && is_abstract) {
            wio_fmt_str(fmt, "@");
        } else if (c > ' ' && c <= '~' && c != '%') {
            wio_fmt_bytes(fmt, &address->sun_path[i], 1);
        } else {
            wio_fmt_str(fmt, "%");
            wio_fmt_hex(fmt, c, 2);
        }
    }
}

/* The four bytes of an IPv4 address within one of IPv6; NULL where it is none. */
static const uint8_t *mapped(const struct sockaddr_in6 *address)
{
    return IN6_IS_ADDR_V4MAPPED(&address->sin6_addr) ? &address->sin6_addr.s6_addr[12] : NULL;
}

/* "inet", "inet6", "unix"; NULL for all others. */
static const char *family_of(const struct end *end)
{
    switch (end->length >= sizeof(sa_family_t) ? end->address.plain.sa_family : AF_UNSPEC) {
    case AF_INET:
        return "inet";
    case AF_INET6:
        return mapped(&end->address.inet6) != NULL ? "inet" : "inet6";
    case AF_UNIX:
        return "unix";
    default:
        return NULL;
    }
}

static void put_end(struct wio_fmt *fmt, const struct end *end)
{
    const union any_address *any = &end->address;
    if (any->plain.sa_family == AF_INET) {
        put_inet(fmt, (const uint8_t *)&any->inet.sin_addr, any->inet.sin_port);
    } else if (any->plain.sa_family == AF_UNIX) {
        put_local(fmt, &any->local, end->length);
    } else if (mapped(&any->inet6) != NULL) {
        put_inet(fmt, mapped(&any->inet6), any->inet6.sin6_port);
    } else {
        put_inet6(fmt, any->inet6.sin6_addr.s6_addr, any->inet6.sin6_port);
    }
}

/* ---- what the kernel knows of a socket --------------------------------------------------------
 */

static bool ask(long number, int fd, struct end *out)
{
    memset(out, 0, sizeof(*out));
    out->length = sizeof(out->address);
    return raw_call3(number, fd, (long)&out->address, (long)&out->length) == 0 &&
           family_of(out) != NULL;
}

static int option(int fd, int name)
{
    int value = -1;
    socklen_t length = sizeof(value);
    long result = raw_call6(SYS_getsockopt, fd, SOL_SOCKET, name, (long)&value, (long)&length, 0);
    return result == 0 ? value : -1;
}

static bool is_datagram(int fd)
{
    int type = option(fd, SO_TYPE);
    return type == SOCK_DGRAM || type == SOCK_RAW;
}

static int peer_pid(int fd)
{
    struct ucred peer = {0};
    socklen_t length = sizeof(peer);
    (void)raw_call6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&length, 0);
    return peer.pid;
}

static void copy_end(struct end *out, const struct sockaddr *address, socklen_t length)
{
    memset(out, 0, sizeof(*out));
    out->length = length < sizeof(out->address) ? length : sizeof(out->address);
    memcpy(&out->address, address, out->length);
}

/* ---- connections: the same text at both ends: R-CHAN-2, R-CHAN-3 ----------------------------- */

static uint32_t inet_text(struct cap_thread *self, const struct end *one, const struct end *other)
{
    char texts[2][64];
    char text[TEXT_MAX];
    const struct end *ends[2] = {one, other};
    for (unsigned i = 0; i < 2; i++) {
        struct wio_fmt fmt = wio_fmt_of(texts[i], sizeof(texts[i]));
        put_end(&fmt, ends[i]);
    }
    unsigned first = strcmp(texts[0], texts[1]) <= 0 ? 0 : 1;
    struct wio_fmt fmt = wio_fmt_of(text, sizeof(text));
    wio_fmt_str(&fmt, family_of(one));
    wio_fmt_str(&fmt, " ");
    wio_fmt_str(&fmt, texts[first]);
    wio_fmt_str(&fmt, " ");
    wio_fmt_str(&fmt, texts[1 - first]);
    return cap_text(self, text, fmt.used);
}

static uint32_t local_text(struct cap_thread *self, const struct end *listener, int connector)
{
    char text[TEXT_MAX];
    struct wio_fmt fmt = wio_fmt_of(text, sizeof(text));
    wio_fmt_str(&fmt, "unix ");
    put_end(&fmt, listener);
    wio_fmt_str(&fmt, " ");
    wio_fmt_i64(&fmt, connector);
    return cap_text(self, text, fmt.used);
}

/* `two` may be NULL. */
static uint32_t datagram_text(struct cap_thread *self, const struct end *one, const struct end *two)
{
    char text[TEXT_MAX];
    struct wio_fmt fmt = wio_fmt_of(text, sizeof(text));
    wio_fmt_str(&fmt, "dgram ");
    wio_fmt_str(&fmt, family_of(one));
    wio_fmt_str(&fmt, " ");
    put_end(&fmt, one);
    if (two != NULL) {
        wio_fmt_str(&fmt, " ");
        put_end(&fmt, two);
    }
    return cap_text(self, text, fmt.used);
}

void cap_channel_accepted(struct cap_thread *self, struct cap_event *ev, struct cap_ext *ext)
{
    struct end here;
    struct end there;
    int fd = (int)ev->result;
    if (fd < 0) {
        return;
    }
    cap_fd_clear(fd);
    ext->fd2 = fd;
    ev->path = cap_fd_learn(self, fd);
    if (!ask(SYS_getsockname, fd, &here)) {
        return;
    }
    if (here.address.plain.sa_family == AF_UNIX) {
        ext->path2 = local_text(self, &here, peer_pid(fd));
        ext->arg[1] = cap_is_causal ? cap_channel_peer(fd) : 0;
    } else if (ask(SYS_getpeername, fd, &there)) {
        ext->path2 = inet_text(self, &here, &there);
    }
}

void cap_channel_connected(struct cap_thread *self, const struct cap_event *ev, struct cap_ext *ext,
                           const struct sockaddr *address, socklen_t length)
{
    struct end here;
    struct end there;
    if ((ev->error != 0 && ev->error != EINPROGRESS) || !ask(SYS_getsockname, ev->fd, &here)) {
        return;
    }
    copy_end(&there, address, length);
    if (family_of(&there) == NULL) {
        return; /* AF_UNSPEC: no longer connected */
    }
    if (is_datagram(ev->fd)) {
        ext->path2 = datagram_text(self, &here, &there);
    } else if (here.address.plain.sa_family != AF_UNIX) {
        ext->path2 = inet_text(self, &here, &there);
    } else if (ask(SYS_getpeername, ev->fd, &there)) {
        ext->path2 = local_text(self, &there, self->pid); /* as it was bound, not as it was asked */
    }
}

void cap_channel_bound(struct cap_thread *self, const struct cap_event *ev, struct cap_ext *ext)
{
    struct end here;
    if (ev->error == 0 && is_datagram(ev->fd) && ask(SYS_getsockname, ev->fd, &here)) {
        ext->path2 = datagram_text(self, &here, NULL);
    }
}

void cap_channel_sent_to(struct cap_thread *self, const struct cap_event *ev)
{
    struct cap_fd *entry = cap_fd_find_of(self, ev->fd);
    if (entry == NULL || (entry->flags & CAP_FD_BOUND) != 0) {
        return;
    }
    cap_fd_put_flag(entry, CAP_FD_BOUND, true);
    struct cap_ext ext = CAP_EXT;
    struct cap_event bound = CAP_EVENT(bind, ev->source);
    bound.begin = bound.end = ev->begin;
    bound.fd = ev->fd;
    bound.path = ev->path;
    bound.flags = WIO_EVENT_CAUSED;
    cap_channel_bound(self, &bound, &ext);
    if (ext.path2 != WIO_NO_STRING) {
        cap_emit_ext(self, &bound, &ext);
    }
}

uint32_t cap_end_of(struct cap_thread *self, int error, const struct sockaddr *address,
                    socklen_t length)
{
    struct end there;
    if (address == NULL || error != 0) {
        return WIO_NO_STRING;
    }
    copy_end(&there, address, length);
    return family_of(&there) != NULL ? datagram_text(self, &there, NULL) : WIO_NO_STRING;
}

uint32_t cap_message_end_of(struct cap_thread *self, int error, const struct msghdr *message)
{
    return error == 0 ? cap_end_of(self, error, message->msg_name, message->msg_namelen)
                      : WIO_NO_STRING;
}

/* ---- names: R-CHAN-1, R-CHAN-9. Descriptors from elsewhere have them from cap_fd_learn: R-CHAN-4
 * ------- */

void cap_channel_pair(struct cap_thread *self, struct cap_event *ev, struct cap_ext *ext,
                      const int ends[2])
{
    if (ev->result != 0) {
        return;
    }
    cap_fd_clear(ends[0]);
    cap_fd_clear(ends[1]);
    ev->path = cap_fd_learn(self, ends[0]);
    ext->path2 = cap_fd_learn(self, ends[1]);
    ext->arg[0] = ends[0];
    ext->arg[1] = ends[1];
}

void cap_channel_made(struct cap_thread *self, struct cap_event *ev)
{
    if (ev->result >= 0) {
        cap_fd_clear((int)ev->result);
        ev->path = cap_fd_learn(self, (int)ev->result);
    }
}
