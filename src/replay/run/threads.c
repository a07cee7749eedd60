/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of one process image of a replay: started by those that started them in the trace. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "replay/run/worker.h"
#include "replay/wait/causal.h"
#include "replay/wait/pace.h"

#define STACK_BYTES ((size_t)1 << 20)

/* ---- threads ---- */

static void *thread_main(void *arg)
{
    struct rp_thread *thread = arg;
    rp_pace_begin();
    thread->process->run->perform(thread);
    rp_board_set(&thread->ended, 1);
    return NULL;
}

static bool claim(struct rp_thread *thread)
{
    return atomic_exchange(&thread->started, 1) == 0;
}

/* Detached: one that has ended says so, and keeps no stack until all have. */
static void start_thread(struct rp_thread *thread, uint64_t base_ns, uint64_t traced_base_ns)
{
    pthread_t handle;
    pthread_attr_t attr;
    thread->base_ns = base_ns;
    thread->traced_base_ns = traced_base_ns;
    int error = pthread_attr_init(&attr);
    if (error == 0) {
        (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
        (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        error = pthread_create(&handle, &attr, thread_main, thread);
        (void)pthread_attr_destroy(&attr);
    }
    if (error != 0) {
        errno = error;
        rp_board_fail_sys(thread->process->run->board, "cannot start a thread of the replay");
        rp_board_set(&thread->ended, 1);
    }
}

static const struct wio_stream_info *stream_of(const struct rp_thread *thread)
{
    return wio_trace_stream(thread->process->run->trace, thread->stream);
}

static int compare(uint64_t token, uint64_t first_ns, const struct wio_stream_info *stream)
{
    if (token != stream->thread) {
        return token < stream->thread ? -1 : 1;
    }
    return (first_ns > stream->first_ns) - (first_ns < stream->first_ns);
}

static int by_token_and_begin(const void *a, const void *b)
{
    const struct wio_stream_info *stream = stream_of(*(struct rp_thread *const *)a);
    return compare(stream->thread, stream->first_ns, stream_of(*(struct rp_thread *const *)b));
}

/* Place in by_token of the first thread of this token that begins at first_ns or later, or of what
 * comes behind them. */
static uint32_t find_place(const struct rp_process *process, uint64_t token, uint64_t first_ns)
{
    return (uint32_t)WIO_FIRST(i, 0, process->thread_count,
                               compare(token, first_ns, stream_of(process->by_token[i])) <= 0);
}

/* Tokens may be used again: the next thread in time is meant. */
static struct rp_thread *find_created(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_process *process = worker->process;
    uint64_t token = (uint64_t)event->arg[0];
    uint32_t at = token == 0 ? process->thread_count : find_place(process, token, event->t_ns);
    for (; at < process->thread_count; at++) {
        struct rp_thread *thread = process->by_token[at];
        if (stream_of(thread)->thread != token) {
            break;
        }
        if (atomic_load(&thread->started) == 0) {
            return thread;
        }
    }
    return NULL;
}

void rp_process_start_thread(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_thread *thread = event->error == 0 ? find_created(worker, event) : NULL;
    if (thread != NULL && claim(thread)) {
        start_thread(thread, rp_worker_now(worker), event->t_ns);
    }
}

static void join(struct rp_worker *worker, struct rp_thread *thread, const struct wio_event *event)
{
    const struct rp_run *run = worker->run;
    if (rp_board_wait(run->board, &thread->ended, 1) && rp_is_causal(run)) {
        rp_causal_waited(worker, event, stream_of(thread)->last_ns, thread->end_ns);
    }
}

/* Of the threads that had the token the last one. Only for what had ended in the trace too: so no
 * cycle of waits can arise. */
void rp_process_join_thread(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_process *process = worker->process;
    uint64_t token = (uint64_t)event->arg[0];
    uint64_t end_ns = event->t_ns + event->dur_ns;
    bool is_any = event->error == 0 && token != 0;
    for (uint32_t at = is_any ? find_place(process, token, end_ns) : 0; at-- > 0;) {
        struct rp_thread *thread = process->by_token[at];
        if (stream_of(thread)->thread != token) {
            return;
        }
        if (atomic_load(&thread->started) != 0 && stream_of(thread)->last_ns < end_ns) {
            join(worker, thread, event);
            return;
        }
    }
}

/* ---- one image ---- */

static bool prepare_image(struct rp_process *process)
{
    const struct rp_plan *plan = process->run->plan;
    const struct rp_image *image = &plan->family.images[process->image];
    uint32_t shares = plan->shared.first[process->image + 1] - plan->shared.first[process->image];
    process->thread_count = 0;
    process->threads = calloc((size_t)image->stream_count + 1, sizeof(*process->threads));
    process->by_token = calloc((size_t)image->stream_count + 1, sizeof(struct rp_thread *));
    process->shares = shares == 0 ? NULL : calloc(shares, sizeof(*process->shares));
    if (process->threads == NULL || process->by_token == NULL ||
        (shares != 0 && process->shares == NULL)) {
        errno = ENOMEM;
        return false;
    }
    for (uint32_t i = image->streams; i != RP_NONE; i = plan->family.streams[i].next) {
        struct rp_thread *thread = &process->threads[process->thread_count];
        process->by_token[process->thread_count++] = thread;
        thread->stream = i;
        thread->process = process;
        if (rp_fds_init(&thread->fds, plan->fds, NULL) != WIO_OK) {
            return false;
        }
    }
    qsort(process->by_token, process->thread_count, sizeof(struct rp_thread *), by_token_and_begin);
    return true;
}

static struct rp_thread *main_thread(const struct rp_process *process)
{
    uint32_t stream = process->run->plan->family.images[process->image].main_stream;
    for (uint32_t i = 0; i < process->thread_count; i++) {
        if (process->threads[i].stream == stream) {
            return &process->threads[i];
        }
    }
    return NULL;
}

static void perform_main(struct rp_process *process)
{
    struct rp_thread *thread = main_thread(process);
    if (thread == NULL) {
        if (process->is_waited_for) {
            atomic_fetch_add(&process->run->board->ready, 1);
        }
        return;
    }
    (void)claim(thread);
    thread->base_ns = process->base_ns;
    thread->traced_base_ns = process->traced_base_ns;
    process->run->perform(thread);
    rp_board_set(&thread->ended, 1);
}

/* Threads that no operation made, and those whose maker was never performed. */
static void start_rest(struct rp_process *process, bool is_late)
{
    const struct rp_family *family = &process->run->plan->family;
    uint32_t main_stream = family->images[process->image].main_stream;
    for (uint32_t i = 0; i < process->thread_count; i++) {
        struct rp_thread *thread = &process->threads[i];
        bool is_mine = thread->stream != main_stream &&
                       (is_late || !family->streams[thread->stream].is_created);
        if (is_mine && claim(thread)) {
            start_thread(thread, process->base_ns, process->traced_base_ns);
        }
    }
}

static bool join_some(struct rp_process *process)
{
    bool has_joined = false;
    for (uint32_t i = 0; i < process->thread_count; i++) {
        struct rp_thread *thread = &process->threads[i];
        if (thread->is_joined || atomic_load(&thread->started) == 0) {
            continue;
        }
        (void)rp_board_sleep(process->run->board, &thread->ended, 1);
        thread->is_joined = true;
        has_joined = true;
    }
    return has_joined;
}

/* A thread may start others until it ends. */
static void join_all(struct rp_process *process)
{
    while (join_some(process)) {
    }
}

void rp_process_image(struct rp_process *process)
{
    if (!prepare_image(process)) {
        rp_board_fail_sys(process->run->board, "no memory for a process of the replay");
        return;
    }
    start_rest(process, false);
    perform_main(process);
    join_all(process);
    if (!rp_board_is_aborted(process->run->board)) {
        start_rest(process, true);
        join_all(process);
    }
}

void rp_process_ready(struct rp_worker *worker)
{
    struct rp_board *board = worker->run->board;
    uint32_t main_stream = worker->run->plan->family.images[worker->process->image].main_stream;
    if (worker->process->is_waited_for && worker->stream == main_stream) {
        atomic_fetch_add(&board->ready, 1);
    }
    (void)rp_board_sleep(board, &board->go, 1);
    if (worker->thread->base_ns == 0) {
        (void)rp_pace_wait(board, worker->run->cpus, board->start_ns);
        worker->free_ns = board->start_ns;
        worker->traced_ns = worker->run->plan->first_ns;
    }
}
