/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes of a replay: how they start, and wait for each other.
 *
 * A process of the replay is forked by the fork server when a thread performs the recorded fork,
 * and gets the descriptors of that thread's process with their shared positions. So all processes
 * are forked from the same memory: forks of forks would share their pages with all that came
 * before, which makes each of them dearer than the last.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "ops/calls.h"
#include "replay/perform/perform.h"
#include "replay/run/worker.h"
#include "replay/wait/causal.h"
#include "replay/wait/pace.h"

static void release_image(struct rp_process *process)
{
    for (uint32_t i = 0; i < process->thread_count; i++) {
        rp_fds_fini(&process->threads[i].fds);
    }
    free(process->threads);
    free(process->by_token);
    free(process->shares);
    process->threads = NULL;
    process->by_token = NULL;
    process->shares = NULL;
    process->thread_count = 0;
}

/* ---- a process ---- */

static bool collect_fds(const struct rp_process *from, struct rp_fds *to, bool with_cloexec)
{
    if (rp_fds_init(to, from->run->plan->fds, NULL) != WIO_OK) {
        return false;
    }
    rp_fds_inherit(to, &from->inherited, with_cloexec);
    for (uint32_t i = 0; i < from->thread_count; i++) {
        rp_fds_inherit(to, &from->threads[i].fds, with_cloexec);
    }
    return true;
}

/* exec: the descriptors that stay, and the time that went by. */
static bool next_image(struct rp_process *process)
{
    const struct rp_image *image = &process->run->plan->family.images[process->image];
    struct rp_fds inherited = {0};
    if (!collect_fds(process, &inherited, false)) {
        return false;
    }
    release_image(process);
    rp_fds_fini(&process->inherited);
    process->inherited = inherited;
    uint64_t last_ns = atomic_load(&process->last_ns);
    process->base_ns = last_ns != 0 ? last_ns : wio_clock_mono_ns();
    process->traced_base_ns = image->last_ns;
    process->is_waited_for = false;
    process->image = image->next;
    return true;
}

static void play(struct rp_process *process)
{
    const struct rp_run *run = process->run;
    struct rp_group_slot *slot = &run->board->groups[process->group];
    for (;;) {
        rp_process_image(process);
        atomic_store(&slot->end_ns, atomic_load(&process->last_ns));
        rp_board_set(&slot->images, atomic_load(&slot->images) + 1);
        if (run->plan->family.images[process->image].next == RP_NONE ||
            rp_board_is_aborted(run->board)) {
            return;
        }
        if (!next_image(process)) {
            rp_board_fail_sys(run->board, "no memory for a process of the replay");
            return;
        }
    }
}

/* The one that waits for it may be on another machine. */
static void tell_starter(const struct rp_run *run, uint32_t group)
{
    const struct rp_family *family = &run->plan->family;
    if (run->far == NULL || !family->groups[group].is_remote) {
        return;
    }
    uint32_t parent = wio_trace_process(run->trace, family->groups[group].head)->parent;
    const struct wio_replay_mail mail = {
        .kind = RP_MAIL_GROUP,
        .index = group,
        .value =
            atomic_load(&run->board->groups[group].end_ns) - (uint64_t)run->far->clock_ahead_ns,
    };
    (void)rp_outbox_put(run->far->outbox, run->board, run->homes[family->images[parent].group],
                        &mail);
}

_Noreturn void rp_process_play(const struct rp_run *run, uint32_t group,
                               const struct rp_start *start)
{
    struct rp_group_slot *slot = &run->board->groups[group];
    struct rp_process process = {.run = run,
                                 .group = group,
                                 .image = run->plan->family.groups[group].head,
                                 .inherited = start->inherited,
                                 .base_ns = start->base_ns,
                                 .traced_base_ns = start->traced_base_ns,
                                 .fork_server = start->server,
                                 .is_waited_for = start->is_root};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    atomic_store(&slot->pid, getpid());
    rp_pace_begin();
    if (getppid() != start->parent) {
        rp_board_fail_sys(run->board, "cannot set up a process of the replay");
        _exit(1); /* house: allow exit: a process of its own, forked for the replay */
    }
    play(&process);
    rp_board_set(&slot->state, RP_GROUP_ENDED);
    tell_starter(run, group);
    _exit(0); /* house: allow exit: a process of its own, forked for the replay */
}

