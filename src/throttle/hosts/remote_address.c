/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/remote_address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/system/boot_id.h"
#include "throttle/hosts/remote.h"

enum { SOCKET_TEXT = INET6_ADDRSTRLEN + 8, VERSION_BYTES = 64 };

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-";

/* ---- where -------------------------------------------------------------------------------- */

void wio_remote_place(char place_out[WIO_REMOTE_PLACE_BYTES])
{
    char boot[WIO_BOOT_ID_ROOM];
    char net[32] = "";
    place_out[0] = '\0';
    wio_boot_id(boot);
    if (boot[0] == '\0' || readlink("/proc/self/ns/net", net, sizeof(net) - 1) <= 0) {
        return;
    }
    const char *number = net + strcspn(net, "0123456789");
    snprintf(place_out, WIO_REMOTE_PLACE_BYTES, "%s.%.*s", boot, (int)strspn(number, "0123456789"),
             number);
}

/* ---- sockets ------------------------------------------------------------------------------ */

bool wio_remote_socket_text(const struct wio_remote_socket *socket, char *text, size_t room)
{
    const struct sockaddr_in *in4 = (const struct sockaddr_in *)&socket->address;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&socket->address;
    if (socket->address.ss_family == AF_INET) {
        return inet_ntop(AF_INET, &in4->sin_addr, text, (socklen_t)room) != NULL;
    }
    return socket->address.ss_family == AF_INET6 &&
           inet_ntop(AF_INET6, &in6->sin6_addr, text, (socklen_t)room) != NULL;
}

bool wio_remote_socket_parse(const char *text, uint16_t port, struct wio_remote_socket *socket_out)
{
    struct sockaddr_in *in4 = (struct sockaddr_in *)&socket_out->address;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&socket_out->address;
    *socket_out = (struct wio_remote_socket){0};
    if (inet_pton(AF_INET, text, &in4->sin_addr) == 1) {
        in4->sin_family = AF_INET;
        in4->sin_port = htons(port);
        socket_out->size = sizeof(*in4);
        return true;
    }
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    socket_out->size = sizeof(*in6);
    return inet_pton(AF_INET6, text, &in6->sin6_addr) == 1;
}

uint16_t wio_remote_socket_port(const struct wio_remote_socket *socket)
{
    const struct sockaddr_in *in4 = (const struct sockaddr_in *)&socket->address;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&socket->address;
    return ntohs(socket->address.ss_family == AF_INET6 ? in6->sin6_port : in4->sin_port);
}

/* ---- writing ------------------------------------------------------------------------------ */

static void write_sockets(const struct wio_remote_address *address, struct wio_fmt *fmt)
{
    for (uint32_t i = 0; i < address->count; i++) {
        char text[SOCKET_TEXT] = "";
        (void)wio_remote_socket_text(&address->sockets[i], text, sizeof(text));
        wio_fmt_str(fmt, i > 0 ? "," : "");
        wio_fmt_str(fmt, text);
        wio_fmt_str(fmt, "@");
        wio_fmt_u64(fmt, wio_remote_socket_port(&address->sockets[i]));
    }
}

static void write_dir(const char *dir, struct wio_fmt *fmt)
{
    for (const char *at = dir; *at != '\0'; at++) {
        if (strchr(plain, *at) != NULL) {
            wio_fmt_bytes(fmt, at, 1);
        } else {
            wio_fmt_str(fmt, "%");
            wio_fmt_hex(fmt, (unsigned char)*at, 2);
        }
    }
}

enum wio_status wio_remote_address_write(const struct wio_remote_address *address,
                                         char text_out[WIO_REMOTE_ADDRESS_BYTES],
                                         struct wio_error *err)
{
    struct wio_fmt fmt = wio_fmt_of(text_out, WIO_REMOTE_ADDRESS_BYTES);
    wio_fmt_u64(&fmt, WIO_REMOTE_PROTOCOL);
    wio_fmt_str(&fmt, "/" WIO_VERSION "/");
    for (size_t i = 0; i < sizeof(address->key.bytes); i++) {
        wio_fmt_hex(&fmt, address->key.bytes[i], 2);
    }
    wio_fmt_str(&fmt, "/");
    wio_fmt_str(&fmt, address->place);
    wio_fmt_str(&fmt, "/");
    write_sockets(address, &fmt);
    write_dir(address->dir, &fmt);
    return fmt.is_cut || address->dir[0] != '/'
               ? wio_error_set(err, WIO_ERR_USAGE, address->dir, WIO_ERROR_NO_OFFSET,
                               "expected a shorter absolute name for the trace directory")
               : WIO_OK;
}

