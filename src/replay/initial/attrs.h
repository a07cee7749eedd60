/* SPDX-License-Identifier: Apache-2.0 */
/* Extended attributes that files had before the run, with the size of each value. Pure. */
#ifndef WIO_REPLAY_INITIAL_ATTRS_H
#define WIO_REPLAY_INITIAL_ATTRS_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>

#include "base/map.h"

#define RP_ATTR_BYTES_MAX 65536u /* XATTR_SIZE_MAX */

struct rp_attr {
    uint32_t name; /* id in the space's texts */
    uint32_t bytes;
    uint32_t next;   /* of the same file: index + 1, 0 = none */
    bool is_initial; /* was there before the run */
};

/* Zero-initialise. */
struct rp_attrs {
    struct rp_attr *items;
    uint32_t count;
    uint32_t capacity;
    struct wio_map known; /* (file, name) -> index */
};

void rp_attrs_fini(struct rp_attrs *attrs);

/* An operation on attribute `name` of file `file`, whose chain begins at *first. Only the first one
 * tells what was before the run. */
WIO_MUST_CHECK enum wio_status rp_attrs_see(struct rp_attrs *attrs, const struct wio_event *event,
                                            uint32_t file, uint32_t name, uint32_t *first);

/* Only these are performed: the others are acls, labels and rights, not data. Pure. */
bool rp_attr_is_data(const char *name);

#endif
