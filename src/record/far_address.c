/* SPDX-License-Identifier: Apache-2.0 */
/* The part of record/far.h about how recorders find each other. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"
#include "record/far.h"

enum { BACKLOG = 4096, CONNECT_MS = 5000, ADDRESS_TEXT = INET6_ADDRSTRLEN + 1 };

static void close_socket(int *fd)
{
    wio_fd_cleanup(fd);
}

static void free_interfaces(struct ifaddrs **list)
{
    freeifaddrs(*list);
}

/* ---- listening ---------------------------------------------------------------------------- */

/* Both kinds of addresses where the kernel knows both. */
static int open_listener(void)
{
    const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6};
    const struct sockaddr_in any4 = {.sin_family = AF_INET};
    const int no = 0;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) == 0 &&
        bind(fd, (const struct sockaddr *)&any6, sizeof(any6)) == 0 && listen(fd, BACKLOG) == 0) {
        return fd;
    }
    close_socket(&fd);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&any4, sizeof(any4)) == 0 &&
        listen(fd, BACKLOG) == 0) {
        return fd;
    }
    close_socket(&fd);
    return -1;
}

static uint16_t port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } own = {.v6 = {0}};
    socklen_t size = sizeof(own);
    if (getsockname(fd, &own.any, &size) != 0) {
        return 0;
    }
    return ntohs(own.any.sa_family == AF_INET6 ? own.v6.sin6_port : own.v4.sin_port);
}

/* False: an address that others cannot use. */
static bool write_address(const struct sockaddr *address, char text[ADDRESS_TEXT])
{
    if (address != NULL && address->sa_family == AF_INET) {
        const struct sockaddr_in *in4 = (const struct sockaddr_in *)address;
        return inet_ntop(AF_INET, &in4->sin_addr, text, ADDRESS_TEXT) != NULL;
    }
    if (address != NULL && address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
        return !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) &&
               inet_ntop(AF_INET6, &in6->sin6_addr, text, ADDRESS_TEXT) != NULL;
    }
    return false;
}

/* Those of a network first: from another host, "this host" is somebody else. */
static void add_addresses(const struct ifaddrs *list, bool is_own,
                          char address[WIO_FAR_ADDRESS_BYTES])
{
    for (; list != NULL; list = list->ifa_next) {
        char text[ADDRESS_TEXT];
        size_t used = strlen(address);
        bool is_loop = (list->ifa_flags & IFF_LOOPBACK) != 0;
        if (is_loop == is_own && (list->ifa_flags & IFF_UP) != 0 &&
            write_address(list->ifa_addr, text) &&
            used + strlen(text) + 2 < WIO_FAR_ADDRESS_BYTES) {
            snprintf(address + used, WIO_FAR_ADDRESS_BYTES - used, "%s%s",
                     address[used - 1] == '/' ? "" : ",", text);
        }
    }
}

static bool make_token(char token_out[WIO_FAR_TOKEN_BYTES])
{
    unsigned char bytes[(WIO_FAR_TOKEN_BYTES - 1) / 2];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(bytes); i++) {
        snprintf(token_out + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

enum wio_status wio_far_listen(int *fd_out, char token_out[WIO_FAR_TOKEN_BYTES],
                               char address_out[WIO_FAR_ADDRESS_BYTES], struct wio_error *err)
{
    WIO_CLEANUP(free_interfaces) struct ifaddrs *list = NULL;
    WIO_CLEANUP(close_socket) int fd = open_listener();
    if (fd < 0 || getifaddrs(&list) != 0) {
        return wio_error_sys(err, NULL, "cannot listen for recorders of other hosts");
    }
    if (!make_token(token_out)) {
        return wio_error_sys(err, NULL, "cannot make a token for recorders of other hosts");
    }
    snprintf(address_out, WIO_FAR_ADDRESS_BYTES, "%u/%s/", (unsigned)port_of(fd), token_out);
    add_addresses(list, false, address_out);
    add_addresses(list, true, address_out);
    *fd_out = fd;
    fd = -1;
    return WIO_OK;
}

/* ---- connecting --------------------------------------------------------------------------- */

static bool read_address(const char *text, uint16_t port, struct sockaddr_storage *out,
                         socklen_t *size_out)
{
    struct sockaddr_in *in4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
    *out = (struct sockaddr_storage){0};
    if (inet_pton(AF_INET, text, &in4->sin_addr) == 1) {
        in4->sin_family = AF_INET;
        in4->sin_port = htons(port);
        *size_out = sizeof(*in4);
        return true;
    }
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    *size_out = sizeof(*in6);
    return inet_pton(AF_INET6, text, &in6->sin6_addr) == 1;
}

/* -1: nobody there. */
static int try_address(const char *text, uint16_t port)
{
    struct sockaddr_storage address;
    socklen_t size;
    const int yes = 1;
    int error = 0;
    socklen_t error_size = sizeof(error);
    if (!read_address(text, port, &address, &size)) {
        return -1;
    }
    WIO_CLEANUP(close_socket)
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    struct pollfd pollfd = {.fd = fd, .events = POLLOUT};
    if (connect(fd, (const struct sockaddr *)&address, size) != 0 &&
        (errno != EINPROGRESS || poll(&pollfd, 1, CONNECT_MS) != 1 ||
         getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size) != 0 || error != 0)) {
        return -1;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    int connected = fd;
    fd = -1;
    return connected;
}

static bool split(const char *address, uint16_t *port_out, char token_out[WIO_FAR_TOKEN_BYTES],
                  const char **list_out)
{
    uint64_t port;
    if (!wio_scan_u64(&address, &port) || port == 0 || port > UINT16_MAX || *address != '/') {
        return false;
    }
    address++;
    size_t size = strcspn(address, "/");
    if (size != WIO_FAR_TOKEN_BYTES - 1 || address[size] != '/') {
        return false;
    }
    memcpy(token_out, address, size);
    token_out[size] = '\0';
    *port_out = (uint16_t)port;
    *list_out = address + size + 1;
    return true;
}

enum wio_status wio_far_connect(const char *address, int *fd_out,
                                char token_out[WIO_FAR_TOKEN_BYTES], struct wio_error *err)
{
    uint16_t port;
    const char *list;
    if (!split(address, &port, token_out, &list)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "WHYIO_DIRECTOR: expected what 'whyio record --hosts' has put there");
    }
    for (const char *at = list; *at != '\0'; at += *at == ',' ? 1 : 0) {
        char text[ADDRESS_TEXT];
        size_t size = strcspn(at, ",");
        snprintf(text, sizeof(text), "%.*s", (int)(size < sizeof(text) ? size : 0), at);
        at += size;
        *fd_out = try_address(text, port);
        if (*fd_out >= 0) {
            return WIO_OK;
        }
    }
    return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                         "cannot reach 'whyio record --hosts' at port %u of %s: it has ended, or "
                         "no network leads there",
                         (unsigned)port, list);
}