static bool ask_for(struct rp_worker *worker, uint32_t group, const struct wio_event *event)
{
    struct rp_process *process = worker->process;
    struct rp_start start = {.base_ns = rp_worker_now(worker),
                             .traced_base_ns = event->t_ns,
                             .server = process->fork_server};
    bool is_asked = collect_fds(process, &start.inherited, true) && rp_fork_ask(group, &start);
    rp_fds_fini(&start.inherited);
    return is_asked;
}

static void start_group(struct rp_worker *worker, uint32_t group, const struct wio_event *event)
{
    const struct rp_run *run = worker->run;
    uint32_t fresh = RP_GROUP_NEW;
    if (!rp_is_home(run, group)) {
        return; /* a root of its rank */
    }
    if (!atomic_compare_exchange_strong(&run->board->groups[group].state, &fresh,
                                        RP_GROUP_STARTED)) {
        return;
    }
    if (!ask_for(worker, group, event)) {
        rp_board_fail_sys(run->board, "cannot start a process of the replay");
    }
}

/* Wait until a group has come so far, which was at `traced_ns` of the trace. */
static void wait_for_group(struct rp_worker *worker, uint32_t group, bool is_end,
                           uint64_t traced_ns, const struct wio_event *event)
{
    struct rp_board *board = worker->run->board;
    struct rp_group_slot *slot = &board->groups[group];
    bool is_over = is_end ? rp_board_wait(board, &slot->state, RP_GROUP_ENDED)
                          : rp_board_wait(board, &slot->images, 1);
    if (is_over && rp_is_causal(worker->run)) {
        rp_causal_waited(worker, event, traced_ns, atomic_load(&slot->end_ns));
    }
}

/* Calls that return when the child has ended, or, vfork, has become another program. */
static void wait_inside(struct rp_worker *worker, uint32_t group, const struct wio_event *event)
{
    const struct rp_family *family = &worker->run->plan->family;
    const struct rp_image *head = &family->images[family->groups[group].head];
    uint64_t end_ns = event->t_ns + event->dur_ns;
    if (event->op == WIO_OP_system && family->groups[group].last_ns < end_ns) {
        wait_for_group(worker, group, true, family->groups[group].last_ns, event);
    } else if (event->op == WIO_OP_vfork && head->last_ns < end_ns) {
        wait_for_group(worker, group, false, head->last_ns, event);
    }
}

void rp_process_begin_children(struct rp_worker *worker, const struct wio_event *event)
{
    const struct rp_family *family = &worker->run->plan->family;
    uint32_t first = rp_family_born(family, worker->stream, event->seq);
    for (uint32_t group = first; group != RP_NONE; group = family->groups[group].sibling) {
        start_group(worker, group, event);
    }
}

void rp_process_start_children(struct rp_worker *worker, const struct wio_event *event)
{
    const struct rp_family *family = &worker->run->plan->family;
    uint32_t first = rp_family_born(family, worker->stream, event->seq);
    rp_process_begin_children(worker, event);
    for (uint32_t group = first; group != RP_NONE; group = family->groups[group].sibling) {
        wait_inside(worker, group, event);
    }
}

void rp_process_wait_child(struct rp_worker *worker, const struct wio_event *event)
{
    const struct rp_family *family = &worker->run->plan->family;
    if (event->error != 0 || event->result <= 0) {
        return;
    }
    uint32_t group =
        rp_family_ended(family, worker->process->image, event->result, event->t_ns + event->dur_ns);
    if (group != RP_NONE) {
        wait_for_group(worker, group, true, family->groups[group].last_ns, event);
    }
}
