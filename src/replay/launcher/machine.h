/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the ranks of one machine share in a replay under a launcher: progress of each stream,
 * ended processes, the sync table. So synchronisation within one machine needs no messages.
 */
#ifndef WIO_REPLAY_LAUNCHER_MACHINE_H
#define WIO_REPLAY_LAUNCHER_MACHINE_H

#include "replay/control_block.h"
#include "replay/initial/plan.h"
#include "replay/launcher/link.h"

struct rp_machine {
    void *memory; /* NULL: not open */
    size_t bytes;
    bool is_leader;
    uint32_t leader; /* rank */
    struct rp_crowd *crowd;
    struct rp_group_slot *groups;
    struct rp_progress *progress;
    void *gate;             /* rp_gate_size bytes */
    int64_t clock_ahead_ns; /* of this machine, before rank 0's */
};

/* All ranks call it together. Zero-initialise; release with rp_machine_close. */
WIO_MUST_CHECK enum wio_status rp_machine_open(struct rp_machine *machine,
                                               const struct wio_replay_link *link,
                                               const struct rp_plan *plan, struct wio_error *err);
void rp_machine_close(struct rp_machine *machine);
/* The board uses what the machine shares. */
void rp_machine_lend(const struct rp_machine *machine, struct rp_board *board);

/* Ask rank 0 for its time and fill clock_ahead_ns. All ranks call it together. */
WIO_MUST_CHECK enum wio_status rp_machine_set_clock(struct rp_machine *machine,
                                                    const struct wio_replay_link *link,
                                                    struct wio_error *err);

#endif
