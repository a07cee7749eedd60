/* SPDX-License-Identifier: Apache-2.0 */
#include "store/link/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/link/address.h"
#include "store/link/link_internal.h"

enum { LISTENERS = 8, OVERFLOW_ID = 65534 };

struct wio_link_server {
    struct wio_io *io;
    const struct wio_link_config *config;
    const struct wio_link_events *events;
    void *context;
    struct wio_io_listener *listeners[LISTENERS];
    unsigned listener_count;
    struct wio_link *strangers; /* oldest first */
    struct wio_link *links;
    struct wio_link_counts counts;
};

/* ---- lists --------------------------------------------------------------------------------- */

/* At the end; `before` of the first one is the last one. */
static void append(struct wio_link **list, struct wio_link *link)
{
    link->next = NULL;
    link->before = *list == NULL ? link : (*list)->before;
    if (*list == NULL) {
        *list = link;
    } else {
        (*list)->before->next = link;
    }
    (*list)->before = link;
}

static void take_out(struct wio_link **list, struct wio_link *link)
{
    if (*list == link) {
        *list = link->next;
    } else {
        link->before->next = link->next;
    }
    if (link->next != NULL) {
        link->next->before = link->before;
    } else if (*list != NULL) {
        (*list)->before = link->before;
    }
    link->next = NULL;
    link->before = NULL;
}

static void leave_list(struct wio_link *link)
{
    struct wio_link_server *server = link->server;
    if (link->is_listed_open) {
        take_out(&server->links, link);
        server->counts.links--;
    } else {
        take_out(&server->strangers, link);
        server->counts.strangers--;
    }
}

/* ---- ends ---------------------------------------------------------------------------------- */

/* R-LINK-6: counted by why; a stranger leaves nothing behind. */
static void ended(struct wio_link *link, enum wio_link_end why)
{
    bool was_open = link->is_listed_open;
    if (link->server != NULL) {
        link->server->counts.ends[why]++;
        leave_list(link);
    }
    if (was_open) {
        link->events->closed(link->context, link, why);
    } else {
        wio_link_release(link);
    }
}

/* The owner ended it. */
static void left(struct wio_link *link)
{
    if (link->server != NULL) {
        link->server->counts.ends[WIO_LINK_ENDED_BY_US]++;
        leave_list(link);
    }
}

/* ---- WELCOME ------------------------------------------------------------------------------- */

static enum wio_status put_welcome(struct wio_link *link, const struct wio_wire_welcome *welcome)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob head = {0};
    WIO_TRY(wio_wire_put_welcome(&head, welcome));
    return wio_link_put(link, &head, NULL, 0);
}

/* From a stranger to a link. */
static void list_as_open(struct wio_link *link)
{
    struct wio_link_server *server = link->server;
    leave_list(link);
    link->is_listed_open = true;
    append(&server->links, link);
    server->counts.links++;
    server->counts.opened++;
}

/* R-WIRE-13: the user, as proven. */
static void prove_user(struct wio_link *link, struct wio_wire_welcome *welcome)
{
    if (welcome->proof != WIO_WIRE_PROOF_MUNGE && link->peer.has_uid) {
        welcome->proof = WIO_WIRE_PROOF_KERNEL;
        link->hello.uid = link->peer.uid;
        link->hello.gid = link->peer.gid;
    }
    if (welcome->proof == WIO_WIRE_PROOF_NONE) {
        link->hello.uid = link->hello.gid = OVERFLOW_ID;
    }
    welcome->uid = link->hello.uid;
    welcome->gid = link->hello.gid;
}

static enum wio_status welcome_it(struct wio_link *link, enum wio_wire_proof proof,
                                  enum wio_link_end *why)
{
    struct wio_wire_welcome welcome = {
        .unix_ns = link->io->ops->unix_ns(link->io),
        .mono_ns = link->io->ops->now_ns(link->io),
        .lease_ns = link->config->limits.silence_ns,
        .frame_max = link->config->limits.body_max,
        .proof = (uint8_t)proof,
    };
    *why = WIO_LINK_NOT_ADMITTED;
    prove_user(link, &welcome);
    if (link->server->counts.links >= link->config->limits.links_max ||
        !link->events->admit(link->context, link, &link->hello, &welcome)) {
        return WIO_ERR_BUSY;
    }
    *why = WIO_LINK_BROKEN;
    list_as_open(link); /* from now on the owner is told its end */
    WIO_TRY(put_welcome(link, &welcome));
    wio_link_open(link, &welcome);
    return WIO_OK;
}

