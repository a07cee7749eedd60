/* SPDX-License-Identifier: Apache-2.0 */
/* What the catalogue answers to one request: names and rights from store/catalogue, grants for the
 * targets. Nothing here knows connections. */
#ifndef WIO_STORE_SESSION_CATALOGUE_DESK_H
#define WIO_STORE_SESSION_CATALOGUE_DESK_H

#include "base/buf.h"
#include "store/catalogue/catalogue.h"
#include "store/session/grants.h"

struct catalogue_desk {
    struct wio_catalogue *catalogue;
    struct wio_link_key servers_key;
    struct wio_blob targets; /* data of the reply to TARGETS */
    uint16_t target_count;
    uint32_t stripe_unit; /* of files whose client asks for none */
    /* what a reply points to, until the next one */
    struct wio_blob data;
    uint8_t grant[WIO_GRANT_BYTES];
    char text[WIO_STORE_PATH_MAX];
};

/* WIO_ERR_USAGE: addresses that are none. WIO_ERR_NOMEM. `catalogue` outlives it. */
WIO_MUST_CHECK enum wio_status catalogue_desk_init(struct catalogue_desk *desk,
                                                   struct wio_catalogue *catalogue,
                                                   const struct wio_link_key *servers_key,
                                                   const char *const *targets, uint16_t count);
void catalogue_desk_fini(struct catalogue_desk *desk);

/* It changes names, or may: when it comes again it is not done again. */
bool catalogue_desk_changes(const struct wio_store_request *request);

/* Result, stat, offset and data of the reply; it points into the desk. 0, or the errno value that
 * is the result: after EIO the catalogue has failed. */
WIO_MUST_CHECK int catalogue_desk_answer(struct catalogue_desk *desk,
                                         const struct wio_catalogue_user *user, uint64_t client,
                                         const struct wio_store_request *request,
                                         struct wio_store_reply *reply);

#endif
