/* SPDX-License-Identifier: Apache-2.0 */
/* throttle/hosts/remote_key.h with libsodium. */
#include "throttle/hosts/remote_key.h"

#include <sodium.h>
#include <string.h>

_Static_assert(WIO_REMOTE_KEY_BYTES == crypto_auth_KEYBYTES, "a key of crypto_auth");
_Static_assert(WIO_REMOTE_KEY_BYTES == crypto_auth_BYTES, "a tag can be a key");
_Static_assert(WIO_REMOTE_TAG_BYTES == crypto_auth_BYTES, "a tag of crypto_auth");

enum wio_status wio_remote_keys_begin(struct wio_error *err)
{
    return sodium_init() >= 0 ? WIO_OK
                              : wio_error_set(err, WIO_ERR_INTERNAL, NULL, WIO_ERROR_NO_OFFSET,
                                              "libsodium does not begin");
}

void wio_remote_key_make(struct wio_remote_key *key_out)
{
    randombytes_buf(key_out->bytes, sizeof(key_out->bytes));
}

void wio_remote_nonce_make(struct wio_remote_nonce *nonce_out)
{
    randombytes_buf(nonce_out->bytes, sizeof(nonce_out->bytes));
}

void wio_remote_key_forget(struct wio_remote_key *key)
{
    sodium_memzero(key->bytes, sizeof(key->bytes));
}

static void add_nonce(uint8_t *at, const struct wio_remote_nonce *nonce)
{
    if (nonce != NULL) {
        memcpy(at, nonce->bytes, sizeof(nonce->bytes));
    }
}

void wio_remote_key_derive(const struct wio_remote_key *key, const char *label,
                           const struct wio_remote_nonce *recorder,
                           const struct wio_remote_nonce *director, struct wio_remote_key *key_out)
{
    enum { LABEL_BYTES = 32 };
    uint8_t text[LABEL_BYTES + 2 * WIO_REMOTE_NONCE_BYTES] = {0};
    memcpy(text, label, strnlen(label, LABEL_BYTES));
    add_nonce(text + LABEL_BYTES, recorder);
    add_nonce(text + LABEL_BYTES + WIO_REMOTE_NONCE_BYTES, director);
    (void)crypto_auth(key_out->bytes, text, sizeof(text), key->bytes);
}

void wio_remote_tag(const struct wio_remote_key *key, const uint8_t *bytes, size_t size,
                    uint8_t tag_out[WIO_REMOTE_TAG_BYTES])
{
    (void)crypto_auth(tag_out, bytes, size, key->bytes);
}

bool wio_remote_tag_fits(const struct wio_remote_key *key, const uint8_t *bytes, size_t size,
                         const uint8_t *tag)
{
    return crypto_auth_verify(tag, bytes, size, key->bytes) == 0;
}
