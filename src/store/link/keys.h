/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of connections and what is made with them (docs/STORE-PROTOCOL.md#keys): tags of frames by
 * Poly1305, each with a key of its own out of ChaCha20 (RFC 8439, 2.6), and keys derived by keyed
 * BLAKE2b. libsodium's; built without it, wio_link_keys_begin says so and nothing else here may be
 * called.
 */
#ifndef WIO_STORE_LINK_KEYS_H
#define WIO_STORE_LINK_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "store/io.h"

enum { WIO_LINK_KEY_BYTES = 32, WIO_LINK_TAG_BYTES = 16, WIO_LINK_HASH_BYTES = 32 };

struct wio_link_key {
    uint8_t bytes[WIO_LINK_KEY_BYTES];
};

/* Call it once before the others. WIO_ERR_UNSUPPORTED: this whyio was built without libsodium. */
WIO_MUST_CHECK enum wio_status wio_link_keys_begin(struct wio_error *err);

/* Overwrite a key that is needed no more. */
void wio_link_key_forget(struct wio_link_key *key);

/* Another key, for one purpose and one text; from it the first one does not follow. */
void wio_link_key_derive(const struct wio_link_key *key, const char *purpose, const void *text,
                         size_t bytes, struct wio_link_key *key_out);

/* In a time that says nothing of where they differ. */
bool wio_link_key_is(const struct wio_link_key *key, const uint8_t bytes[WIO_LINK_KEY_BYTES]);

/* BLAKE2b of the parts, one behind the other. */
void wio_link_hash(const struct wio_io_bytes *parts, size_t count,
                   uint8_t hash_out[WIO_LINK_HASH_BYTES]);

/* The tag of frame `number` of one direction: no number is used twice with one key. */
void wio_link_tag(const struct wio_link_key *key, uint64_t number, const struct wio_io_bytes *parts,
                  size_t count, uint8_t tag_out[WIO_LINK_TAG_BYTES]);
bool wio_link_tag_fits(const struct wio_link_key *key, uint64_t number, const void *frame,
                       size_t bytes, const uint8_t tag[WIO_LINK_TAG_BYTES]);

/* 64 hexadecimal digits, blanks behind them. WIO_ERR_FORMAT: another text. */
WIO_MUST_CHECK enum wio_status wio_link_key_parse(const char *text, struct wio_link_key *key_out,
                                                  struct wio_error *err);

#endif