/* ---- PROOF --------------------------------------------------------------------------------- */

static void proof_read(struct wio_link *link, const struct wio_link_credential *credential)
{
    struct wio_link_proving *proving = &link->proving;
    struct wio_link_key key;
    enum wio_link_end why = WIO_LINK_UNPROVEN;
    if (credential->status != WIO_OK ||
        memcmp(credential->payload, proving->transcript, sizeof(proving->transcript)) != 0) {
        wio_link_finish(link, why);
        return;
    }
    link->hello.uid = credential->uid;
    link->hello.gid = credential->gid;
    wio_link_key_derive(&proving->secrets[0], WIO_LINK_FOR_MUNGE, credential->payload + 32, 32,
                        &key);
    wio_link_take_keys(link, &key, false);
    wio_link_key_forget(&key);
    if (welcome_it(link, WIO_WIRE_PROOF_MUNGE, &why) != WIO_OK) {
        wio_link_finish(link, why);
    }
}

static enum wio_status step_proof(struct wio_link *link, const struct wio_link_frame *frame,
                                  enum wio_link_end *why)
{
    struct wio_wire_proof_text proof;
    enum wio_wire_auth auth = link->config->auth;
    if (!wio_link_has_tag(link, frame)) {
        *why = WIO_LINK_UNPROVEN;
        return WIO_ERR_FORMAT;
    }
    WIO_TRY(wio_wire_get_proof(&frame->header, frame->body, &proof));
    if (auth == WIO_WIRE_AUTH_MUNGE) {
        *why = WIO_LINK_UNPROVEN;
        return wio_link_credential_read(link, proof.credential, proof.credential_bytes, proof_read);
    }
    return welcome_it(link, auth == WIO_WIRE_AUTH_KEY ? WIO_WIRE_PROOF_KEY : WIO_WIRE_PROOF_NONE,
                      why);
}

/* ---- HELLO --------------------------------------------------------------------------------- */

static enum wio_status put_challenge(struct wio_link *link, const char *credential)
{
    struct wio_wire_challenge challenge = {
        .nonce = link->proving.nonce,
        .auth = (uint8_t)link->config->auth,
        .features = link->config->features,
        .credential = (const uint8_t *)credential,
        .credential_bytes = (uint32_t)strlen(credential),
    };
    WIO_TRY(wio_link_put_challenge(link, &challenge));
    if (link->config->auth == WIO_WIRE_AUTH_KEY) {
        wio_link_take_keys(link, &link->config->key, false);
    }
    link->step = step_proof;
    link->body_max = WIO_WIRE_PROOF_MAX;
    return WIO_OK;
}

static void challenge_made(struct wio_link *link, const struct wio_link_credential *credential)
{
    if (credential->status != WIO_OK || put_challenge(link, credential->text) != WIO_OK) {
        wio_link_finish(link, WIO_LINK_BROKEN);
    }
}

/* R-LINK-4: the HELLO that it answers, the nonce, and a secret for the client's user alone. */
static enum wio_status make_challenge(struct wio_link *link)
{
    struct wio_link_proving *proving = &link->proving;
    uint8_t payload[WIO_LINK_PAYLOAD_BYTES];
    link->io->ops->random(link->io, proving->secrets[0].bytes, 32);
    memcpy(payload, proving->transcript, 32);
    memcpy(payload + 32, proving->nonce.bytes, 32);
    memcpy(payload + 64, proving->secrets[0].bytes, 32);
    enum wio_status status =
        wio_link_credential_make(link, payload, link->hello.uid, challenge_made);
    explicit_bzero(payload, sizeof(payload));
    return status;
}

static enum wio_status step_hello(struct wio_link *link, const struct wio_link_frame *frame,
                                  enum wio_link_end *why)
{
    struct wio_wire_hello hello;
    WIO_TRY(wio_wire_get_hello(&frame->header, frame->body, &hello));
    if (hello.auth != link->config->auth) {
        *why = WIO_LINK_OTHER_AUTH;
        return WIO_ERR_FORMAT;
    }
    if (!wio_link_proves_hello(link, frame, &hello.nonce)) {
        *why = WIO_LINK_UNPROVEN;
        return WIO_ERR_FORMAT;
    }
    link->hello = hello;
    link->proving.has_said_hello = true;
    for (unsigned i = 0; i < WIO_WIRE_CLASSES; i++) {
        link->features.bits[i] = hello.features.bits[i] & link->config->features.bits[i];
    }
    wio_link_note(link, frame);
    wio_link_nonce_make(link, &link->proving.nonce);
    *why = WIO_LINK_BROKEN;
    return link->config->auth == WIO_WIRE_AUTH_MUNGE ? make_challenge(link)
                                                     : put_challenge(link, "");
}

