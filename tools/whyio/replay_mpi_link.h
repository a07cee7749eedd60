/* SPDX-License-Identifier: Apache-2.0 */
/* The link of replay/launcher/link.h, by MPI. */
#ifndef WHYIO_REPLAY_MPI_LINK_H
#define WHYIO_REPLAY_MPI_LINK_H

#include "replay/launcher/link.h"

/* Start MPI. */
enum wio_status link_open(int *argc, char ***argv, struct wio_replay_link **link_out,
                          struct wio_error *err);
/* End it: all ranks together. */
void link_close(struct wio_replay_link *link);

#endif
