/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side of a link: connect, prove, be welcome. */
#include <string.h>

#include "base/cleanup.h"
#include "store/link/address.h"
#include "store/link/link_internal.h"

enum { CHALLENGE_MAX = 128 + WIO_WIRE_CREDENTIAL_MAX, WELCOME_MAX = 128 };

static void ended(struct wio_link *link, enum wio_link_end why)
{
    link->events->closed(link->context, link, why);
}

/* ---- WELCOME ------------------------------------------------------------------------------- */

static enum wio_status step_welcome(struct wio_link *link, const struct wio_link_frame *frame,
                                    enum wio_link_end *why)
{
    struct wio_wire_welcome welcome;
    if (!wio_link_has_tag(link, frame)) {
        *why = WIO_LINK_UNPROVEN;
        return WIO_ERR_FORMAT;
    }
    WIO_TRY(wio_wire_get_welcome(&frame->header, frame->body, &welcome));
    wio_link_open(link, &welcome);
    return WIO_OK;
}

/* ---- CHALLENGE ----------------------------------------------------------------------------- */

static enum wio_status put_proof(struct wio_link *link, const char *credential)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob head = {0};
    const struct wio_wire_proof_text proof = {
        .credential = (const uint8_t *)credential,
        .credential_bytes = (uint32_t)strlen(credential),
    };
    WIO_TRY(wio_wire_put_proof(&head, &proof));
    link->step = step_welcome;
    link->body_max = WELCOME_MAX;
    return wio_link_put(link, &head, NULL, 0);
}

/* R-LINK-4: transcript and secret, for the server's user alone. */
static void proof_made(struct wio_link *link, const struct wio_link_credential *credential)
{
    struct wio_link_proving *proving = &link->proving;
    struct wio_link_key key;
    if (credential->status != WIO_OK || put_proof(link, credential->text) != WIO_OK) {
        wio_link_finish(link, WIO_LINK_UNPROVEN);
        return;
    }
    wio_link_key_derive(&proving->secrets[0], WIO_LINK_FOR_MUNGE, proving->secrets[1].bytes,
                        sizeof(proving->secrets[1].bytes), &key);
    wio_link_take_keys(link, &key, true);
    wio_link_key_forget(&key);
}

static void challenge_read(struct wio_link *link, const struct wio_link_credential *credential)
{
    struct wio_link_proving *proving = &link->proving;
    uint8_t payload[WIO_LINK_PAYLOAD_BYTES] = {0};
    bool is_right = credential->status == WIO_OK && credential->uid == link->config->server_uid &&
                    memcmp(credential->payload, proving->hello, sizeof(proving->hello)) == 0 &&
                    memcmp(credential->payload + 32, proving->nonce.bytes, 32) == 0;
    if (!is_right) {
        wio_link_finish(link, WIO_LINK_UNPROVEN);
        return;
    }
    memcpy(proving->secrets[0].bytes, credential->payload + 64, 32);
    link->io->ops->random(link->io, proving->secrets[1].bytes, 32);
    memcpy(payload, proving->transcript, 32);
    memcpy(payload + 32, proving->secrets[1].bytes, 32);
    if (wio_link_credential_make(link, payload, credential->uid, proof_made) != WIO_OK) {
        wio_link_finish(link, WIO_LINK_BROKEN);
    }
    explicit_bzero(payload, sizeof(payload));
}

static enum wio_status step_challenge(struct wio_link *link, const struct wio_link_frame *frame,
                                      enum wio_link_end *why)
{
    struct wio_wire_challenge challenge;
    WIO_TRY(wio_wire_get_challenge(&frame->header, frame->body, &challenge));
    if (challenge.auth != link->config->auth) {
        *why = WIO_LINK_OTHER_AUTH;
        return WIO_ERR_FORMAT;
    }
    *why = WIO_LINK_UNPROVEN;
    if (!wio_link_proves_challenge(link, frame, &link->hello.nonce, &challenge.nonce)) {
        return WIO_ERR_FORMAT;
    }
    wio_link_note(link, frame);
    link->proving.nonce = challenge.nonce;
    for (unsigned i = 0; i < WIO_WIRE_CLASSES; i++) {
        link->features.bits[i] = challenge.features.bits[i] & link->config->features.bits[i];
    }
    if (link->config->auth == WIO_WIRE_AUTH_MUNGE) {
        return wio_link_credential_read(link, challenge.credential, challenge.credential_bytes,
                                        challenge_read);
    }
    if (link->config->auth == WIO_WIRE_AUTH_KEY) {
        wio_link_take_keys(link, &link->config->key, true);
    }
    return put_proof(link, "");
}

/* ---- HELLO --------------------------------------------------------------------------------- */

static enum wio_status step_connected(struct wio_link *link, const struct wio_link_frame *frame,
                                      enum wio_link_end *why)
{
    *why = WIO_LINK_BROKEN;
    if (frame != NULL) {
        return WIO_ERR_FORMAT;
    }
    link->step = step_challenge;
    link->body_max = CHALLENGE_MAX;
    WIO_TRY(wio_link_put_hello(link));
    memcpy(link->proving.hello, link->proving.transcript, sizeof(link->proving.hello));
    return WIO_OK;
}

static enum wio_status check(const struct wio_link_config *config, const char *address,
                             struct wio_error *err)
{
    struct wio_link_address parsed;
    if (config->auth == WIO_WIRE_AUTH_MUNGE && config->credentials == NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "MUNGE is not configured");
    }
    if (config->auth != WIO_WIRE_AUTH_OPEN) {
        WIO_TRY(wio_link_keys_begin(err));
    }
    return wio_link_address_parse(address, &parsed, err);
}

/* NOLINTNEXTLINE(readability-function-size): a seam, a call back with its context, and an error */
enum wio_status wio_link_connect(struct wio_io *io, const char *address,
                                 const struct wio_link_config *config,
                                 const struct wio_wire_hello *hello,
                                 const struct wio_link_events *events, void *context,
                                 struct wio_link **link_out, struct wio_error *err)
{
    WIO_TRY(check(config, address, err));
    struct wio_link *link = wio_link_create(io, config, events, context);
    if (link == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    link->ended = ended;
    link->step = step_connected;
    link->hello = *hello;
    link->hello.auth = (uint8_t)config->auth;
    link->hello.features = config->features;
    link->in.has_key = config->auth == WIO_WIRE_AUTH_KEY;
    wio_link_nonce_make(link, &link->hello.nonce);
    enum wio_status status =
        io->ops->connect(io, address, &wio_link_handler, link, &link->conn, err);
    if (status != WIO_OK) {
        wio_link_release(link);
        return status;
    }
    *link_out = link;
    return WIO_OK;
}
