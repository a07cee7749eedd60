/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/requests.h"

#include "base/clock.h"
#include "ops/calls.h"
#include "replay/initial/classify.h"
#include "replay/initial/kind.h"
#include "replay/perform/perform.h"
#include "replay/run/async.h"
#include "replay/run/timing.h"
#include "replay/wait/causal.h"

void rp_requests_collect_one(struct rp_worker *worker)
{
    struct rp_request request;
    uint64_t before_ns = wio_clock_mono_ns();
    if (!rp_async_take(worker->async, &request)) {
        return;
    }
    struct rp_outcome out = {.result = request.result};
    if (request.result < 0) {
        out.error = (int)-request.result;
        out.result = -1;
    }
    rp_settle(worker, &request.event, request.index, &out, request.begin_ns);
    if (rp_is_causal(worker->run)) {
        rp_causal_collected(worker, &request.event, before_ns, wio_clock_mono_ns());
    }
}

/* Requests that the program had collected before this event. */
void rp_requests_collect(struct rp_worker *worker, uint64_t t_ns)
{
    while (worker->async != NULL && rp_async_next(worker->async) <= t_ns &&
           !rp_board_is_aborted(worker->run->board)) {
        rp_requests_collect_one(worker);
    }
}

static bool has_async(struct rp_worker *worker)
{
    if (worker->async != NULL) {
        return true;
    }
    if (rp_async_create(&worker->async, &worker->error) != WIO_OK) {
        rp_board_fail(worker->run->board, &worker->error);
        return false;
    }
    return true;
}

void rp_requests_submit(struct rp_worker *worker, const struct wio_event *event)
{
    struct rp_outcome out = {0};
    if (rp_is_internal(event)) {
        worker->tally.skipped[WIO_REPLAY_SKIP_MPI]++;
        return;
    }
    if (rp_is_recorded_error(event)) {
        worker->tally.skipped[WIO_REPLAY_SKIP_RECORDED_ERROR]++;
        return;
    }
    if (!has_async(worker)) {
        return;
    }
    if (rp_async_count(worker->async) == RP_ASYNC_DEPTH) {
        rp_requests_collect_one(worker);
    }
    uint64_t begin = rp_time_start(worker, event);
    uint8_t kind = rp_kind(worker, event, event->path);
    if (kind >= RP_KIND_NULL && kind < RP_KIND_SKIP) {
        out.result = event->result;
        out.error = event->error;
        rp_settle(worker, event, worker->index, &out, begin);
        return;
    }
    int fd = rp_fd_use(worker, event, &out);
    if (out.did == RP_DID_SKIP) {
        worker->tally.skipped[out.skip]++;
        return;
    }
    bool is_write = wio_op_class(event->op) == WIO_CLASS_ASYNC_WRITE;
    uint64_t room = worker->run->source.size;
    uint64_t asked = event->size == WIO_NO_SIZE ? 0 : event->size;
    uint64_t bytes = is_write ? rp_bytes_to_write(event, room) : asked < room ? asked : room;
    uint8_t *data = is_write ? rp_source(worker, event, bytes) : rp_sink(worker);
    struct rp_request *request = rp_async_add(worker->async, event, fd, data, bytes);
    request->begin_ns = begin;
    request->index = worker->index;
    worker->free_ns = begin;
}
