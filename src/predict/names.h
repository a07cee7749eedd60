/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file a path names, as a run goes on: a file that is removed is another one than that which
 * is made under its name later, and one that is renamed stays the same. Paths of directories that
 * are renamed are not followed.
 */
#ifndef WIO_PREDICT_NAMES_H
#define WIO_PREDICT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "base/map.h"

/* Zero-initialise; release with wio_names_fini. */
struct wio_names {
    struct wio_map files; /* path -> file and whether it is known to be there */
    uint64_t next;        /* files that are not the first under their name */
};

void wio_names_fini(struct wio_names *names);

/* A number that tells files apart; that of the path (below 2^62) as long as nothing has happened to
 * it. */
uint64_t wio_names_file(const struct wio_names *names, uint64_t path);
/* Has the path been used, and not removed since? */
bool wio_names_is_there(const struct wio_names *names, uint64_t path);
WIO_MUST_CHECK enum wio_status wio_names_use(struct wio_names *names, uint64_t path);
WIO_MUST_CHECK enum wio_status wio_names_remove(struct wio_names *names, uint64_t path);
WIO_MUST_CHECK enum wio_status wio_names_rename(struct wio_names *names, uint64_t from,
                                                uint64_t to);

#endif
