/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key that hides names: DIR/raw/key (FORMAT.md R-RING-7). All commands that seal rings of one
 * directory use the same one, so that a path has the same name in each segment. Its presence says
 * that names are to be hidden, also to a later command that seals what a killed recorder left
 * behind. It is deleted with the last rings: with key and segments, names could be guessed.
 */
#ifndef WIO_SEAL_ANONYMIZE_H
#define WIO_SEAL_ANONYMIZE_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "seal/rings/raw.h"

/* XXH3 wants at least 136. */
#define WIO_HIDE_KEY_BYTES 192u
#define WIO_HIDE_KEY_NAME "key"

/* Make DIR/raw/key, unless there is one. DIR/raw must exist. */
WIO_MUST_CHECK enum wio_status wio_hide_begin(const char *dir, struct wio_error *err);

/* The key of `raw`, a descriptor of DIR/raw, or -1 where there is none; *found_out: there is one.
 * One that cannot be read (damaged, of another user, a link) counts as found, and random bytes take
 * its place: names stay hidden, but are other names. The same bytes are given where there is none.
 */
WIO_MUST_CHECK enum wio_status wio_hide_load(int raw, uint8_t key_out[WIO_HIDE_KEY_BYTES],
                                             bool *found_out, struct wio_error *err);

/* Remove key and DIR/raw, if nothing else is in there, and both are this user's. */
void wio_hide_forget(const char *dir);
/* The same where raw/ is open, and locked. */
void wio_hide_forget_locked(const struct wio_raw *raw);

#endif
