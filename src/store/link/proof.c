/* SPDX-License-Identifier: Apache-2.0 */
/* How two sides prove that they have the same key: docs/STORE-PROTOCOL.md#keys. */
#include <string.h>

#include "base/cleanup.h"
#include "store/link/link_internal.h"

#define FOR_HELLO "whyio store hello"
#define FOR_CHALLENGE "whyio store challenge"
#define FROM_CLIENT "whyio store from client"
#define FROM_SERVER "whyio store from server"

void wio_link_nonce_make(struct wio_link *link, struct wio_wire_nonce *nonce_out)
{
    link->io->ops->random(link->io, nonce_out->bytes, sizeof(nonce_out->bytes));
}

/* R-LINK-1: a key that is used for one frame, since its nonces are used once. */
static void begin(struct wio_link_lane *lane, const struct wio_link_key *key, const char *purpose,
                  const struct wio_wire_nonce *client, const struct wio_wire_nonce *server)
{
    uint8_t nonces[2 * WIO_WIRE_NONCE_BYTES] = {0};
    memcpy(nonces, client->bytes, sizeof(client->bytes));
    if (server != NULL) {
        memcpy(nonces + sizeof(client->bytes), server->bytes, sizeof(server->bytes));
    }
    wio_link_key_derive(key, purpose, nonces, sizeof(nonces), &lane->key);
    lane->number = 0;
    lane->has_key = true;
}

static bool has_key(const struct wio_link *link)
{
    return link->config->auth == WIO_WIRE_AUTH_KEY;
}

bool wio_link_proves_hello(struct wio_link *link, const struct wio_link_frame *frame,
                           const struct wio_wire_nonce *client)
{
    if (!has_key(link)) {
        return true;
    }
    begin(&link->in, &link->config->key, FOR_HELLO, client, NULL);
    return wio_link_has_tag(link, frame);
}

bool wio_link_proves_challenge(struct wio_link *link, const struct wio_link_frame *frame,
                               const struct wio_wire_nonce *client,
                               const struct wio_wire_nonce *server)
{
    if (!has_key(link)) {
        return true;
    }
    begin(&link->in, &link->config->key, FOR_CHALLENGE, client, server);
    return wio_link_has_tag(link, frame);
}

/* R-LINK-2: all that was said, in order. Only keys and credentials need it. */
static void note(struct wio_link *link, const void *bytes, size_t size)
{
    struct wio_link_proving *proving = &link->proving;
    const struct wio_io_bytes parts[] = {{proving->transcript, sizeof(proving->transcript)},
                                         {bytes, size}};
    if (link->config->auth != WIO_WIRE_AUTH_OPEN) {
        wio_link_hash(parts, WIO_ARRAY_SIZE(parts), proving->transcript);
    }
}

void wio_link_note(struct wio_link *link, const struct wio_link_frame *frame)
{
    note(link, frame->bytes, frame->size);
}

enum wio_status wio_link_put_hello(struct wio_link *link)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob head = {0};
    WIO_TRY(wio_wire_put_hello(&head, &link->hello));
    note(link, head.data, head.size);
    if (has_key(link)) {
        begin(&link->out, &link->config->key, FOR_HELLO, &link->hello.nonce, NULL);
    }
    return wio_link_put(link, &head, NULL, 0);
}

enum wio_status wio_link_put_challenge(struct wio_link *link,
                                       const struct wio_wire_challenge *challenge)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob head = {0};
    WIO_TRY(wio_wire_put_challenge(&head, challenge));
    note(link, head.data, head.size);
    if (has_key(link)) {
        begin(&link->out, &link->config->key, FOR_CHALLENGE, &link->hello.nonce, &challenge->nonce);
    }
    return wio_link_put(link, &head, NULL, 0);
}

/* R-LINK-3 */
void wio_link_take_keys(struct wio_link *link, const struct wio_link_key *key, bool is_client)
{
    const uint8_t *text = link->proving.transcript;
    const size_t bytes = sizeof(link->proving.transcript);
    struct wio_link_lane *from_client = is_client ? &link->out : &link->in;
    struct wio_link_lane *from_server = is_client ? &link->in : &link->out;
    *from_client = (struct wio_link_lane){.has_key = true};
    *from_server = (struct wio_link_lane){.has_key = true};
    wio_link_key_derive(key, FROM_CLIENT, text, bytes, &from_client->key);
    wio_link_key_derive(key, FROM_SERVER, text, bytes, &from_server->key);
}
