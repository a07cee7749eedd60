/* SPDX-License-Identifier: Apache-2.0 */
/* Waits at the sync table, for whatever entry. For the files of the sync table only. */
#ifndef WIO_REPLAY_WAIT_SYNC_TABLE_WAIT_H
#define WIO_REPLAY_WAIT_SYNC_TABLE_WAIT_H

#include "replay/wait/sync_table.h"

/* A wait: polls `is_over`, which also gives the value of the futex to sleep on. */
struct rp_waiting {
    struct rp_gate *gate;
    uint32_t stream;
    uint64_t at;     /* what rp_gate_stream.act becomes .. */
    uint64_t number; /* .. and rp_gate_stream.wait */
    uint32_t index;
    uint32_t together; /* GETs from act `at` - 1 on that are one (wio_waits_together) */
    bool is_busy;      /* the program spun: see rp_looks_on */
    bool is_looking;
    bool is_passed; /* out: the wait was given up, nothing was got (rp_gate_untie) */
    void *word;
    _Atomic uint32_t *sleepers;
    bool (*is_over)(struct rp_waiting *waiting, uint32_t *seen_out);
};

/* MPI libraries and flags in memory are waited for by spinning, never by sleeping. That affects all
 * other threads: no processor goes idle, and a thread that waits for a storage device wakes at
 * once. So the replay spins for these, too. */
bool rp_looks_on(uint8_t evidence);

/* False when the replay was aborted. */
bool rp_gate_wait(struct rp_waiting *waiting);
/* Wake all threads that sleep on the futex. */
void rp_gate_wake(void *word);
/* Wake the one of them that has slept longest. */
void rp_gate_wake_one(void *word);

/* In sync_table_queue.c: take the GETs of act `at` - 1, all of them at once. */
bool rp_gate_get(struct rp_waiting *waiting, struct wio_release *release_out);
/* Wake those that sleep on a queue that GET number `act`, or one that goes with it, takes from. */
void rp_gate_wake_get(struct rp_gate *gate, uint32_t stream, size_t act);
/* A put into a queue of this machine, by a thread of any machine. */
void rp_gate_put_here(struct rp_gate *gate, uint32_t queue);

#endif
