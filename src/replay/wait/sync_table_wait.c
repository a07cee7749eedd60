/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/wait/sync_table_wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "replay/wait/spin.h"

/* Spin for so long before a sleep: waking a thread on another CPU takes tens of microseconds, in a
 * virtual machine up to a hundred. */
#define SPIN_NS 1000000u
/* Longest sleep between two checks of `abort`, ns. */
#define NAP_NS 50000000

/* The giver changes the word, then checks for sleepers; the waiter counts itself as one, then the
 * futex checks the word: one of both notices the other. */
static void sleep_on(struct rp_waiting *waiting, uint32_t seen)
{
    const struct timespec moment = {0, NAP_NS};
    struct rp_crowd *crowd = waiting->gate->board->crowd;
    atomic_fetch_add(waiting->sleepers, 1);
    atomic_fetch_add(&crowd->asleep, 1);
    (void)syscall(SYS_futex, waiting->word, FUTEX_WAIT, seen, &moment, NULL, 0);
    atomic_fetch_sub(&crowd->asleep, 1);
    atomic_fetch_sub(waiting->sleepers, 1);
}

void rp_gate_wake(void *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void rp_gate_wake_one(void *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool may_spin(struct rp_board *board, uint64_t now_ns, uint64_t begin_ns)
{
    return now_ns - begin_ns < RP_LOOK_SHORT_NS ||
           (now_ns - begin_ns < SPIN_NS && rp_look_is_free(board, now_ns));
}

static bool spin(struct rp_waiting *waiting)
{
    uint32_t seen;
    struct rp_gate *gate = waiting->gate;
    uint64_t begin_ns = wio_clock_mono_ns();
    while (!waiting->is_over(waiting, &seen)) {
        uint64_t now_ns = wio_clock_mono_ns();
        if (!may_spin(gate->board, now_ns, begin_ns) || rp_board_is_aborted(gate->board)) {
            return false;
        }
        rp_look_turn(gate->board, gate->cpus);
    }
    return true;
}

bool rp_looks_on(uint8_t evidence)
{
    return evidence == WIO_EVIDENCE_MPI || evidence == WIO_EVIDENCE_HELD;
}

static void rest(struct rp_waiting *waiting, uint32_t seen)
{
    struct rp_gate *gate = waiting->gate;
    if (!waiting->is_looking && waiting->is_busy) {
        waiting->is_looking = rp_look_begin(gate->board, gate->cpus);
    }
    if (!waiting->is_looking) {
        sleep_on(waiting, seen);
    } else if (!rp_look_on(gate->board, gate->cpus)) {
        rp_look_end(gate->board);
        waiting->is_looking = false;
    }
}

static bool may_go(struct rp_waiting *waiting, uint32_t *seen_out)
{
    if (waiting->is_over(waiting, seen_out)) {
        return true;
    }
    struct rp_gate *gate = waiting->gate;
    waiting->is_passed = atomic_load(&gate->streams[waiting->stream].pass) == waiting->number;
    if (waiting->is_passed) {
        atomic_fetch_add(&gate->board->untied, 1);
    }
    return waiting->is_passed;
}

static bool rest_until_over(struct rp_waiting *waiting)
{
    struct rp_wait wait;
    uint32_t seen;
    struct rp_gate *gate = waiting->gate;
    struct rp_gate_stream *self = &gate->streams[waiting->stream];
    bool is_over;
    rp_wait_begin(gate->board, &wait);
    waiting->number = atomic_fetch_add(&self->wait, 1) + 1;
    atomic_store(&self->act, waiting->at);
    while (!(is_over = may_go(waiting, &seen)) && !rp_board_is_aborted(gate->board)) {
        rest(waiting, seen);
    }
    if (waiting->is_looking) {
        rp_look_end(gate->board);
    }
    atomic_store(&self->act, 0);
    rp_wait_end(gate->board);
    return is_over;
}

bool rp_gate_wait(struct rp_waiting *waiting)
{
    uint32_t seen;
    return waiting->is_over(waiting, &seen) || spin(waiting) || rest_until_over(waiting);
}
