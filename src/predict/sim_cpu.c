/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processors of a host. Threads that compute take turns as on Linux: first come, first served,
 * and whoever has had a turn goes to the end of the line, where there is one. Threads that wait for
 * others in a loop give way to those that compute, so they take no turns here: both families of MPI
 * libraries do where ranks are more than processors.
 */
#include "predict/sim.h"

void sim_cpu_init(struct sim_host *host, uint32_t cpus)
{
    host->cpus = cpus;
    TAILQ_INIT(&host->turns);
    TAILQ_INIT(&host->waiting);
}

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void give(struct sim *sim, struct sim_host *host, struct sim_thread *thread)
{
    bool is_alone = TAILQ_EMPTY(&host->waiting);
    thread->has_cpu = true;
    thread->turn_ns = sim->now_ns;
    TAILQ_INSERT_TAIL(&host->turns, thread, in_line);
    sim_wake(sim, thread,
             sim->now_ns + (is_alone ? thread->work_ns : min(thread->work_ns, SIM_TURN_NS)));
}

/* Somebody waits, and nobody did: turns have an end now, after as many whole ones as are begun. */
static void end_turns(struct sim *sim, struct sim_host *host)
{
    for (struct sim_thread *thread = TAILQ_FIRST(&host->turns); thread != NULL;
         thread = TAILQ_NEXT(thread, in_line)) {
        uint64_t turns = (sim->now_ns - thread->turn_ns) / SIM_TURN_NS + 1;
        uint64_t end_ns = thread->turn_ns + turns * SIM_TURN_NS;
        if (end_ns < thread->wake_ns) {
            sim_wake_again(sim, thread, end_ns);
        }
    }
}

static void want(struct sim *sim, struct sim_host *host, struct sim_thread *thread)
{
    if (host->busy < host->cpus) {
        host->busy++;
        give(sim, host, thread);
        return;
    }
    bool is_first = TAILQ_EMPTY(&host->waiting);
    TAILQ_INSERT_TAIL(&host->waiting, thread, in_line);
    if (is_first) {
        end_turns(sim, host);
    }
}

static void leave(struct sim *sim, struct sim_host *host, struct sim_thread *thread)
{
    struct sim_thread *next = TAILQ_FIRST(&host->waiting);
    thread->has_cpu = false;
    TAILQ_REMOVE(&host->turns, thread, in_line);
    if (next == NULL) {
        host->busy--;
        return;
    }
    TAILQ_REMOVE(&host->waiting, next, in_line);
    give(sim, host, next);
}

bool sim_cpu_compute(struct sim *sim, struct sim_thread *thread)
{
    struct sim_host *host = &sim->hosts[thread->host];
    if (thread->has_cpu) {
        thread->work_ns -= min(sim->now_ns - thread->turn_ns, thread->work_ns);
        leave(sim, host, thread);
    }
    if (thread->work_ns == 0) {
        return true;
    }
    want(sim, host, thread);
    return false;
}
