/* SPDX-License-Identifier: Apache-2.0 */
/* What the state of a thread has of throttled runs: features.def. */
#ifndef WIO_CAPTURE_THROTTLE_HOLD_THREAD_H
#define WIO_CAPTURE_THROTTLE_HOLD_THREAD_H

#include <stdint.h>

struct cap_hold_thread {
    struct wio_board_node *node; /* place on the board: hold.h. NULL = none */
    uint64_t key;                /* of the node, and of its creator: */
    uint64_t parent;
    uint32_t children;    /* that this thread has made */
    uint32_t waits;       /* depth of cap_state_enter .. */
    uintptr_t wait_frame; /* .. and where on the stack the outermost was */
    uint64_t look;        /* the last call that could be held: hash of call and target */
    uint8_t look_failed;  /* it did */
    uint8_t look_again;   /* it is made once more */
};

#endif
