/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of one thread in a replay or a prediction, here both called replay: from the recorded
 * time to the time at which the same moment comes about in the replay. Pure.
 *
 * A gap between two operations is a list of segments as they happened: computing, a call that
 * waits, computing again. Computing takes the time that it took; of a call that waited only the
 * part behind the release takes time, the part before it is replaced by the wait of the replay:
 *
 *     trace    write | compute |  barrier...........R--| compute | write
 *                              b                       e
 *     replay   write | compute |  waits ..R'--| compute | write
 *
 * R is the moment of the trace at which the last of the awaited threads came, R' the same moment of
 * the replay. The time from R to the end e of the call is the latency of the release.
 *
 * Calls that wait for what only a later event explains (poll before the read that has the edge) are
 * *open*: they take their recorded time until an edge tells otherwise.
 *
 * This time is not the clock's. It says when operations are due, so an operation that began late
 * because a processor was taken or a timer was inexact does not delay what comes after it.
 */
#ifndef WIO_SCHEDULE_THREAD_CLOCK_H
#define WIO_SCHEDULE_THREAD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct wio_gap {
    double scale;        /* factor on what is computed, not on what calls take */
    uint64_t at_ns;      /* moment of the trace up to which time has gone by .. */
    uint64_t v_ns;       /* .. and its time in the replay, CLOCK_MONOTONIC */
    uint64_t call_end;   /* of the trace: until here a call was under way .. */
    uint64_t taken_end;  /* .. which had waited, if this is its end */
    uint64_t kept_end;   /* the same if it was kept from a processor .. */
    uint64_t kept_ns;    /* .. so long .. */
    uint64_t stays_ns;   /* .. of which so much at most stays */
    bool is_open;        /* a call waited, and nothing has said for what: */
    uint64_t open_at_ns; /* its begin .. */
    uint64_t open_v_ns;  /* .. and that in the replay */
    uint64_t open_end;   /* its end in the trace */
    uint64_t did_at_ns;  /* end of the last operation that was performed .. */
    uint64_t did_v_ns;   /* .. and that in the replay */
};

/* A wait that is over: its release was at `traced_ns` of the trace, at `v_ns` of the replay. Zero:
 * there was no wait. */
struct wio_release {
    uint64_t traced_ns;
    uint64_t v_ns;
};

/* The later one of both: a wait for two is over with the last. */
void wio_release_join(struct wio_release *release, struct wio_release other);

void wio_gap_init(struct wio_gap *gap, double scale, uint64_t at_ns, uint64_t v_ns);

/* Time passes up to this moment of the trace. Moments that lie back (events inside a call) change
 * nothing. */
void wio_gap_reach(struct wio_gap *gap, uint64_t at_ns);

/*
 * The same where processors are simulated. Of what the thread computed on the way it had a
 * processor for `cpu_ns`, and wanted one for the rest, which does not pass here (0: nothing is
 * known of that, all of it passes). Returns how much of the time that passed is to be had from a
 * processor: it is the last part of it.
 */
uint64_t wio_gap_compute(struct wio_gap *gap, uint64_t at_ns, uint64_t cpu_ns);
/* The call that ends at `end_ns` was kept from a processor for `kept_ns` in all: if it waited for
 * another thread, after the release. Of that up to `stays_ns` comes about again. */
void wio_gap_kept(struct wio_gap *gap, uint64_t end_ns, uint64_t kept_ns, uint64_t stays_ns);
/* The processor was not had before `v_ns` of the replay. */
void wio_gap_late(struct wio_gap *gap, uint64_t v_ns);

/* A call lasted from where the gap is to `end_ns`: open, if it may have waited for something that
 * only a later event tells. */
void wio_gap_call(struct wio_gap *gap, uint64_t end_ns, bool is_open);
/* The same for a sleep: it is taken for computing. */
void wio_gap_sleep(struct wio_gap *gap, uint64_t end_ns);
/* The time until `end_ns` of the trace is no time of the program. */
void wio_gap_skip(struct wio_gap *gap, uint64_t end_ns);

/*
 * The call that ends at `end_ns` waited for a condition, and no edge says what ended it. The lock
 * that it takes again then was free at `free_ns` of the trace (0: never held before). If that was
 * long before the end, the wait timed out at a known time: the gap reaches the end, and the lock is
 * to be asked for then, since other threads may hold it meanwhile. Otherwise the call waited for
 * the lock at last, which is to be asked for at once: no time passes.
 */
void wio_gap_in_vain(struct wio_gap *gap, uint64_t free_ns, uint64_t end_ns);

/* The thread goes on elsewhere in the trace: what follows is at at_ns, whatever was before. */
void wio_gap_jump(struct wio_gap *gap, uint64_t at_ns);

/* The event at which the gap is (it began there and ended at `end_ns`) has waited for `release`. */
void wio_gap_take(struct wio_gap *gap, struct wio_release release, uint64_t end_ns);
/* The same where nothing in the trace says since when the thread did nothing but wait: all of the
 * time since the last operation is taken for waiting. */
void wio_gap_take_all(struct wio_gap *gap, struct wio_release release, uint64_t end_ns);
/* The same where it is known how soon after such a release the thread can be here: lag_ns,
 * computing behind the wait. If in the trace it came later, it was not waiting any more, but busy
 * with what comes before the wait: that takes its time, and the release only sets a bound. */
void wio_gap_take_held(struct wio_gap *gap, struct wio_release release, uint64_t lag_ns,
                       uint64_t end_ns);
/* Was a thread that came so long after a release in the trace busy until then? */
bool wio_gap_was_busy(uint64_t came_ns, uint64_t lag_ns);

/* An operation was performed: it ended at `end_ns` of the trace and at `v_ns` of the replay. */
void wio_gap_did(struct wio_gap *gap, uint64_t end_ns, uint64_t v_ns);

#endif
