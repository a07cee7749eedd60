/* SPDX-License-Identifier: Apache-2.0 */
/* `whyio replay` once its peer processes are known: also called by the helper programs of MPIs. */
#ifndef WHYIO_REPLAY_RUN_H
#define WHYIO_REPLAY_RUN_H

#include "replay/launcher/link.h"

/* `link`: NULL without a launcher. Gives the exit status; after link->is_lost the caller ends all
 * ranks with it. */
int replay_run(int argc, char **argv, struct wio_replay_link *link);

#endif
