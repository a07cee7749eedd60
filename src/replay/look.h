/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking again and again for what comes soon, instead of sleeping: nothing is more exact, and no
 * processor falls asleep meanwhile, but it takes one. So no more threads look at a time than there
 * are processors, and none while somebody else wants these: more tasks of the machine are ready
 * to run than it has processors (/proc/loadavg), and they are not all of this replay.
 *
 * Yielding does not help there. Of what it costs others nothing is known to the one who yields, and
 * Linux 6.18 may run nothing else beside threads that yield without end.
 */
#ifndef WIO_REPLAY_LOOK_H
#define WIO_REPLAY_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/board.h"

/* False: sleep instead. Else rp_look_end comes after it. */
bool rp_look_begin(struct rp_board *board, uint32_t cpus);
/* One turn of the loop; it lets those run who perform beside it. False: stop looking. */
bool rp_look_on(struct rp_board *board, uint32_t cpus);
void rp_look_end(struct rp_board *board);

#endif
