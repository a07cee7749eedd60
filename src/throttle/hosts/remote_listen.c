/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/remote_listen.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/env.h"
#include "base/io.h"

enum { BACKLOG = 4096, SOCKET_TEXT = INET6_ADDRSTRLEN + 8, HOST_TEXT = 256, NAMES_TEXT = 256 };

/* What is found. */
struct found {
    const struct ifaddrs *list; /* all addresses of this host */
    struct wio_remote_socket sockets[WIO_REMOTE_SOCKETS_MAX];
    uint32_t count;
};

static void free_interfaces(struct ifaddrs **list)
{
    freeifaddrs(*list);
}

static void free_names(struct addrinfo **list)
{
    if (*list != NULL) {
        freeaddrinfo(*list);
    }
}

/* ---- addresses ---------------------------------------------------------------------------- */

/* False: one that others cannot use. Its port is 0. */
static bool take_address(const struct sockaddr *address, struct wio_remote_socket *socket_out)
{
    *socket_out = (struct wio_remote_socket){0};
    if (address != NULL && address->sa_family == AF_INET) {
        struct sockaddr_in *in4 = (struct sockaddr_in *)&socket_out->address;
        in4->sin_family = AF_INET;
        in4->sin_addr = ((const struct sockaddr_in *)address)->sin_addr;
        socket_out->size = sizeof(*in4);
        return true;
    }
    if (address != NULL && address->sa_family == AF_INET6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&socket_out->address;
        in6->sin6_family = AF_INET6;
        in6->sin6_addr = ((const struct sockaddr_in6 *)address)->sin6_addr;
        socket_out->size = sizeof(*in6);
        return !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
    }
    return false;
}

static bool is_same(const struct wio_remote_socket *a, const struct wio_remote_socket *b)
{
    char texts[2][SOCKET_TEXT];
    return wio_remote_socket_text(a, texts[0], SOCKET_TEXT) &&
           wio_remote_socket_text(b, texts[1], SOCKET_TEXT) && strcmp(texts[0], texts[1]) == 0;
}

static void add(struct found *found, const struct sockaddr *address)
{
    struct wio_remote_socket socket;
    if (!take_address(address, &socket) || found->count == WIO_REMOTE_SOCKETS_MAX) {
        return;
    }
    for (uint32_t i = 0; i < found->count; i++) {
        if (is_same(&socket, &found->sockets[i])) {
            return;
        }
    }
    found->sockets[found->count++] = socket;
}

static bool is_network(const struct ifaddrs *entry)
{
    struct wio_remote_socket socket;
    return (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0 &&
           take_address(entry->ifa_addr, &socket);
}

/* Of a network of this host. */
static bool is_own(const struct found *found, const struct sockaddr *address)
{
    struct wio_remote_socket wanted;
    struct wio_remote_socket socket;
    for (const struct ifaddrs *entry = found->list; entry != NULL; entry = entry->ifa_next) {
        if (is_network(entry) && take_address(address, &wanted) &&
            take_address(entry->ifa_addr, &socket) && is_same(&wanted, &socket)) {
            return true;
        }
    }
    return false;
}

/* ---- ways to find some -------------------------------------------------------------------- */

static void find_interface(struct found *found, const char *name)
{
    struct wio_remote_socket wanted;
    struct wio_remote_socket socket;
    bool is_address = wio_remote_socket_parse(name, 0, &wanted);
    for (const struct ifaddrs *entry = found->list; entry != NULL; entry = entry->ifa_next) {
        bool is_named = is_address
                            ? take_address(entry->ifa_addr, &socket) && is_same(&wanted, &socket)
                            : strcmp(entry->ifa_name, name) == 0;
        if (is_named && (entry->ifa_flags & IFF_UP) != 0) {
            add(found, entry->ifa_addr);
        }
    }
}

/* The own address on the way to another one: a datagram socket finds the way and sends nothing. */
static void find_way(struct found *found, const struct sockaddr *to, socklen_t size)
{
    struct sockaddr_storage own;
    socklen_t own_size = sizeof(own);
    WIO_CLEANUP(wio_fd_cleanup) int fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, to, size) == 0 &&
        getsockname(fd, (struct sockaddr *)&own, &own_size) == 0 &&
        is_own(found, (const struct sockaddr *)&own)) {
        add(found, (const struct sockaddr *)&own);
    }
}

static int ask_name(const char *name, struct addrinfo **list_out)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    *list_out = NULL;
    return getaddrinfo(name, "9", &hints, list_out);
}

static enum wio_status find_host(struct found *found, const char *name, struct wio_error *err)
{
    WIO_CLEANUP(free_names) struct addrinfo *list = NULL;
    int failed = ask_name(name, &list);
    if (failed != 0) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "--hosts: cannot find host '%s': %s", name, gai_strerror(failed));
    }
    for (const struct addrinfo *entry = list; entry != NULL; entry = entry->ai_next) {
        find_way(found, entry->ai_addr, entry->ai_addrlen);
    }
    return WIO_OK;
}

