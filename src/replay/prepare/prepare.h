/* SPDX-License-Identifier: Apache-2.0 */
/* Making the tree below the target what it was before the run. */
#ifndef WIO_REPLAY_PREPARE_PREPARE_H
#define WIO_REPLAY_PREPARE_PREPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/initial/plan.h"
#include "replay/prepare/manifest.h"
#include "replay/root.h"

struct rp_prepare {
    const struct rp_root *root;
    struct rp_manifest *manifest; /* open */
    bool keep_cache;
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
    bool (*should_stop)(void); /* asked now and then: a signal came */
};

/* What it takes. Pure. */
struct rp_tree_size {
    uint64_t files;
    uint64_t directories;
    uint64_t links;
    uint64_t bytes;       /* of real data before the run */
    uint64_t written;     /* that stay after the run, about */
    uint64_t from_memory; /* of what the run read first (warm.h) */
    uint64_t from_device;
};
void rp_prepare_measure(const struct rp_space *space, struct rp_tree_size *size_out);

/* Refuse foreign files, remove those of earlier replays, check the room, make the tree. */
WIO_MUST_CHECK enum wio_status rp_prepare(const struct rp_prepare *params,
                                          const struct rp_space *space, struct wio_error *err);

#endif
