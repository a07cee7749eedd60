/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a node of a throttled run still? Its own state on the board decides where that is enough (it
 * is held before an I/O, it has ended). Else the kernel is asked:
 *
 * - a node that sleeps in a call without a time limit, and has not run between two samples, is
 *   still;
 * - a node that polls (an MPI library, a poll loop) is still when it has had enough processor time
 *   since the last change of any node to have polled again;
 * - a computing node is taken for one that waits on shared memory when it computes for longer than
 *   its patience.
 *
 * Time here is a node's own time: while it runs or sleeps, not while it waits for a processor. So
 * a busy machine makes no node appear still that is not.
 */
#ifndef WIO_THROTTLE_CONTROL_QUIESCENCE_H
#define WIO_THROTTLE_CONTROL_QUIESCENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "throttle/control/control_block.h"
#include "throttle/control/task_state.h"
#include "throttle/hosts/coordinator.h"

/* Own time in which a node that spins has polled often enough. */
#define WIO_WATCH_SPIN_NS UINT64_C(2000000)

struct wio_watch {
    const struct wio_board_node *node;   /* NULL: it has not registered yet */
    const struct wio_director_look *far; /* as sampled by its host; NULL: sampled here */
    uint64_t patience_ns;                /* for computing */
    uint64_t call_patience_ns;           /* //TRACE: for a call that waits */
    uint64_t word;                       /* as last read */
    uint32_t asked;
    struct wio_task_state task; /* as last sampled */
    uint64_t looked_ns;
    uint64_t own_ns;        /* own time since the last wio_watch_restart */
    uint64_t phase_ns;      /* own time since the last wio_watch_begin_phase */
    uint64_t first_changes; /* of `word` then */
    uint64_t mark_own_ns;   /* own_ns at the last wio_watch_mark */
    uint64_t mark_looked_ns;
    bool is_steady; /* asleep, and has not run between the last two samples */
};

/* Read the board again; true where the node changed in a way that rings the doorbell. */
bool wio_watch_read(struct wio_watch *watch);
/* A node changed its state: own time is measured anew from here. `is_steady` stays. */
void wio_watch_restart(struct wio_watch *watch);
/* It went from computing into a call, or back: the time in this phase is measured anew as well. */
void wio_watch_begin_phase(struct wio_watch *watch);
/* All bytes from other hosts have arrived by now, as far as is known. */
void wio_watch_mark(struct wio_watch *watch);
/* Has it had time since the mark to wake up by them? */
bool wio_watch_has_looked(const struct wio_watch *watch);
/* Ask the kernel. False where the thread does not exist any more. */
bool wio_watch_look(struct wio_watch *watch, uint64_t now_ns);

/* It waits before an I/O for a grant. */
bool wio_watch_is_held(const struct wio_watch *watch);
bool wio_watch_has_exited(const struct wio_watch *watch);
/* Its own state says that it waits: for others, or for a lock. */
bool wio_watch_waits(const struct wio_watch *watch);
/* Is it still, by the last sample? */
bool wio_watch_is_still(const struct wio_watch *watch);

/* //TRACE's watchdog: it computes, or is in a call, for longer than its patience. */
bool wio_watch_is_blocked(const struct wio_watch *watch);

#endif
