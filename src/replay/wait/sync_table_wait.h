/* SPDX-License-Identifier: Apache-2.0 */
/* How a thread waits at the gate, whatever for. For the files of the gate only. */
#ifndef WIO_REPLAY_WAIT_SYNC_TABLE_WAIT_H
#define WIO_REPLAY_WAIT_SYNC_TABLE_WAIT_H

#include "replay/wait/sync_table.h"

/* A wait: asks `is_over` for as long as it takes, and for the value of the futex to sleep on. */
struct rp_waiting {
    struct rp_gate *gate;
    uint32_t stream;
    uint64_t at;     /* what rp_gate_stream.act becomes .. */
    uint64_t number; /* .. and rp_gate_stream.wait */
    uint32_t index;
    uint32_t together; /* GETs from act `at` - 1 on that are one (wio_waits_together) */
    bool is_busy;      /* the program looked again and again: see rp_looks_on */
    bool is_looking;
    bool is_passed; /* out: the wait was given up, nothing was got (rp_gate_untie) */
    void *word;
    _Atomic uint32_t *sleepers;
    bool (*is_over)(struct rp_waiting *waiting, uint32_t *seen_out);
};

/* MPI libraries and flags in memory are waited for by looking, never by sleeping. That has its
 * effect on everybody else: no processor falls asleep, and who waits for a storage device is
 * awake at once. So the replay looks, too. */
bool rp_looks_on(uint8_t evidence);

/* False when the replay was aborted. */
bool rp_gate_wait(struct rp_waiting *waiting);
/* All who sleep on the futex. */
void rp_gate_wake(void *word);

/* In sync_table_queue.c: take the GETs of act `at` - 1, all of them at once. */
bool rp_gate_get(struct rp_waiting *waiting, struct wio_release *release_out);
/* Wake those that sleep on a queue that GET number `act`, or one that goes with it, takes from. */
void rp_gate_wake_get(struct rp_gate *gate, uint32_t stream, size_t act);
/* The same for somebody of another machine who puts. */
void rp_gate_put_here(struct rp_gate *gate, uint32_t queue);

#endif