/* ---- reading ------------------------------------------------------------------------------ */

static enum wio_status no_address(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                         "WHYIO_DIRECTOR: expected what 'whyio record --hosts' has put there");
}

/* The field up to the next slash. False: it is too long, or the last one. */
static bool take_field(const char **text, char *field, size_t room)
{
    size_t size = strcspn(*text, "/");
    if ((*text)[size] != '/' || size >= room) {
        return false;
    }
    memcpy(field, *text, size);
    field[size] = '\0';
    *text += size + 1;
    return true;
}

static int digit_of(char c)
{
    const char *at = c != '\0' ? strchr("0123456789abcdef", c) : NULL;
    return at != NULL ? (int)(at - "0123456789abcdef") : -1;
}

/* Two digits. */
static bool take_byte(const char **text, uint8_t *byte_out)
{
    int high = digit_of((*text)[0]);
    int low = high >= 0 ? digit_of((*text)[1]) : -1;
    if (low < 0) {
        return false;
    }
    *byte_out = (uint8_t)(high * 16 + low);
    *text += 2;
    return true;
}

static bool take_key(const char **text, struct wio_remote_key *key_out)
{
    for (size_t i = 0; i < sizeof(key_out->bytes); i++) {
        if (!take_byte(text, &key_out->bytes[i])) {
            return false;
        }
    }
    return *(*text)++ == '/';
}

static bool take_socket(const char **text, struct wio_remote_socket *socket_out)
{
    char host[SOCKET_TEXT];
    uint64_t port = 0;
    size_t size = strcspn(*text, "@/,");
    if ((*text)[size] != '@' || size >= sizeof(host)) {
        return false;
    }
    memcpy(host, *text, size);
    host[size] = '\0';
    *text += size + 1;
    return wio_scan_u64(text, &port) && port > 0 && port <= UINT16_MAX &&
           wio_remote_socket_parse(host, (uint16_t)port, socket_out);
}

static bool take_sockets(const char **text, struct wio_remote_address *address)
{
    while (address->count < WIO_REMOTE_SOCKETS_MAX &&
           take_socket(text, &address->sockets[address->count])) {
        address->count++;
        if (**text != ',') {
            return **text == '/'; /* of the directory */
        }
        ++*text;
    }
    return false;
}

static bool take_dir(const char *text, char dir[PATH_MAX])
{
    size_t size = 0;
    while (*text != '\0' && size < PATH_MAX - 1) {
        uint8_t byte = (uint8_t)*text;
        bool is_plain = strchr(plain, *text++) != NULL;
        if (!is_plain && (byte != '%' || !take_byte(&text, &byte) || byte == 0)) {
            return false;
        }
        dir[size++] = (char)byte;
    }
    dir[size] = '\0';
    return *text == '\0';
}

/* Before all else, since nothing else is sure to be where it is expected. */
static enum wio_status check_version(const char **text, struct wio_error *err)
{
    uint64_t protocol = 0;
    char version[VERSION_BYTES] = "";
    if (!wio_scan_u64(text, &protocol) || *(*text)++ != '/') {
        return no_address(err);
    }
    bool has_version = take_field(text, version, sizeof(version));
    bool is_same = protocol == WIO_REMOTE_PROTOCOL && has_version;
    if (is_same && strcmp(version, WIO_VERSION) == 0) {
        return WIO_OK;
    }
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                         "expected one version of whyio on all hosts, found that WHYIO_DIRECTOR "
                         "comes from %s%s, and that this is version " WIO_VERSION,
                         is_same ? "version " : "one that speaks otherwise",
                         is_same ? version : "");
}

enum wio_status wio_remote_address_read(const char *text, struct wio_remote_address *address_out,
                                        struct wio_error *err)
{
    *address_out = (struct wio_remote_address){0};
    WIO_TRY(check_version(&text, err));
    bool is_good = take_key(&text, &address_out->key) &&
                   take_field(&text, address_out->place, sizeof(address_out->place)) &&
                   take_sockets(&text, address_out) && take_dir(text, address_out->dir);
    return is_good ? WIO_OK : no_address(err);
}
