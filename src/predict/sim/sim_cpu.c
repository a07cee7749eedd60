/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processors of a host. Threads that compute, and those whose calls copy, take turns as on
 * Linux: first come, first served; a thread that has had a turn goes to the end of the line, where
 * there is one. Threads that wait for others in a loop give way to those that compute, so they take
 * no turns here: both families of MPI libraries do where ranks are more than processors.
 *
 * A thread that has a processor keeps it from one call to the next, as long as it does not sleep;
 * that its turn is over is seen when it computes, where a call begins, and in the gaps between
 * events.
 */
#include "predict/sim/sim.h"

#include "base/pick.h"

void sim_cpu_init(struct sim_host *host, uint32_t cpus)
{
    host->cpus = cpus;
    TAILQ_INIT(&host->turns);
    TAILQ_INIT(&host->waiting);
}

static void give(struct sim *sim, struct sim_host *host, struct sim_thread *thread)
{
    thread->cpu.has_it = true;
    thread->cpu.turn_ns = sim->now_ns;
    thread->cpu.turn_end_ns = sim->now_ns + SIM_TURN_NS;
    TAILQ_INSERT_TAIL(&host->turns, thread, at_cpu);
}

/* The first thread waits: turns have an end now, after as many whole ones as are begun. */
static void end_turns(struct sim *sim, struct sim_host *host)
{
    for (struct sim_thread *thread = TAILQ_FIRST(&host->turns); thread != NULL;
         thread = TAILQ_NEXT(thread, at_cpu)) {
        uint64_t turns = (sim->now_ns - thread->cpu.turn_ns) / SIM_TURN_NS + 1;
        thread->cpu.turn_end_ns = thread->cpu.turn_ns + turns * SIM_TURN_NS;
        if (thread->cpu.is_working && thread->cpu.turn_end_ns < thread->wake_ns) {
            sim_wake_again(sim, thread, thread->cpu.turn_end_ns);
        }
    }
}

static bool want(struct sim *sim, struct sim_host *host, struct sim_thread *thread)
{
    if (host->busy < host->cpus) {
        host->busy++;
        give(sim, host, thread);
        return true;
    }
    bool is_first = TAILQ_EMPTY(&host->waiting);
    TAILQ_INSERT_TAIL(&host->waiting, thread, at_cpu);
    if (is_first) {
        end_turns(sim, host);
    }
    return false;
}

void sim_cpu_leave(struct sim *sim, struct sim_thread *thread)
{
    struct sim_host *host = &sim->hosts[thread->host];
    struct sim_thread *next = TAILQ_FIRST(&host->waiting);
    if (!thread->cpu.has_it) {
        return;
    }
    thread->cpu.has_it = false;
    TAILQ_REMOVE(&host->turns, thread, at_cpu);
    if (next == NULL) {
        host->busy--;
        return;
    }
    TAILQ_REMOVE(&host->waiting, next, at_cpu);
    give(sim, host, next);
    sim_wake(sim, next, sim->now_ns);
}

bool sim_cpu_is_over(const struct sim *sim, const struct sim_thread *thread)
{
    return thread->cpu.has_it && sim->now_ns >= thread->cpu.turn_end_ns &&
           !TAILQ_EMPTY(&sim->hosts[thread->host].waiting);
}

bool sim_cpu_take(struct sim *sim, struct sim_thread *thread)
{
    if (thread->cpu.has_it && !sim_cpu_is_over(sim, thread)) {
        return true;
    }
    sim_cpu_leave(sim, thread);
    return want(sim, &sim->hosts[thread->host], thread);
}

bool sim_cpu_compute(struct sim *sim, struct sim_thread *thread)
{
    struct sim_host *host = &sim->hosts[thread->host];
    if (thread->cpu.is_working) {
        thread->cpu.work_ns -=
            wio_smaller(sim->now_ns - thread->cpu.work_at_ns, thread->cpu.work_ns);
        thread->cpu.is_working = false;
    }
    if (thread->cpu.work_ns == 0) {
        return true;
    }
    if (!sim_cpu_take(sim, thread)) {
        return false;
    }
    uint64_t end_ns = sim->now_ns + thread->cpu.work_ns;
    thread->cpu.is_working = true;
    thread->cpu.work_at_ns = sim->now_ns;
    sim_wake(sim, thread,
             TAILQ_EMPTY(&host->waiting) ? end_ns : wio_smaller(end_ns, thread->cpu.turn_end_ns));
    return false;
}
