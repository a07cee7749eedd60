/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of what replays have made in a target, kept there as `.whyio-replay`: what is on it may
 * be removed by the next replay, anything else is foreign and is left alone. It is written before
 * the first file is made, so that a replay that was cut short can be cleaned up too. While a replay
 * runs it holds a lock on the list.
 */
#ifndef WIO_REPLAY_PREPARE_MANIFEST_H
#define WIO_REPLAY_PREPARE_MANIFEST_H

#include <stdbool.h>

#include <whyio/status.h>

#include "base/map.h"
#include "replay/root.h"

#define RP_MANIFEST_NAME ".whyio-replay"

/* Set to {.fd = -1} first. */
struct rp_manifest {
    int fd;
    struct wio_strtab old;     /* absolute paths (the target is "/") of earlier replays */
    struct wio_strtab planned; /* those of this one */
};

/* Take the lock and read the list. WIO_ERR_BUSY while another replay holds it. */
WIO_MUST_CHECK enum wio_status rp_manifest_open(struct rp_manifest *manifest,
                                                const struct rp_root *root, struct wio_error *err);
void rp_manifest_close(struct rp_manifest *manifest);

bool rp_manifest_has(const struct rp_manifest *manifest, const char *path);
WIO_MUST_CHECK enum wio_status rp_manifest_plan(struct rp_manifest *manifest, const char *path);

/* Write old and planned paths, flushed. */
WIO_MUST_CHECK enum wio_status rp_manifest_write(struct rp_manifest *manifest,
                                                 const struct rp_root *root, struct wio_error *err);

/* After the replay: keep only names that are there now. A file put at one of the others later is
 * foreign. */
WIO_MUST_CHECK enum wio_status rp_manifest_prune(struct rp_manifest *manifest,
                                                 const struct rp_root *root, struct wio_error *err);

/* Remove what earlier replays have made; directories only when nothing foreign is in them. */
WIO_MUST_CHECK enum wio_status rp_manifest_reset(struct rp_manifest *manifest,
                                                 const struct rp_root *root, struct wio_error *err);

#endif
