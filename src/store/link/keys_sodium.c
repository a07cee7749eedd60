/* SPDX-License-Identifier: Apache-2.0 */
/* store/link/keys.h with libsodium. */
#include <sodium.h>
#include <string.h>

#include "store/link/keys.h"

_Static_assert(WIO_LINK_KEY_BYTES == crypto_generichash_KEYBYTES, "a key of crypto_generichash");
_Static_assert(WIO_LINK_KEY_BYTES == crypto_stream_chacha20_ietf_KEYBYTES, "a key of ChaCha20");
_Static_assert(WIO_LINK_KEY_BYTES == crypto_onetimeauth_KEYBYTES, "a key of Poly1305");
_Static_assert(WIO_LINK_TAG_BYTES == crypto_onetimeauth_BYTES, "a tag of Poly1305");

enum wio_status wio_link_keys_begin(struct wio_error *err)
{
    return sodium_init() >= 0 ? WIO_OK
                              : wio_error_set(err, WIO_ERR_INTERNAL, NULL, WIO_ERROR_NO_OFFSET,
                                              "libsodium does not begin");
}

void wio_link_key_forget(struct wio_link_key *key)
{
    sodium_memzero(key->bytes, sizeof(key->bytes));
}

void wio_link_key_derive(const struct wio_link_key *key, const char *purpose, const void *text,
                         size_t bytes, struct wio_link_key *key_out)
{
    enum { PURPOSE_BYTES = 32 };
    crypto_generichash_state state;
    uint8_t label[PURPOSE_BYTES] = {0};
    memcpy(label, purpose, strnlen(purpose, PURPOSE_BYTES));
    (void)crypto_generichash_init(&state, key->bytes, sizeof(key->bytes), sizeof(key_out->bytes));
    (void)crypto_generichash_update(&state, label, sizeof(label));
    (void)crypto_generichash_update(&state, text, bytes);
    (void)crypto_generichash_final(&state, key_out->bytes, sizeof(key_out->bytes));
    sodium_memzero(&state, sizeof(state));
}

bool wio_link_key_is(const struct wio_link_key *key, const uint8_t bytes[WIO_LINK_KEY_BYTES])
{
    return sodium_memcmp(key->bytes, bytes, WIO_LINK_KEY_BYTES) == 0;
}

void wio_link_hash(const struct wio_io_bytes *parts, size_t count,
                   uint8_t hash_out[WIO_LINK_HASH_BYTES])
{
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, WIO_LINK_HASH_BYTES);
    for (size_t i = 0; i < count; i++) {
        (void)crypto_generichash_update(&state, parts[i].data, parts[i].size);
    }
    (void)crypto_generichash_final(&state, hash_out, WIO_LINK_HASH_BYTES);
}

/* The key of one frame. */
static void frame_key(const struct wio_link_key *key, uint64_t number,
                      uint8_t key_out[crypto_onetimeauth_KEYBYTES])
{
    uint8_t nonce[crypto_stream_chacha20_ietf_NONCEBYTES] = {0};
    for (unsigned i = 0; i < sizeof(number); i++) {
        nonce[i] = (uint8_t)(number >> 8 * i);
    }
    (void)crypto_stream_chacha20_ietf(key_out, crypto_onetimeauth_KEYBYTES, nonce, key->bytes);
}

void wio_link_tag(const struct wio_link_key *key, uint64_t number, const struct wio_io_bytes *parts,
                  size_t count, uint8_t tag_out[WIO_LINK_TAG_BYTES])
{
    uint8_t once[crypto_onetimeauth_KEYBYTES];
    crypto_onetimeauth_state state;
    frame_key(key, number, once);
    (void)crypto_onetimeauth_init(&state, once);
    for (size_t i = 0; i < count; i++) {
        (void)crypto_onetimeauth_update(&state, parts[i].data, parts[i].size);
    }
    (void)crypto_onetimeauth_final(&state, tag_out);
    sodium_memzero(once, sizeof(once));
}

bool wio_link_tag_fits(const struct wio_link_key *key, uint64_t number, const void *frame,
                       size_t bytes, const uint8_t tag[WIO_LINK_TAG_BYTES])
{
    uint8_t once[crypto_onetimeauth_KEYBYTES];
    frame_key(key, number, once);
    bool fits = crypto_onetimeauth_verify(tag, frame, bytes, once) == 0;
    sodium_memzero(once, sizeof(once));
    return fits;
}

enum wio_status wio_link_key_parse(const char *text, struct wio_link_key *key_out,
                                   struct wio_error *err)
{
    size_t bytes = 0;
    const char *end = NULL;
    if (sodium_hex2bin(key_out->bytes, sizeof(key_out->bytes), text, strlen(text), NULL, &bytes,
                       &end) != 0 ||
        bytes != sizeof(key_out->bytes) || end[strspn(end, " \r\n")] != '\0') {
        return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                             "a key is 64 hexadecimal digits");
    }
    return WIO_OK;
}
