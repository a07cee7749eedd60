/* SPDX-License-Identifier: Apache-2.0 */
/* throttle/hosts/remote_key.h without libsodium: nothing is made, and nothing fits. */
#include "throttle/hosts/remote_key.h"

#include <string.h>

enum wio_status wio_remote_keys_begin(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                         "--hosts: this whyio was built without libsodium, by which recorders of "
                         "several hosts prove to each other that they are of one run");
}

void wio_remote_key_make(struct wio_remote_key *key_out)
{
    *key_out = (struct wio_remote_key){{0}};
}

void wio_remote_nonce_make(struct wio_remote_nonce *nonce_out)
{
    *nonce_out = (struct wio_remote_nonce){{0}};
}

void wio_remote_key_forget(struct wio_remote_key *key)
{
    *key = (struct wio_remote_key){{0}};
}

void wio_remote_key_derive(const struct wio_remote_key *key, const char *label,
                           const struct wio_remote_nonce *recorder,
                           const struct wio_remote_nonce *director, struct wio_remote_key *key_out)
{
    (void)key;
    (void)label;
    (void)recorder;
    (void)director;
    *key_out = (struct wio_remote_key){{0}};
}

void wio_remote_tag(const struct wio_remote_key *key, const uint8_t *bytes, size_t size,
                    uint8_t tag_out[WIO_REMOTE_TAG_BYTES])
{
    (void)key;
    (void)bytes;
    (void)size;
    memset(tag_out, 0, WIO_REMOTE_TAG_BYTES);
}

bool wio_remote_tag_fits(const struct wio_remote_key *key, const uint8_t *bytes, size_t size,
                         const uint8_t *tag)
{
    (void)key;
    (void)bytes;
    (void)size;
    (void)tag;
    return false;
}
