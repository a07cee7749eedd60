/* SPDX-License-Identifier: Apache-2.0 */
/* Can anybody still go on, and who waits for whom? */
#include "base/clock.h"
#include "plan/waits_name.h"
#include "replay/gate.h"

bool rp_gate_is_stuck(const struct rp_gate *gate, struct rp_stuck *stuck)
{
    const struct rp_crowd *crowd = gate->board->crowd;
    uint64_t changes = atomic_load(&crowd->changes);
    uint64_t now = wio_clock_mono_ns();
    uint32_t threads = atomic_load(&crowd->threads);
    if (threads == 0 || atomic_load(&crowd->waiting) < threads || changes != stuck->changes ||
        stuck->since_ns == 0) {
        *stuck = (struct rp_stuck){changes, now};
        return false;
    }
    return now - stuck->since_ns > RP_STUCK_NS;
}

static void name_lock(const struct rp_gate *gate, uint32_t stream, uint64_t lock,
                      struct wio_error *err)
{
    char who[WIO_NAME_MAX];
    char whom[WIO_NAME_MAX] = "another thread";
    uint32_t owner = atomic_load(&gate->locks[lock].owner);
    if (owner != 0) {
        (void)wio_name_stream(gate->waits->trace, owner - 1, whom);
    }
    wio_error_add(err, "%s waits for a lock that %s has",
                  wio_name_stream(gate->waits->trace, stream, who), whom);
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