/* ---- strangers ----------------------------------------------------------------------------- */

/* The oldest that has not said HELLO goes; where all have, the one that comes. */
static bool make_place(struct wio_link_server *server)
{
    if (server->counts.strangers < server->config->limits.strangers_max) {
        return true;
    }
    for (struct wio_link *link = server->strangers; link != NULL; link = link->next) {
        if (!link->proving.has_said_hello) {
            wio_link_finish(link, WIO_LINK_CROWDED_OUT);
            return true;
        }
    }
    return false;
}

static struct wio_link *make_stranger(struct wio_link_server *server,
                                      const struct wio_io_peer *peer)
{
    struct wio_link *link =
        wio_link_create(server->io, server->config, server->events, server->context);
    if (link == NULL) {
        return NULL;
    }
    link->server = server;
    link->ended = ended;
    link->left = left;
    link->step = step_hello;
    link->body_max = WIO_WIRE_HELLO_MAX;
    link->peer = *peer;
    link->in.has_key = server->config->auth == WIO_WIRE_AUTH_KEY;
    append(&server->strangers, link);
    server->counts.strangers++;
    return link;
}

static void accepted(void *context, struct wio_io_conn *conn, const struct wio_io_peer *peer)
{
    struct wio_link_server *server = context;
    const struct wio_io_ops *ops = server->io->ops;
    server->counts.accepted++;
    struct wio_link *link = make_place(server) ? make_stranger(server, peer) : NULL;
    if (link == NULL) {
        server->counts.ends[WIO_LINK_CROWDED_OUT]++;
        ops->conn_close(conn);
        return;
    }
    link->conn = conn;
    ops->conn_attach(conn, &wio_link_handler, link);
}

/* ---- the server ---------------------------------------------------------------------------- */

struct wio_link_server *wio_link_server_create(struct wio_io *io,
                                               const struct wio_link_config *config,
                                               const struct wio_link_events *events, void *context)
{
    struct wio_link_server *server = calloc(1, sizeof(*server));
    if (server != NULL) {
        *server = (struct wio_link_server){
            .io = io, .config = config, .events = events, .context = context};
    }
    return server;
}

/* R-LINK-10 */
static enum wio_status check(const struct wio_link_config *config, const char *address,
                             struct wio_error *err)
{
    struct wio_link_address parsed;
    WIO_TRY(wio_link_address_parse(address, &parsed, err));
    if (config->auth == WIO_WIRE_AUTH_OPEN && !wio_link_address_is_local(&parsed)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "'%.300s' can be reached from other hosts: without a key or MUNGE a "
                             "store listens at Unix sockets and loopback addresses (127.0.0.1, "
                             "::1) only",
                             address);
    }
    if (config->auth == WIO_WIRE_AUTH_MUNGE && config->credentials == NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "MUNGE is not configured");
    }
    return config->auth == WIO_WIRE_AUTH_OPEN ? WIO_OK : wio_link_keys_begin(err);
}

enum wio_status wio_link_server_listen(struct wio_link_server *server, const char *address,
                                       const char **address_out, struct wio_error *err)
{
    struct wio_io_listener **place = &server->listeners[server->listener_count];
    WIO_TRY(check(server->config, address, err));
    if (server->listener_count == LISTENERS) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "a store listens at no more than %d addresses", LISTENERS);
    }
    WIO_TRY(server->io->ops->listen(server->io, address, accepted, server, place, err));
    server->listener_count++;
    if (address_out != NULL) {
        *address_out = server->io->ops->listener_address(*place);
    }
    return WIO_OK;
}

const struct wio_link_counts *wio_link_server_counts(const struct wio_link_server *server)
{
    return &server->counts;
}

void wio_link_server_destroy(struct wio_link_server *server)
{
    if (server == NULL) {
        return;
    }
    for (unsigned i = 0; i < server->listener_count; i++) {
        server->io->ops->listener_close(server->listeners[i]);
    }
    while (server->strangers != NULL) {
        wio_link_close(server->strangers);
    }
    while (server->links != NULL) {
        struct wio_link *link = server->links;
        take_out(&server->links, link);
        link->server = NULL;
    }
    free(server);
}
