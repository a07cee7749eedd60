/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sync table of a causal replay: shared memory with an entry for each edge, collective, lock and
 * queue of the trace.
 *
 * An edge is given with a time: that of the giving thread's clock (schedule/thread_clock.h), which
 * may lie ahead of the system clock, since only computation lies between. The taking thread goes on
 * as soon as the time is known, and is never woken for a time that it can compute; only operations
 * start by the clock. Locks and queues are first come, first served: those are taken by the clock.
 *
 * A wait spins for a millisecond, then sleeps (futex); where the program waited busily (MPI, flags
 * in memory) it goes on spinning. No wait spins for long while other work wants the processors
 * (spin.h). Every wait checks periodically whether the replay was aborted. The coordinator detects
 * deadlock. Locks and queues that were taken in another order than in the trace may lead to one, so
 * a wait for such is given up (rp_gate_untie); where there is none, the replay ends with an error
 * that names the waits (rp_gate_is_stuck).
 */
#ifndef WIO_REPLAY_WAIT_SYNC_TABLE_H
#define WIO_REPLAY_WAIT_SYNC_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

#include "replay/control_block.h"
#include "replay/launcher/link.h"
#include "replay/launcher/send_queue.h"
#include "schedule/thread_clock.h"
#include "schedule/waits.h"

struct rp_gate_edge {
    _Atomic uint64_t v_ns; /* futex (low half); 0 = not given, else odd */
};

struct rp_gate_meeting {
    _Atomic uint64_t v_ns;      /* latest arrival */
    _Atomic uint64_t here_v_ns; /* latest arrival on this machine */
    _Atomic uint32_t here;      /* arrivals on this machine */
    uint32_t reserved;
    _Atomic uint32_t come; /* futex */
    _Atomic uint32_t sleepers;
};

struct rp_gate_lock {
    _Atomic uint32_t state; /* futex: 0 free, WIO_LOCK_EXCLUSIVE, else number of readers */
    _Atomic uint32_t sleepers;
    _Atomic uint32_t owner;           /* stream + 1 of the exclusive owner */
    _Atomic uint32_t passed;          /* readers that went on without a share of it */
    _Atomic uint32_t shared_sleepers; /* those of `sleepers` that want a share */
};

#define WIO_LOCK_EXCLUSIVE UINT32_MAX

struct rp_gate_queue {
    _Atomic uint32_t count; /* futex: puts less gets, modulo 2^32 */
    _Atomic uint32_t sleepers;
    _Atomic uint32_t debt; /* gets that were given up: the next puts are theirs */
    uint32_t reserved;
};

/* What one thread waits for; a cache line each. */
struct rp_gate_stream {
    _Atomic uint64_t act;       /* index of the act that it waits at + 1; RP_AT_LOCK + lock;
                                   RP_AT_FILE + path; 0 */
    _Atomic uint64_t wait;      /* number of that wait, from 1; stored before `act` */
    _Atomic uint64_t pass;      /* the wait of this number is given up (rp_gate_untie) */
    _Atomic uint32_t is_asleep; /* on an edge */
    uint32_t padding[9];
};

#define RP_AT_LOCK (UINT64_C(1) << 63)
#define RP_AT_FILE (UINT64_C(1) << 62)

/* Threads of other machines, in a replay under a launcher: reached by messages (launcher/remote.h).
 */
struct rp_far_meeting {
    uint64_t machines; /* that have a taker: bit number modulo 64 */
    uint32_t here;     /* givers on this machine */
};
struct rp_far {
    struct rp_outbox *outbox;
    const struct wio_replay_link *link;
    int64_t clock_ahead_ns;          /* of this machine's clock, before rank 0's */
    uint32_t *rank_of_stream;        /* that plays it */
    uint32_t *leaders;               /* of each machine: a rank */
    struct rp_far_meeting *meetings; /* of the waits */
};

/* Pointers of this process into memory that all processes share. */
struct rp_gate {
    void *memory;
    size_t bytes;
    const struct wio_waits *waits;
    struct rp_board *board;
    uint32_t cpus;
    struct rp_gate_edge *edges;
    struct rp_gate_meeting *meetings;
    struct rp_gate_lock *locks;
    struct rp_gate_queue *queues;
    struct rp_gate_stream *streams;
    const struct rp_far *far; /* NULL: all threads are on this machine */
};

