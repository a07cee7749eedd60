/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/thread_clock.h"

#include "base/pick.h"

/* A thread that comes later than this after a release was busy: polling a flag needs a
 * processor. */
#define LOOK_NS 100000u

#define SPAN_MAX_NS 1e18 /* thirty years: what a wrong trace may hold must fit */

static uint64_t scaled(uint64_t ns, double scale)
{
    double product = (double)ns * scale;
    return product < SPAN_MAX_NS ? (uint64_t)product : (uint64_t)SPAN_MAX_NS;
}

/* How long the replay takes from `from_ns` to `to_ns` of the trace: calls as they did, computing
 * times the factor. */
static uint64_t span(const struct wio_gap *gap, uint64_t from_ns, uint64_t to_ns)
{
    if (to_ns <= from_ns) {
        return 0;
    }
    uint64_t inside_end = gap->call_end < to_ns ? gap->call_end : to_ns;
    uint64_t inside = inside_end > from_ns ? inside_end - from_ns : 0;
    uint64_t rest = to_ns - from_ns - inside;
    return inside + (gap->scale == 1.0 ? rest : scaled(rest, gap->scale));
}

void wio_release_join(struct wio_release *release, struct wio_release other)
{
    release->traced_ns = wio_larger(release->traced_ns, other.traced_ns);
    release->v_ns = wio_larger(release->v_ns, other.v_ns);
}

void wio_gap_init(struct wio_gap *gap, double scale, uint64_t at_ns, uint64_t v_ns)
{
    *gap = (struct wio_gap){
        .scale = scale, .at_ns = at_ns, .v_ns = v_ns, .did_at_ns = at_ns, .did_v_ns = v_ns};
}

void wio_gap_reach(struct wio_gap *gap, uint64_t at_ns)
{
    if (at_ns > gap->at_ns) {
        gap->v_ns += span(gap, gap->at_ns, at_ns);
        gap->at_ns = at_ns;
    }
}

/* Of the call under way what is left of it without being kept from a processor. */
static uint64_t inside_of(const struct wio_gap *gap, uint64_t to_ns)
{
    uint64_t end = gap->call_end < to_ns ? gap->call_end : to_ns;
    uint64_t inside = end > gap->at_ns ? end - gap->at_ns : 0;
    bool is_kept = gap->kept_end == gap->call_end && gap->taken_end == gap->call_end;
    uint64_t kept = is_kept ? wio_smaller(gap->kept_ns, inside) : 0;
    return inside - kept + wio_smaller(kept, gap->stays_ns);
}

uint64_t wio_gap_compute(struct wio_gap *gap, uint64_t at_ns, uint64_t cpu_ns)
{
    if (at_ns <= gap->at_ns) {
        return 0;
    }
    uint64_t from = wio_larger(gap->at_ns, gap->call_end);
    uint64_t rest = at_ns > from ? at_ns - from : 0;
    uint64_t computed = scaled(cpu_ns != 0 && cpu_ns < rest ? cpu_ns : rest, gap->scale);
    gap->v_ns += inside_of(gap, at_ns) + computed;
    gap->at_ns = at_ns;
    return cpu_ns != 0 ? computed : 0;
}

void wio_gap_kept(struct wio_gap *gap, uint64_t end_ns, uint64_t kept_ns, uint64_t stays_ns)
{
    gap->kept_end = end_ns;
    gap->kept_ns = kept_ns;
    gap->stays_ns = stays_ns;
}

void wio_gap_late(struct wio_gap *gap, uint64_t v_ns)
{
    gap->v_ns = wio_larger(gap->v_ns, v_ns);
}

static void open_until(struct wio_gap *gap, uint64_t end_ns)
{
    gap->is_open = true;
    gap->open_end = end_ns;
    gap->open_at_ns = gap->at_ns;
    gap->open_v_ns = gap->v_ns;
}

void wio_gap_call(struct wio_gap *gap, uint64_t end_ns, bool is_open)
{
    gap->call_end = wio_larger(gap->call_end, end_ns);
    gap->is_open = false;
    if (is_open) {
        open_until(gap, end_ns);
    }
}

void wio_gap_sleep(struct wio_gap *gap, uint64_t end_ns)
{
    open_until(gap, end_ns);
}

void wio_gap_skip(struct wio_gap *gap, uint64_t end_ns)
{
    gap->at_ns = wio_larger(gap->at_ns, end_ns);
}

void wio_gap_jump(struct wio_gap *gap, uint64_t at_ns)
{
    wio_gap_init(gap, gap->scale, at_ns, gap->v_ns);
}

/* A wait since `since_ns` of the trace, `since_v_ns` of the replay. */
static void take(struct wio_gap *gap, struct wio_release release, uint64_t since_ns,
                 uint64_t since_v_ns, uint64_t end_ns)
{
    gap->is_open = false;
    gap->taken_end = end_ns;
    if (release.traced_ns > since_ns && release.traced_ns <= gap->at_ns) {
        gap->v_ns = wio_larger(since_v_ns, release.v_ns) + span(gap, release.traced_ns, gap->at_ns);
        return;
    }
    if (release.traced_ns > gap->at_ns) { /* the event itself waited */
        gap->at_ns =
            release.traced_ns < end_ns ? release.traced_ns : wio_larger(end_ns, gap->at_ns);
    }
    gap->v_ns = wio_larger(gap->v_ns, release.v_ns);
}

void wio_gap_take(struct wio_gap *gap, struct wio_release release, uint64_t end_ns)
{
    /* what came after the call's end found the thread computing */
    if (gap->is_open && release.traced_ns <= gap->open_end) {
        take(gap, release, gap->open_at_ns, gap->open_v_ns, end_ns);
    } else {
        take(gap, release, gap->at_ns, gap->v_ns, end_ns);
    }
}

void wio_gap_take_all(struct wio_gap *gap, struct wio_release release, uint64_t end_ns)
{
    take(gap, release, gap->did_at_ns, gap->did_v_ns, end_ns);
}

bool wio_gap_was_busy(uint64_t came_ns, uint64_t lag_ns)
{
    return came_ns > lag_ns && came_ns - lag_ns > LOOK_NS;
}

void wio_gap_take_held(struct wio_gap *gap, struct wio_release release, uint64_t lag_ns,
                       uint64_t end_ns)
{
    uint64_t lag = gap->at_ns > release.traced_ns ? gap->at_ns - release.traced_ns : 0;
    if (!wio_gap_was_busy(lag, lag_ns)) {
        wio_gap_take_all(gap, release, end_ns);
        return;
    }
    gap->is_open = false;
    gap->v_ns = wio_larger(gap->v_ns, release.v_ns + span(gap, gap->at_ns - lag_ns, gap->at_ns));
}

void wio_gap_in_vain(struct wio_gap *gap, uint64_t free_ns, uint64_t end_ns)
{
    bool was_free = free_ns == 0 || (end_ns > free_ns && wio_gap_was_busy(end_ns - free_ns, 0));
    if (was_free && end_ns > gap->at_ns) {
        wio_gap_call(gap, end_ns, false);
        wio_gap_reach(gap, end_ns);
    }
}

void wio_gap_did(struct wio_gap *gap, uint64_t end_ns, uint64_t v_ns)
{
    gap->at_ns = wio_larger(gap->at_ns, end_ns);
    gap->v_ns = v_ns;
    gap->did_at_ns = gap->at_ns;
    gap->did_v_ns = v_ns;
    gap->is_open = false;
}
