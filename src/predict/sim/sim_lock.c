/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes and their like in a simulated run: first come, first served. */
#include "predict/sim/sim.h"

/* Each copy of the job has locks of its own. */
static struct sim_lock *lock_of(const struct sim_thread *thread, uint32_t number)
{
    const struct sim_program *program = thread->program;
    return &program->locks[(size_t)thread->id.copy * program->waits->lock_count + number];
}

static bool can_have(const struct sim_lock *lock, bool is_shared)
{
    return lock->owner == NULL && (is_shared || lock->readers == 0);
}

static void have(struct sim_lock *lock, struct sim_thread *thread, bool is_shared)
{
    if (is_shared) {
        lock->readers++;
    } else {
        lock->owner = thread;
        thread->lock.had++;
    }
}

static void leave(struct sim_lock *lock)
{
    if (lock->owner != NULL) {
        lock->owner->lock.had--;
        lock->owner = NULL;
    }
}

bool sim_lock_take(struct sim_thread *thread, uint32_t number, bool is_shared)
{
    struct sim_lock *lock = lock_of(thread, number);
    thread->lock.is_shared = is_shared;
    if (lock->owner == thread) {
        return true; /* taken twice by its owner counts once */
    }
    if (TAILQ_EMPTY(&lock->line) && can_have(lock, is_shared)) {
        have(lock, thread, is_shared);
        return true;
    }
    TAILQ_INSERT_TAIL(&lock->line, thread, in_line);
    thread->lock.wants = lock;
    return false;
}

static void let_go(struct sim *sim, struct sim_lock *lock)
{
    struct sim_thread *next;
    while ((next = TAILQ_FIRST(&lock->line)) != NULL && can_have(lock, next->lock.is_shared)) {
        TAILQ_REMOVE(&lock->line, next, in_line);
        next->lock.wants = NULL;
        have(lock, next, next->lock.is_shared);
        sim_wake(sim, next, sim->now_ns);
    }
}

void sim_lock_leave(struct sim *sim, const struct sim_thread *thread, uint32_t number,
                    bool is_shared)
{
    struct sim_lock *lock = lock_of(thread, number);
    if (is_shared && lock->readers > 0) {
        lock->readers--;
    } else if (!is_shared) {
        leave(lock);
    }
    let_go(sim, lock);
}

void sim_lock_leave_all(struct sim *sim, const struct sim_thread *thread)
{
    for (uint32_t i = 0; thread->lock.had > 0 && i < thread->program->waits->lock_count; i++) {
        if (lock_of(thread, i)->owner == thread) {
            sim_lock_leave(sim, thread, i, false);
        }
    }
}

void sim_lock_give_up(struct sim *sim, struct sim_thread *thread)
{
    struct sim_lock *lock = thread->lock.wants;
    TAILQ_REMOVE(&lock->line, thread, in_line);
    thread->lock.wants = NULL;
    leave(lock);
    if (!thread->lock.is_shared) {
        lock->readers = 0;
    }
    have(lock, thread, thread->lock.is_shared);
    sim_wake(sim, thread, sim->now_ns);
}
