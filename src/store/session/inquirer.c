/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/inquirer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "store/link/address.h"
#include "store/session/grants.h"
#include "store/wire/message.h"

struct other {
    struct wio_inquirer *inquirer;
    struct wio_link *link; /* NULL: none */
    uint64_t client;       /* as which this target is connected there */
    uint16_t index;
    bool is_open;
    char address[WIO_LINK_ADDRESS_BYTES];
};

struct wio_inquirer {
    struct wio_io *io;
    const struct wio_link_config *config;
    const struct wio_link_key *servers_key;
    wio_inquirer_answered *answered;
    void *context;
    uint64_t numbers;
    uint16_t count;
    struct other others[];
};

/* R-GRANT-4 */
static bool show(struct wio_inquirer *inquirer, const struct other *other)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob out = {0};
    const struct wio_grant grant = {.client = other->client, .rights = WIO_GRANT_INQUIRE};
    uint8_t bytes[WIO_GRANT_BYTES];
    const struct wio_store_request request = {.op = WIO_STORE_SHOW,
                                              .number = ++inquirer->numbers,
                                              .data = bytes,
                                              .data_size = sizeof(bytes)};
    uint32_t data_bytes = 0;
    wio_grant_make(inquirer->servers_key, &grant, bytes);
    return wio_wire_put_request(&out, &request, &data_bytes) == WIO_OK &&
           wio_link_send(other->link, &out, bytes, data_bytes) == WIO_OK;
}

static void opened(void *context, struct wio_link *link, const struct wio_wire_welcome *welcome)
{
    struct other *other = context;
    (void)link;
    (void)welcome;
    other->is_open = other->inquirer->servers_key == NULL || show(other->inquirer, other);
}

static void message(void *context, struct wio_link *link, const struct wio_wire_header *header,
                    struct wio_buf body)
{
    const struct other *other = context;
    const struct wio_inquirer *inquirer = other->inquirer;
    struct wio_store_reply reply;
    if (wio_wire_get_reply(header, body, &reply) != WIO_OK ||
        (reply.op != WIO_STORE_INQUIRE && reply.op != WIO_STORE_SHOW)) {
        wio_link_reject(link);
    } else if (reply.op == WIO_STORE_INQUIRE && reply.result == WIO_STORE_OK) {
        inquirer->answered(inquirer->context, other->index, &reply.txn,
                           (enum wio_store_outcome)reply.outcome);
    }
}

static void closed(void *context, struct wio_link *link, enum wio_link_end why)
{
    struct other *other = context;
    (void)why;
    other->link = NULL;
    other->is_open = false;
    wio_link_close(link);
}

static const struct wio_link_events events = {
    .opened = opened, .message = message, .closed = closed};

static void connect_to(struct wio_inquirer *inquirer, struct other *other)
{
    struct wio_wire_hello hello = {.role = WIO_WIRE_ROLE_TARGET};
    inquirer->io->ops->random(inquirer->io, &hello.client, sizeof(hello.client));
    hello.client |= 1; /* never 0 */
    other->client = hello.client;
    if (wio_link_connect(inquirer->io, other->address, inquirer->config, &hello, &events, other,
                         &other->link, NULL) != WIO_OK) {
        other->link = NULL;
    }
}

void wio_inquirer_ask(struct wio_inquirer *inquirer, uint16_t target, const struct wio_txn *txn,
                      bool is_prepared)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob out = {0};
    struct other *other = &inquirer->others[target];
    const struct wio_store_request request = {.op = WIO_STORE_INQUIRE,
                                              .flags = is_prepared ? WIO_STORE_FLAG_STABLE : 0,
                                              .number = ++inquirer->numbers,
                                              .txn = *txn};
    uint32_t data_bytes = 0;
    if (target >= inquirer->count) {
        return;
    }
    if (other->link == NULL) {
        connect_to(inquirer, other);
    } else if (other->is_open && wio_wire_put_request(&out, &request, &data_bytes) == WIO_OK) {
        (void)!wio_link_send(other->link, &out, NULL, 0);
    }
}

void wio_inquirer_set_addresses(struct wio_inquirer *inquirer, const char *const *addresses)
{
    for (uint16_t i = 0; i < inquirer->count; i++) {
        struct other *other = &inquirer->others[i];
        snprintf(other->address, sizeof(other->address), "%s", addresses[i]);
    }
}

/* NOLINTNEXTLINE(readability-function-size): a seam, a call back with its context, and an error */
enum wio_status wio_inquirer_create(struct wio_io *io, const struct wio_link_config *config,
                                    const struct wio_link_key *servers_key,
                                    const char *const *addresses, uint16_t targets,
                                    wio_inquirer_answered *answered, void *context,
                                    struct wio_inquirer **inquirer_out)
{
    struct wio_inquirer *inquirer =
        calloc(1, sizeof(*inquirer) + targets * sizeof(inquirer->others[0]));
    if (inquirer == NULL) {
        return WIO_ERR_NOMEM;
    }
    inquirer->io = io;
    inquirer->config = config;
    inquirer->servers_key = servers_key;
    inquirer->answered = answered;
    inquirer->context = context;
    inquirer->count = targets;
    for (uint16_t i = 0; i < targets; i++) {
        struct other *other = &inquirer->others[i];
        other->inquirer = inquirer;
        other->index = i;
    }
    wio_inquirer_set_addresses(inquirer, addresses);
    *inquirer_out = inquirer;
    return WIO_OK;
}

void wio_inquirer_destroy(struct wio_inquirer *inquirer)
{
    for (uint16_t i = 0; inquirer != NULL && i < inquirer->count; i++) {
        wio_link_close(inquirer->others[i].link);
    }
    free(inquirer);
}
