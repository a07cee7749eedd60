/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of a replay: the events of its stream, one after the other. */
#include "replay/run/worker.h"

#include <stdlib.h>
#include <unistd.h>

#include "replay/perform/perform.h"
#include "replay/run/async.h"
#include "replay/run/requests.h"
#include "replay/run/task_pool.h"
#include "replay/wait/causal.h"

/* All threads of a replay decode so many bytes of events ahead of time, one of them .. */
#define AHEAD_BYTES (UINT64_C(256) << 20)
#define AHEAD_THREAD_BYTES (UINT64_C(32) << 20)

static bool is_aborted(const struct rp_worker *worker)
{
    return rp_board_is_aborted(worker->run->board);
}

static void perform_all(struct rp_worker *worker)
{
    const struct wio_event *event;
    enum wio_status status = WIO_OK;
    while (!is_aborted(worker) &&
           (status = rp_feed_next(&worker->feed, &event, &worker->error)) == WIO_OK) {
        if (!rp_pools_have(worker, event)) {
            rp_worker_step(worker, event);
        }
        worker->index++;
    }
    while (worker->async != NULL && rp_async_count(worker->async) > 0 && !is_aborted(worker)) {
        rp_requests_collect_one(worker);
    }
    if (rp_is_causal(worker->run) && !is_aborted(worker)) {
        rp_causal_end(worker);
    }
    if (status != WIO_OK && status != WIO_END) {
        rp_board_fail(worker->run->board, &worker->error);
    }
}

static void release(struct rp_worker *worker)
{
    rp_async_destroy(worker->async);
    rp_dirs_fini(worker);
    rp_feed_fini(&worker->feed);
    rp_bulk_destroy(&worker->sink);
    if (worker->null_fd > 0) {
        (void)close(worker->null_fd);
    }
    wio_map_fini(&worker->mappings);
    free(worker->mapped);
}

static size_t events_ahead(const struct rp_run *run)
{
    uint64_t share = AHEAD_BYTES / wio_trace_stream_count(run->trace);
    uint64_t bytes = share < AHEAD_THREAD_BYTES ? share : AHEAD_THREAD_BYTES;
    return (size_t)(bytes / sizeof(struct wio_event));
}

void rp_worker_perform(struct rp_thread *thread)
{
    struct rp_process *process = thread->process;
    const struct rp_run *run = process->run;
    struct rp_worker *worker = calloc(1, sizeof(*worker));
    if (worker == NULL) {
        struct wio_error error = WIO_ERROR_INIT;
        (void)wio_error_set(&error, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                            "no memory for a thread of the replay");
        rp_board_fail(run->board, &error);
        return;
    }
    worker->run = run;
    worker->process = process;
    worker->thread = thread;
    worker->stream = thread->stream;
    worker->precedence = rp_order_first(run->plan, worker->stream);
    worker->caused = run->plan->family.images[process->image].caused;
    worker->traced_ns = thread->traced_base_ns;
    worker->free_ns = thread->base_ns;
    rp_tally_init(&worker->tally);
    atomic_fetch_add(&run->board->crowd->threads, 1);
    rp_pools_begin(worker);
    if (rp_feed_init(&worker->feed, run->trace, worker->stream, events_ahead(run),
                     &worker->error) == WIO_OK) {
        rp_process_ready(worker);
        if (rp_is_causal(run)) {
            rp_causal_begin(worker);
        }
        perform_all(worker);
    } else {
        rp_board_fail(run->board, &worker->error);
    }
    atomic_store(&run->board->progress[worker->stream].at_ns, UINT64_MAX);
    atomic_fetch_sub(&run->board->crowd->threads, 1);
    atomic_fetch_add(&run->board->done, worker->unreported);
    thread->end_ns = worker->free_ns;
    rp_store_max(&process->last_ns, worker->free_ns);
    rp_board_add_tally(run->board, &worker->tally, run->rank_of_image[process->image]);
    release(worker);
    free(worker);
}
