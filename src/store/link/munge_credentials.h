/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials by MUNGE: the host's munged(8) says which user made one (munge(3)). */
#ifndef WIO_STORE_LINK_MUNGE_CREDENTIALS_H
#define WIO_STORE_LINK_MUNGE_CREDENTIALS_H

#include "store/link/link.h"

/* Zero-initialise; lives as long as the configuration that has it. */
struct wio_munge {
    struct wio_link_credentials credentials; /* for struct wio_link_config */
    char socket[108];                        /* "": munged's usual one */
};

/* `socket` of munged(8), NULL: its usual one. WIO_ERR_UNSUPPORTED: this whyio was built without
 * libmunge. WIO_ERR_USAGE: a path that is too long. Whether munged is there is found out by the
 * first credential. */
WIO_MUST_CHECK enum wio_status wio_munge_init(struct wio_munge *munge, const char *socket,
                                              struct wio_error *err);

#endif
