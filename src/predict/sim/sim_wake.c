/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread wakes when. */
#include "predict/sim/sim.h"

static int compare_wakes(const struct sim_thread *a, const struct sim_thread *b)
{
    if (a->wake_ns != b->wake_ns) {
        return a->wake_ns < b->wake_ns ? -1 : 1;
    }
    return (a->id.index > b->id.index) - (a->id.index < b->id.index);
}

RB_GENERATE_STATIC(sim_wakes, sim_thread, by_wake, compare_wakes)

void sim_wake(struct sim *sim, struct sim_thread *thread, uint64_t at_ns)
{
    thread->wake_ns = at_ns > sim->now_ns ? at_ns : sim->now_ns;
    RB_INSERT(sim_wakes, &sim->wakes, thread);
}

void sim_wake_take(struct sim *sim, struct sim_thread *thread)
{
    RB_REMOVE(sim_wakes, &sim->wakes, thread);
}

void sim_wake_again(struct sim *sim, struct sim_thread *thread, uint64_t at_ns)
{
    sim_wake_take(sim, thread);
    sim_wake(sim, thread, at_ns);
}

struct sim_thread *sim_first(struct sim *sim)
{
    return RB_MIN(sim_wakes, &sim->wakes);
}
