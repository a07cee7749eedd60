/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the name space (namespace.h) share. */
#ifndef WIO_REPLAY_INITIAL_NAMESPACE_INTERNAL_H
#define WIO_REPLAY_INITIAL_NAMESPACE_INTERNAL_H

#include "replay/initial/namespace.h"

/* A recorded path may be longer than PATH_MAX: composed from a directory. */
#define RP_SPACE_PATH_BYTES 8192

/* Of a name below a directory, in rp_space.children. */
static inline uint64_t rp_space_child_key(uint32_t parent, uint32_t name)
{
    return (uint64_t)parent << 32 | name;
}

/* A new name and a new file behind it, of which nothing is known. `name` and `path` are ids. */
WIO_MUST_CHECK enum wio_status rp_space_new_node(struct rp_space *space, uint32_t parent,
                                                 uint32_t name, uint32_t path, uint32_t *node_out);

void rp_space_mark_present(struct rp_space *space, uint32_t node);
/* The directories on the way to something that is there. */
void rp_space_found_parents(struct rp_space *space, uint32_t node);

#endif
