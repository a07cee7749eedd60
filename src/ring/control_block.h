/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control block ("board"): one file that all processes of a throttled run map, and the recorder
 * with them. Each thread has a place on it (a "node"), where it stores its state and where it
 * waits, before an I/O, until the recorder releases it.
 *
 * A node may begin its n-th I/O (from 1) when `granted` >= n; it waits on that word by futex. The
 * recorder learns of changes by the word `doorbell`, on which it sleeps.
 *
 * Nothing here is on disk longer than the run, so it has no version: both sides are of one build,
 * which `magic` makes sure. Native byte order. Safe inside a traced process.
 */
#ifndef WIO_RING_CONTROL_BLOCK_H
#define WIO_RING_CONTROL_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define WIO_BOARD_MAGIC 0x314452414f424957u /* "WIBOARD1" */
#define WIO_BOARD_NODES 4096u
/* Value of `granted` and `first_grant`: never held. */
#define WIO_BOARD_FREE UINT32_MAX
/* No rank. */
#define WIO_BOARD_NO_RANK (-1)

enum wio_board_state {
    WIO_BOARD_COMPUTING = 0, /* or in a call that has no state of its own */
    WIO_BOARD_AT_IO,         /* before an I/O: waits for a grant */
    WIO_BOARD_IN_MPI,        /* in an MPI call that may wait for others */
    WIO_BOARD_IN_LOCK,       /* wants a lock: the order of holders is no dependency */
    WIO_BOARD_BLOCKED,       /* in a call that waits for another thread or process */
    WIO_BOARD_POLLING,       /* polls (MPI_Test, poll) */
    WIO_BOARD_SLEEPING,      /* wakes by itself */
    WIO_BOARD_STARTING,      /* MPI_Init: launchers work for it, unseen */
    WIO_BOARD_EXITED
};

/* Written by its thread but for `granted`; any thread of the process may write EXITED. */
struct wio_board_node {
    uint32_t is_used; /* atomic; 1: the fields to `parent` are right */
    int32_t pid;
    int32_t tid;
    int32_t rank;  /* atomic; WIO_BOARD_NO_RANK: none (yet: an exec may bring one) */
    int32_t ppid;  /* of the process when it came */
    uint32_t host; /* of the recorder: 0 = a thread of this machine, else one whose place here is as
                      the recorder of another host says */
    uint64_t key;  /* place in the tree of threads and forks below the first process of a rank or
                      program, of which it is a hash: equal in each run */
    uint64_t parent;  /* key of the creator, 0 where none is recorded */
    uint64_t word;    /* atomic: enum wio_board_state, and above 8 bits a count of changes */
    uint32_t asked;   /* atomic: I/Os that it came to */
    uint32_t granted; /* atomic, futex: I/Os that it may do. Of the recorder */
    uint64_t reserved[9];
};
_Static_assert(sizeof(struct wio_board_node) == 128, "two cache lines per node");

#define WIO_BOARD_STATE(word) ((uint32_t)((word)&0xff))
#define WIO_BOARD_CHANGES(word) ((word) >> 8)

/* A poll loop changes between these all the time: changes between them do not ring the doorbell,
 * the recorder samples them. */
static inline bool wio_board_is_quiet(uint32_t state)
{
    return state == WIO_BOARD_COMPUTING || state == WIO_BOARD_POLLING ||
           state == WIO_BOARD_SLEEPING;
}

struct wio_board {
    uint64_t magic;
    uint32_t doorbell;    /* atomic, futex: counts changes */
    uint32_t is_awaited;  /* atomic: the recorder sleeps on it: wake it */
    uint32_t node_count;  /* atomic: places taken; no holds beyond WIO_BOARD_NODES */
    uint32_t first_grant; /* atomic: `granted` of a new node */
    uint32_t is_over;     /* atomic: all holds have ended */
    uint32_t beat;        /* atomic: the recorder counts on while it lives */
    uint64_t limit_ns;    /* the longest hold at one I/O */
    uint32_t announced;   /* atomic: threads and processes that were about to be made */
    uint32_t arrived;     /* atomic: of these, registered or cancelled */
    uint64_t reserved[10];
    struct wio_board_node nodes[WIO_BOARD_NODES];
};
_Static_assert(sizeof(struct wio_board) == 128 + WIO_BOARD_NODES * 128, "layout of the board");

#endif
