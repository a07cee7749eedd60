/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check, before anything is made, whether the trace touches a foreign name in the target.
 *
 * Foreign directories may be used, but not removed, renamed or made. Foreign links are used if they
 * say what the trace's link says. Any other foreign file of a name that the trace touches is an
 * error, also where the program found nothing there.
 */
#ifndef WIO_REPLAY_PREPARE_COLLIDE_H
#define WIO_REPLAY_PREPARE_COLLIDE_H

#include "replay/initial/namespace.h"
#include "replay/prepare/manifest.h"
#include "replay/root.h"

/* The entry of a directory that was not empty, but no entry of which is known. */
#define RP_ENTRY_NAME ".whyio-entry"

/* Fills manifest->planned with the names that are the replay's own. */
WIO_MUST_CHECK enum wio_status rp_collide_check(const struct rp_root *root,
                                                struct rp_manifest *manifest,
                                                const struct rp_space *space,
                                                struct wio_error *err);

#endif
