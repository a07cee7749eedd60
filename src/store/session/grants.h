/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants: what the catalogue lets a client do with a file, as bytes that a target believes
 * (docs/STORE-PROTOCOL.md#grants). They are made and read with the key of the store's servers, and
 * count for one client of one user.
 */
#ifndef WIO_STORE_SESSION_GRANTS_H
#define WIO_STORE_SESSION_GRANTS_H

#include "base/map.h"
#include "store/link/keys.h"
#include "store/messages.h"

enum wio_grant_right {
    WIO_GRANT_READ = 1,
    WIO_GRANT_WRITE = 2,
    WIO_GRANT_SIZE = 4,
    WIO_GRANT_DROP = 8,
    WIO_GRANT_INQUIRE = 16 /* of a target, with file 0 */
};

/* Bytes of a segment from here on are locked by flock(2) alone. */
#define WIO_GRANT_LOCKS_FROM (UINT64_C(1) << 48)

enum {
    WIO_GRANT_BYTES = 56,
    WIO_GRANT_CLASS = 1,    /* of messages, whose features say .. */
    WIO_GRANT_FEATURE = 1,  /* .. that grants are wanted */
    WIO_GRANTS_KEPT = 32768 /* files of one connection that are kept, at the least */
};

struct wio_grant {
    uint64_t file;
    uint64_t client;
    uint32_t uid;
    uint32_t rights; /* enum wio_grant_right */
};

/* Both behind wio_link_keys_begin. */
void wio_grant_make(const struct wio_link_key *key, const struct wio_grant *grant,
                    uint8_t bytes_out[WIO_GRANT_BYTES]);
/* False: it was not made with this key. */
bool wio_grant_read(const struct wio_link_key *key, const void *data, size_t size,
                    struct wio_grant *grant_out);

/* The request may be served with these rights on its file. */
bool wio_grant_allows(uint32_t rights, const struct wio_store_request *request);

/* What one connection has shown, of the files that were used last. Zero-initialise. */
struct wio_shown {
    struct wio_map rights; /* file -> rights */
    struct wio_map older;  /* what was there when the other one was full */
};

void wio_shown_fini(struct wio_shown *grants);
/* Rights of one file add up. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_shown_add(struct wio_shown *grants,
                                             const struct wio_grant *grant);
/* The file is used: it is kept. */
uint32_t wio_shown_get(struct wio_shown *grants, uint64_t file);

#endif
