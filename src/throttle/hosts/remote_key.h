/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key of a throttled run over several hosts, and what is made with it: tags of messages, and
 * keys for one connection and one direction. libsodium's crypto_auth (HMAC-SHA-512-256) and its
 * random numbers; built without libsodium, wio_remote_keys_begin says so and nothing else here may
 * be called.
 */
#ifndef WIO_THROTTLE_HOSTS_REMOTE_KEY_H
#define WIO_THROTTLE_HOSTS_REMOTE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

enum { WIO_REMOTE_KEY_BYTES = 32, WIO_REMOTE_NONCE_BYTES = 32, WIO_REMOTE_TAG_BYTES = 32 };

struct wio_remote_key {
    uint8_t bytes[WIO_REMOTE_KEY_BYTES];
};

/* A number that is used once. */
struct wio_remote_nonce {
    uint8_t bytes[WIO_REMOTE_NONCE_BYTES];
};

/* Call it once before the others. WIO_ERR_UNSUPPORTED: this whyio was built without libsodium. */
WIO_MUST_CHECK enum wio_status wio_remote_keys_begin(struct wio_error *err);

void wio_remote_key_make(struct wio_remote_key *key_out);
void wio_remote_nonce_make(struct wio_remote_nonce *nonce_out);
/* Overwrite a key that is needed no more. */
void wio_remote_key_forget(struct wio_remote_key *key);

/* Another key, for one purpose (`label`) of the connection that these nonces name; each may be
 * NULL. From the new key the old one does not follow. */
void wio_remote_key_derive(const struct wio_remote_key *key, const char *label,
                           const struct wio_remote_nonce *recorder,
                           const struct wio_remote_nonce *director, struct wio_remote_key *key_out);

/* The tag of `size` bytes. */
void wio_remote_tag(const struct wio_remote_key *key, const uint8_t *bytes, size_t size,
                    uint8_t tag_out[WIO_REMOTE_TAG_BYTES]);
/* Compares in constant time. */
bool wio_remote_tag_fits(const struct wio_remote_key *key, const uint8_t *bytes, size_t size,
                         const uint8_t *tag);

#endif
