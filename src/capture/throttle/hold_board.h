/* SPDX-License-Identifier: Apache-2.0 */
/* What hold.c and hold_place.c share. Only while there is a board (cap_board). */
#ifndef WIO_CAPTURE_THROTTLE_HOLD_BOARD_H
#define WIO_CAPTURE_THROTTLE_HOLD_BOARD_H

#include "capture/throttle/hold.h"

/* The node's state is another one: the recorder is told where it waits for that. Returns the word
 * before. */
uint64_t cap_hold_say(struct wio_board_node *node, uint32_t state) CAP_HIDDEN;
/* Something else has changed. */
void cap_hold_ring(struct wio_board *board) CAP_HIDDEN;

#endif
