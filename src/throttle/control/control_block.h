/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's side of ring/control_block.h: making the board, letting nodes go, sleeping until
 * something changes on it. One thread.
 */
#ifndef WIO_THROTTLE_CONTROL_CONTROL_BLOCK_H
#define WIO_THROTTLE_CONTROL_CONTROL_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "ring/control_block.h"

struct wio_board_file {
    struct wio_board *board;
    int fd;
    char path[64]; /* by which processes of the run open it; gone when this process ends */
};

/* An empty board in memory, which holds no node. */
WIO_MUST_CHECK enum wio_status wio_board_create(struct wio_board_file *file_out,
                                                struct wio_error *err);
/* Accepts one that was never created (zeros). Mappings in other processes stay valid. */
void wio_board_destroy(struct wio_board_file *file);

/* Empty again, for the next run: all processes of the last one have ended. New nodes may do
 * `first_grant` I/Os (WIO_BOARD_FREE: all); no hold lasts longer than `limit_ns`. */
void wio_board_reset(struct wio_board *board, uint32_t first_grant, uint64_t limit_ns);

/* Nodes that can be read now: those before the first one that is still being filled in. */
uint32_t wio_board_count(const struct wio_board *board);
/* More threads came than the board has places. */
bool wio_board_is_overfull(const struct wio_board *board);

static inline uint64_t wio_board_word(const struct wio_board_node *node)
{
    return __atomic_load_n(&node->word, __ATOMIC_SEQ_CST);
}

static inline uint32_t wio_board_asked(const struct wio_board_node *node)
{
    return __atomic_load_n(&node->asked, __ATOMIC_SEQ_CST);
}

/* The node may do `count` I/Os in all. */
void wio_board_grant(struct wio_board_node *node, uint32_t count);
/* No node is held any more, present or future. */
void wio_board_let_all_go(struct wio_board *board);

/* The doorbell now: to be read before the nodes are. */
uint32_t wio_board_doorbell(const struct wio_board *board);
/* Sleep until the doorbell is no more `seen`, at most `limit_ns`; a signal may end it too. Counts
 * up the beat, by which held nodes see that the recorder lives. */
void wio_board_sleep(struct wio_board *board, uint32_t seen, uint64_t limit_ns);

#endif
