/* SPDX-License-Identifier: Apache-2.0 */
/* store/link/keys.h where whyio is built without libsodium: no key is ever made or accepted. */
#include <string.h>

#include "base/cleanup.h"
#include "store/link/keys.h"

enum wio_status wio_link_keys_begin(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                         "this whyio was built without libsodium, which keys need");
}

void wio_link_key_forget(struct wio_link_key *key)
{
    memset(key, 0, sizeof(*key));
}

void wio_link_key_derive(const struct wio_link_key *key, const char *purpose, const void *text,
                         size_t bytes, struct wio_link_key *key_out)
{
    (void)key;
    (void)purpose;
    (void)text;
    (void)bytes;
    memset(key_out, 0, sizeof(*key_out));
}

bool wio_link_key_is(const struct wio_link_key *key, const uint8_t bytes[WIO_LINK_KEY_BYTES])
{
    (void)key;
    (void)bytes;
    return false;
}

void wio_link_hash(const struct wio_io_bytes *parts, size_t count,
                   uint8_t hash_out[WIO_LINK_HASH_BYTES])
{
    (void)parts;
    (void)count;
    memset(hash_out, 0, WIO_LINK_HASH_BYTES);
}

void wio_link_tag(const struct wio_link_key *key, uint64_t number, const struct wio_io_bytes *parts,
                  size_t count, uint8_t tag_out[WIO_LINK_TAG_BYTES])
{
    (void)key;
    (void)number;
    (void)parts;
    (void)count;
    memset(tag_out, 0, WIO_LINK_TAG_BYTES);
}

bool wio_link_tag_fits(const struct wio_link_key *key, uint64_t number, const void *frame,
                       size_t bytes, const uint8_t tag[WIO_LINK_TAG_BYTES])
{
    (void)key;
    (void)number;
    (void)frame;
    (void)bytes;
    (void)tag;
    return false;
}

enum wio_status wio_link_key_parse(const char *text, struct wio_link_key *key_out,
                                   struct wio_error *err)
{
    (void)text;
    (void)key_out;
    return wio_link_keys_begin(err);
}