/* Bytes of memory that a sync table for these waits takes. */
size_t rp_gate_size(const struct wio_waits *waits);

/* `memory`: rp_gate_size bytes of zeros, shared by all processes, that outlive the table; NULL =
 * map some. Release with rp_gate_fini. */
WIO_MUST_CHECK enum wio_status rp_gate_init(struct rp_gate *gate, const struct wio_waits *waits,
                                            struct rp_board *board, void *memory,
                                            struct wio_error *err);
void rp_gate_fini(struct rp_gate *gate);

/* ---- giving ---- */

void rp_gate_give(struct rp_gate *gate, uint32_t edge, uint64_t v_ns);
void rp_gate_enter(struct rp_gate *gate, uint32_t meeting, uint64_t v_ns);
/* Give all that a stream has to give, at time 0: for streams that no process plays. */
void rp_gate_pass(struct rp_gate *gate, uint32_t stream);
/* `index`: of the act PUT, an edge or a token. */
void rp_gate_put(struct rp_gate *gate, uint32_t index);
/* Does nothing unless `stream` has the lock. */
void rp_gate_unlock(struct rp_gate *gate, uint32_t lock, uint32_t stream, bool is_shared);
/* All locks that a thread has not given back when it ends. */
void rp_gate_unlock_all(struct rp_gate *gate, uint32_t stream);

/* The same for a message of another machine; times are rank 0's. */
void rp_gate_deliver(struct rp_gate *gate, const struct wio_replay_mail *mail);

/* ---- waiting: false when the replay was aborted ---- */

/* Take act number `act` of the table: TAKE, LEAVE or GET, with the GETs that are got together with
 * it (wio_waits_together): the thread has all of them then, or none. `release_out`: when what it
 * waits for came; of a GET the clock's time if it had to wait, else 0. */
bool rp_gate_take(struct rp_gate *gate, uint32_t stream, size_t act,
                  struct wio_release *release_out);
bool rp_gate_is_given(const struct rp_gate *gate, uint32_t edge);
/* `waited_ns_out`: the clock's time when it was got after a wait, 0 = it was free. */
bool rp_gate_lock(struct rp_gate *gate, uint32_t lock, uint32_t stream, bool is_shared,
                  uint64_t *waited_ns_out);

/* ---- deadlock ---- */

/* Deadlock: all threads wait for each other, and none has gone on since the first of the calls with
 * this state that found them so, more than RP_STUCK_NS ago. Zero-initialise the state. */
#define RP_STUCK_NS UINT64_C(5000000000)
struct rp_stuck {
    uint64_t changes;
    uint64_t since_ns;
    uint64_t untied; /* changes + 1 when a wait was given up */
};
bool rp_gate_is_stuck(const struct rp_gate *gate, struct rp_stuck *stuck);
/* Break a deadlock that has lasted for RP_KNOT_NS: give up the wait for a lock or queue that is
 * first in the trace. In the order of the trace its turn has come, and what it waits for is done: a
 * thread that was served before it here came after it there. True if a wait was given up. The state
 * is that of rp_gate_is_stuck, which is called first. */
#define RP_KNOT_NS UINT64_C(20000000)
bool rp_gate_untie(struct rp_gate *gate, struct rp_stuck *stuck);
/* The same in two steps, where several machines decide together which wait is the first: its time
 * in the trace, UINT64_MAX = no wait for a lock or queue here; and give it up. */
uint64_t rp_gate_first_ns(const struct rp_gate *gate);
bool rp_gate_let_go(struct rp_gate *gate);
/* Does the thread wait for a lock, also of a file, or for a queue? */
bool rp_gate_is_at_lock(const struct rp_gate *gate, uint32_t stream);
/* The thread waits for the lock of a file (string id of its path); WIO_NO_STRING: no longer. */
void rp_gate_name_file(struct rp_gate *gate, uint32_t stream, uint32_t path);
/* Append the wait of each stream to `err`. */
void rp_gate_name_waits(const struct rp_gate *gate, struct wio_error *err);

#endif