static enum wio_status find_hosts(struct found *found, const char *names, struct wio_error *err)
{
    for (const char *at = names; at != NULL && *at != '\0'; at += *at == ',' ? 1 : 0) {
        char name[HOST_TEXT];
        size_t size = strcspn(at, ",");
        snprintf(name, sizeof(name), "%.*s", (int)(size < sizeof(name) ? size : 0), at);
        at += size;
        WIO_TRY(find_host(found, name, err));
    }
    return WIO_OK;
}

/* NULL: there are none, or several. `names` lists them, for a message. */
static const char *only_interface(const struct found *found, char names[NAMES_TEXT])
{
    const char *only = NULL;
    bool is_only = true;
    names[0] = '\0';
    for (const struct ifaddrs *entry = found->list; entry != NULL; entry = entry->ifa_next) {
        if (!is_network(entry)) {
            continue;
        }
        only = only == NULL ? entry->ifa_name : only;
        is_only = is_only && strcmp(only, entry->ifa_name) == 0;
        size_t used = strlen(names);
        if (strstr(names, entry->ifa_name) == NULL) {
            snprintf(names + used, NAMES_TEXT - used, "%s%s", used > 0 ? ", " : "",
                     entry->ifa_name);
        }
    }
    return is_only ? only : NULL;
}

static void find_own_name(struct found *found)
{
    char name[HOST_TEXT] = "";
    WIO_CLEANUP(free_names) struct addrinfo *list = NULL;
    if (gethostname(name, sizeof(name) - 1) != 0 || ask_name(name, &list) != 0) {
        return;
    }
    for (const struct addrinfo *entry = list; entry != NULL; entry = entry->ai_next) {
        if (is_own(found, entry->ai_addr)) {
            add(found, entry->ai_addr);
        }
    }
}

/* On the way to addresses that are there for documents only. */
static void find_default_route(struct found *found)
{
    static const char *const nowhere[] = {"192.0.2.1", "2001:db8::1"};
    struct wio_remote_socket to;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(nowhere); i++) {
        if (wio_remote_socket_parse(nowhere[i], 9, &to)) {
            find_way(found, (const struct sockaddr *)&to.address, to.size);
        }
    }
}

static void find_loopback(struct found *found)
{
    for (const struct ifaddrs *entry = found->list; entry != NULL; entry = entry->ifa_next) {
        if ((entry->ifa_flags & IFF_LOOPBACK) != 0) {
            add(found, entry->ifa_addr);
        }
    }
}

/* ---- choosing ----------------------------------------------------------------------------- */

static enum wio_status choose_by_itself(struct found *found, struct wio_error *err)
{
    char names[NAMES_TEXT];
    const char *only = only_interface(found, names);
    if (only != NULL) {
        find_interface(found, only);
        return WIO_OK;
    }
    if (names[0] == '\0') {
        find_loopback(found);
        return WIO_OK;
    }
    find_own_name(found);
    if (found->count == 0) {
        find_default_route(found);
    }
    return found->count > 0
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                               "cannot tell by which network the other hosts are reached (%s): "
                               "WHYIO_INTERFACE=NAME or --hosts=HOST,.. chooses one",
                               names);
}

static enum wio_status choose(const struct wio_remote_where *where, struct found *found,
                              struct wio_error *err)
{
    if (where->interface != NULL && where->interface[0] != '\0') {
        find_interface(found, where->interface);
        return found->count > 0
                   ? WIO_OK
                   : wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                   "WHYIO_INTERFACE=%s: expected an interface of this host that is "
                                   "up, or an address of one",
                                   where->interface);
    }
    WIO_TRY(find_hosts(found, where->hosts, err));
    return found->count > 0 ? WIO_OK : choose_by_itself(found, err);
}

/* ---- listening ---------------------------------------------------------------------------- */

/* -1: not at this address. Its port is noted. */
static int open_listener(struct wio_remote_socket *at)
{
    const int yes = 1;
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = socket(at->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr *address = (struct sockaddr *)&at->address;
    socklen_t size = sizeof(at->address);
    if (fd < 0 ||
        (address->sa_family == AF_INET6 &&
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes)) != 0) ||
        bind(fd, address, at->size) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, address, &size) != 0) {
        return -1;
    }
    int listener = fd;
    fd = -1;
    return listener;
}

void wio_remote_listeners_fini(struct wio_remote_listeners *listeners)
{
    for (uint32_t i = 0; i < listeners->count; i++) {
        wio_fd_cleanup(&listeners->fds[i]);
    }
    listeners->count = 0;
}

enum wio_status wio_remote_listen(const struct wio_remote_where *where,
                                  struct wio_remote_listeners *listeners_out, struct wio_error *err)
{
    WIO_CLEANUP(free_interfaces) struct ifaddrs *list = NULL;
    *listeners_out = (struct wio_remote_listeners){0};
    if (getifaddrs(&list) != 0) {
        return wio_error_sys(err, NULL, "cannot list the network interfaces");
    }
    struct found found = {.list = list};
    WIO_TRY(choose(where, &found, err));
    for (uint32_t i = 0; i < found.count; i++) {
        int fd = open_listener(&found.sockets[i]);
        if (fd >= 0) {
            listeners_out->fds[listeners_out->count] = fd;
            listeners_out->sockets[listeners_out->count++] = found.sockets[i];
        }
    }
    return listeners_out->count > 0
               ? WIO_OK
               : wio_error_sys(err, NULL, "cannot listen for recorders of other hosts");
}
