/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a node: the file STORE, the servers' key, one directory for each target
 * (docs/STORE-FORMAT.md section 6). */
#ifndef WIO_STORE_SERVE_LAYOUT_H
#define WIO_STORE_SERVE_LAYOUT_H

#include "store/io.h"
#include "store/link/keys.h"
#include "store/serve/serve.h"

#define SERVE_LAYOUT_NAME "STORE"
#define SERVE_LAYOUT_VERSION 1u      /* of a store in one directory */
#define SERVE_LAYOUT_PART_VERSION 2u /* of a part of one */

struct serve_layout {
    enum wio_serve_role role;
    uint16_t targets; /* that are here: their directories */
    uint16_t first;   /* number of the first of them in the store */
    uint16_t total;   /* targets of the store */
    bool is_new;      /* STORE is not there yet */
    struct wio_link_key servers_key;
};

enum { SERVE_TARGET_NAME_BYTES = 16, SERVE_LAYOUT_TEXT_BYTES = 128 };

/* The directory of a target, "targetN". */
void serve_target_name(char name[SERVE_TARGET_NAME_BYTES], unsigned target);

void serve_layout_encode(const struct serve_layout *layout, char text[SERVE_LAYOUT_TEXT_BYTES]);
/* All but `is_new` and the key. A version that is not known is WIO_ERR_UNSUPPORTED. */
WIO_MUST_CHECK enum wio_status serve_layout_decode(const char *text, size_t size,
                                                   struct serve_layout *layout_out,
                                                   struct wio_error *err);

/* Read STORE and the key. WIO_ERR_IO with sys_errno ENOENT: there is no STORE. */
WIO_MUST_CHECK enum wio_status serve_layout_read(struct wio_io *io, struct serve_layout *layout_out,
                                                 struct wio_error *err);
/* The same, or make directories and key in a root that is empty or holds what an interrupted
 * creation left. `targets` 0: as many as there are, 1 of a new one. `part` NULL: a whole store.
 * WIO_ERR_USAGE: what is there is something else, or has another key than `part`. */
WIO_MUST_CHECK enum wio_status serve_layout_open(struct wio_io *io, uint16_t targets,
                                                 const struct wio_serve_part *part,
                                                 struct serve_layout *layout_out,
                                                 struct wio_error *err);
/* All targets and the catalogue are there: write STORE. Durable on return. */
WIO_MUST_CHECK enum wio_status
serve_layout_finish(struct wio_io *io, const struct serve_layout *layout, struct wio_error *err);

#endif
