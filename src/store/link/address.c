/* SPDX-License-Identifier: Apache-2.0 */
#include "store/link/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/system/loopback.h"

static enum wio_status refuse(struct wio_error *err, const char *text)
{
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                         "'%.300s': expected unix:PATH, HOST:PORT or [ADDRESS]:PORT", text);
}

static bool parse_port(const char *text, uint16_t *port_out)
{
    uint32_t port = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits] != '\0') {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        port = port * 10 + (uint32_t)(text[i] - '0');
    }
    *port_out = (uint16_t)port;
    return port <= UINT16_MAX;
}

/* What names and addresses consist of; '%' parts an interface. */
static bool is_host(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        bool is_word = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z') ||
                       (text[i] >= '0' && text[i] <= '9');
        if (!is_word && (text[i] == '\0' || strchr("._-:%", text[i]) == NULL)) {
            return false;
        }
    }
    return bytes > 0;
}

/* Up to the last colon; an IPv6 address only in brackets. */
static bool parse_host(const char *text, struct wio_link_address *address)
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || !parse_port(colon + 1, &address->port)) {
        return false;
    }
    size_t bytes = (size_t)(colon - text);
    bool has_brackets = bytes > 2 && text[0] == '[' && text[bytes - 1] == ']';
    if (has_brackets) {
        text++;
        bytes -= 2;
    }
    if (!is_host(text, bytes) || bytes >= sizeof(address->host) ||
        (memchr(text, ':', bytes) != NULL) != has_brackets) {
        return false;
    }
    memcpy(address->host, text, bytes);
    return true;
}

enum wio_status wio_link_address_parse(const char *text, struct wio_link_address *address_out,
                                       struct wio_error *err)
{
    *address_out = (struct wio_link_address){0};
    if (strncmp(text, "unix:", 5) != 0) {
        return parse_host(text, address_out) ? WIO_OK : refuse(err, text);
    }
    address_out->is_unix = true;
    if (text[5] == '\0') {
        return refuse(err, text);
    }
    if (strlen(text + 5) >= sizeof(address_out->path)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "'%.300s': the path of a Unix socket has at most %zu bytes", text,
                             sizeof(address_out->path) - 1);
    }
    memcpy(address_out->path, text + 5, strlen(text + 5));
    return WIO_OK;
}

bool wio_link_address_is_local(const struct wio_link_address *address)
{
    struct sockaddr_storage at = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&at;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&at;
    if (address->is_unix) {
        return true;
    }
    if (inet_pton(AF_INET, address->host, &v4->sin_addr) == 1) {
        at.ss_family = AF_INET;
    } else if (inet_pton(AF_INET6, address->host, &v6->sin6_addr) == 1) {
        at.ss_family = AF_INET6;
    }
    return wio_address_is_loopback(&at);
}
