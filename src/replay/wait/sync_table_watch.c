/* SPDX-License-Identifier: Apache-2.0 */
/* Detects and breaks deadlocks of the sync table, and names the waits. */
#include "base/clock.h"
#include "replay/wait/sync_table_wait.h"
#include "schedule/waits_name.h"

/* Since when all threads wait, CLOCK_MONOTONIC ns; 0 = not all do. */
static uint64_t still_since(const struct rp_gate *gate, struct rp_stuck *stuck)
{
    const struct rp_crowd *crowd = gate->board->crowd;
    uint64_t changes = atomic_load(&crowd->changes);
    uint32_t threads = atomic_load(&crowd->threads);
    if (threads == 0 || atomic_load(&crowd->waiting) < threads) {
        stuck->since_ns = 0;
    } else if (changes != stuck->changes || stuck->since_ns == 0) {
        stuck->since_ns = wio_clock_mono_ns();
    }
    stuck->changes = changes;
    return stuck->since_ns;
}

bool rp_gate_is_stuck(const struct rp_gate *gate, struct rp_stuck *stuck)
{
    uint64_t since_ns = still_since(gate, stuck);
    return since_ns != 0 && wio_clock_mono_ns() - since_ns > RP_STUCK_NS;
}

/* Does a thread that waits at `at` wait for a lock or a queue? */
static bool may_let_go(const struct rp_gate *gate, uint64_t at)
{
    return at >= RP_AT_LOCK ||
           (at != 0 && at < RP_AT_FILE && gate->waits->acts[at - 1].kind == WIO_ACT_GET);
}

static void wake_at(struct rp_gate *gate, uint32_t stream, uint64_t at)
{
    if (at >= RP_AT_LOCK) {
        rp_gate_wake(&gate->locks[at - RP_AT_LOCK].state);
    } else {
        rp_gate_wake_get(gate, stream, at - 1);
    }
}

/* The stream whose wait is first in the trace, UINT32_MAX = none waits for a lock or queue. */
static uint32_t find_first(const struct rp_gate *gate, uint64_t *first_ns_out)
{
    uint32_t first = UINT32_MAX;
    uint64_t first_ns = UINT64_MAX;
    for (uint32_t stream = 0; stream < gate->waits->stream_count; stream++) {
        uint64_t begin_ns = atomic_load(&gate->board->progress[stream].begin_ns);
        if (begin_ns < first_ns && may_let_go(gate, atomic_load(&gate->streams[stream].act))) {
            first = stream;
            first_ns = begin_ns;
        }
    }
    *first_ns_out = first_ns;
    return first;
}

uint64_t rp_gate_first_ns(const struct rp_gate *gate)
{
    uint64_t first_ns;
    (void)find_first(gate, &first_ns);
    return first_ns;
}

/* A thread that goes on meanwhile, and perhaps waits again, does so under another number. */
bool rp_gate_let_go(struct rp_gate *gate)
{
    uint64_t first_ns;
    uint32_t first = find_first(gate, &first_ns);
    if (first == UINT32_MAX) {
        return false;
    }
    uint64_t number = atomic_load(&gate->streams[first].wait);
    uint64_t at = atomic_load(&gate->streams[first].act);
    if (!may_let_go(gate, at) || atomic_load(&gate->streams[first].wait) != number) {
        return false;
    }
    atomic_store(&gate->streams[first].pass, number);
    wake_at(gate, first, at);
    return true;
}

bool rp_gate_untie(struct rp_gate *gate, struct rp_stuck *stuck)
{
    bool is_knot = stuck->since_ns != 0 && wio_clock_mono_ns() - stuck->since_ns > RP_KNOT_NS;
    if (!is_knot || stuck->untied == stuck->changes + 1 || !rp_gate_let_go(gate)) {
        return false;
    }
    stuck->untied = stuck->changes + 1;
    return true;
}

static void name_lock(const struct rp_gate *gate, uint32_t stream, uint64_t lock,
                      struct wio_error *err)
{
    char waiter[WIO_NAME_MAX];
    char holder[WIO_NAME_MAX] = "another thread";
    uint32_t owner = atomic_load(&gate->locks[lock].owner);
    if (owner != 0) {
        (void)wio_name_stream(gate->waits->trace, owner - 1, holder);
    }
    wio_error_add(err, "%s waits for a lock that %s has",
                  wio_name_stream(gate->waits->trace, stream, waiter), holder);
}

bool rp_gate_is_at_lock(const struct rp_gate *gate, uint32_t stream)
{
    uint64_t at = atomic_load(&gate->streams[stream].act);
    return may_let_go(gate, at) || (at >= RP_AT_FILE && at < RP_AT_LOCK);
}

void rp_gate_name_file(struct rp_gate *gate, uint32_t stream, uint32_t path)
{
    atomic_store(&gate->streams[stream].act, path == WIO_NO_STRING ? 0 : RP_AT_FILE + path);
}

void rp_gate_name_waits(const struct rp_gate *gate, struct wio_error *err)
{
    char text[WIO_NAME_MAX];
    for (uint32_t stream = 0; stream < gate->waits->stream_count; stream++) {
        uint64_t at = atomic_load(&gate->streams[stream].act);
        if (at >= RP_AT_LOCK) {
            name_lock(gate, stream, at - RP_AT_LOCK, err);
        } else if (at >= RP_AT_FILE) {
            wio_error_add(err, "%s waits for the lock of '%s'",
                          wio_name_stream(gate->waits->trace, stream, text),
                          wio_trace_string(gate->waits->trace, (uint32_t)(at - RP_AT_FILE), NULL));
        } else if (at != 0) {
            wio_error_add(err, "%s",
                          wio_name_wait(gate->waits, stream, &gate->waits->acts[at - 1], text));
        }
    }
}
