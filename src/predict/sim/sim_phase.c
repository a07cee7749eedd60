/* SPDX-License-Identifier: Apache-2.0 */
/* From one event of a thread to the moment at which the next one's operation begins. */
#include "predict/sim/sim_phase.h"

#include "ops/calls.h"
#include "schedule/sync.h"

#define NS 1e9

/* What it computed before the event, as far as it was recorded: ns, 0: nothing is known. One that
 * slept, too, did what is no event: its time is as it was. */
static uint64_t computed_ns(const struct sim *sim, const struct sim_thread *thread,
                            const struct wio_event *event)
{
    bool is_known = thread->has_begun && sim->hosts[thread->host].cpus != 0 &&
                    event->gap_cpu_ns != 0 && event->gap_slept == 0;
    return is_known ? wio_waits_computed(thread->program->waits, thread->gate.act,
                                         thread->gate.act_end, event)
                    : 0;
}

/* Time passes up to the event, as far as no change leaves that away. How much of it is computing.
 */
static uint64_t pass_time(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    uint64_t skipped_ns = sim_edit_skips(thread, event);
    uint64_t computed = skipped_ns == 0 ? computed_ns(sim, thread, event) : 0;
    uint64_t until_ns = event->t_ns > skipped_ns ? event->t_ns - skipped_ns : 0;
    uint64_t work_ns = wio_gap_compute(&thread->gap, until_ns, computed);
    if (skipped_ns > 0) {
        wio_gap_skip(&thread->gap, event->t_ns);
    }
    return work_ns;
}

bool sim_phase_reach(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    uint64_t work_ns = pass_time(sim, thread, event);
    thread->phase = work_ns > 0 ? SIM_COMPUTE : SIM_EDIT;
    thread->taken.is_any = false;
    thread->taken.is_held = false;
    thread->taken.lag_ns = 0;
    thread->lock.free_ns = 0;
    thread->taken.release = (struct wio_release){0};
    thread->gate.asked = thread->gate.act;
    /* what a first event waits for comes before the time up to it goes by */
    uint64_t due_ns = thread->has_begun ? thread->gap.v_ns : sim->now_ns;
    uint64_t left_ns = due_ns > sim->now_ns ? due_ns - sim->now_ns : 0;
    thread->cpu.work_ns = left_ns < work_ns ? left_ns : work_ns;
    due_ns -= thread->cpu.work_ns;
    if (due_ns <= sim->now_ns) {
        return true;
    }
    sim_wake(sim, thread, due_ns);
    return false;
}

bool sim_phase_compute(struct sim *sim, struct sim_thread *thread)
{
    if (!sim_cpu_compute(sim, thread)) {
        return false;
    }
    wio_gap_late(&thread->gap, sim->now_ns);
    thread->phase = SIM_EDIT;
    return true;
}

/* The lock of the event, UINT32_MAX: none that threads have handed on. */
static uint32_t lock_of(const struct sim_thread *thread, const struct wio_event *event,
                        enum wio_lock_step step)
{
    if (step == WIO_LOCK_NONE || thread->program->waits->lock_count == 0) {
        return UINT32_MAX;
    }
    return wio_waits_lock(thread->program->waits, thread->id.image, wio_lock_of(event));
}

bool sim_phase_begin(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    enum wio_lock_step step = wio_lock_step_of(event);
    uint32_t number = lock_of(thread, event, step);
    if (number != UINT32_MAX && (step == WIO_LOCK_LEAVE || step == WIO_LOCK_LEND)) {
        sim_lock_leave(sim, thread, number, event->arg[1] == 1 && step == WIO_LOCK_LEAVE);
    }
    thread->phase = SIM_WAITS;
    thread->wait_ns = sim->now_ns;
    return true;
}

bool sim_phase_wait(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    if (!sim_gate_begin(sim, thread, event)) {
        return false;
    }
    sim_gate_taken(sim, thread);
    thread->phase = SIM_LOCK;
    return true;
}

/* Has the moment come at which a thread that waited for a condition asks for the lock again? */
static bool has_waited(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    if (thread->taken.is_any || !thread->has_begun) {
        return true;
    }
    wio_gap_in_vain(&thread->gap, thread->lock.free_ns, sim_end_of(event));
    if (thread->gap.v_ns <= sim->now_ns) {
        return true;
    }
    sim_wake(sim, thread, thread->gap.v_ns);
    return false;
}

bool sim_phase_lock(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    enum wio_lock_step step = wio_lock_step_of(event);
    uint32_t number = lock_of(thread, event, step);
    if (number != UINT32_MAX && step == WIO_LOCK_LEND && !has_waited(sim, thread, event)) {
        return false;
    }
    thread->phase = SIM_READY;
    if (number == UINT32_MAX || (step != WIO_LOCK_TAKE && step != WIO_LOCK_LEND)) {
        return true;
    }
    thread->taken.is_any = true;
    thread->lock.is_new = true;
    return sim_lock_take(thread, number, event->arg[1] == 1 && step == WIO_LOCK_TAKE);
}

/* Of what is simulated the model has the duration; of other calls only the wait is replaced. */
static uint64_t wait_end(const struct sim_thread *thread, const struct wio_event *event)
{
    return thread->op.todo.kind == WIO_CONVERT_PASS ? sim_end_of(event) : event->t_ns;
}

bool sim_phase_ready(struct sim *sim, struct sim_thread *thread, const struct wio_event *event)
{
    struct wio_gap *gap = &thread->gap;
    if ((event->flags & WIO_EVENT_CAUSED) == 0) {
        thread->events.caller = wio_op_class(event->op);
    }
    thread->events.on = wio_used_files_at(&thread->events.files, event->seq);
    wio_convert(&thread->program->converter, event, thread->events.on, thread->events.caller,
                &thread->op.todo);
    sim_edit_range(thread, event);
    if (thread->lock.is_new) {
        wio_release_join(&thread->taken.release,
                         (struct wio_release){thread->lock.free_ns, sim->now_ns});
        thread->lock.is_new = false;
    }
    if (thread->taken.is_any && !thread->has_begun) {
        wio_gap_take_all(gap, thread->taken.release, wait_end(thread, event));
    } else if (thread->taken.is_any && thread->taken.is_held) {
        wio_gap_take_held(gap, thread->taken.release, thread->taken.lag_ns,
                          wait_end(thread, event));
    } else if (thread->taken.is_any) {
        wio_gap_take(gap, thread->taken.release, wait_end(thread, event));
    }
    if (thread->account.end_ns > 0) { /* waits before the first operation are not in its time */
        thread->account.wait_s += (double)(sim->now_ns - thread->wait_ns) / NS;
    }
    if (!thread->has_begun) { /* before its first event the thread has not waited */
        thread->wait_ns = gap->v_ns > sim->now_ns ? gap->v_ns : sim->now_ns;
    }
    thread->has_begun = true;
    thread->phase = SIM_DO;
    if (gap->v_ns > sim->now_ns) {
        sim_wake(sim, thread, gap->v_ns);
        return false;
    }
    return true;
}
