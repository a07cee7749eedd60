/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that go on beside the thread that began them, until it collects them. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "predict/sim/account.h"
#include "predict/sim/sim.h"

#define NS 1e9

static enum wio_status add(struct sim *sim, struct sim_thread *thread,
                           const struct wio_event *event, struct sim_request **request_out)
{
    struct sim_request *request = calloc(1, sizeof(*request));
    *request_out = request;
    if (request == NULL) {
        return WIO_ERR_NOMEM;
    }
    request->traced_ns = event->result == WIO_RESULT_PENDING ? UINT64_MAX : sim_end_of(event);
    request->task = sim->next_task++;
    request->place = thread->events.done;
    request->thread = thread->id.index;
    request->begin_ns = sim->now_ns;
    request->op = thread->op.todo.op;
    request->next = thread->async.requests;
    thread->async.requests = request;
    if (thread->events.times != NULL) {
        thread->events.times[request->place] = (struct sim_time){sim->now_ns, 0};
    }
    return wio_map_put(&sim->requests, request->task, (uint64_t)(uintptr_t)request);
}

enum wio_status sim_async_begin(struct sim *sim, struct sim_thread *thread,
                                const struct wio_event *event, struct wio_error *err)
{
    struct sim_request *request;
    WIO_TRY(add(sim, thread, event, &request));
    sim_op_traced(&thread->account, event);
    return sim_place_begin(sim, thread, request->task, event->path, &request->op, err);
}

/* Is this one of those that the thread had collected by the end of the event? */
static bool is_collected_by(const struct sim_request *request, const struct wio_event *event)
{
    return request->traced_ns <= sim_end_of(event);
}

/* How many of these are still going on? */
static uint64_t count_missing(const struct sim_thread *thread, const struct wio_event *event,
                              struct wio_release *release)
{
    uint64_t missing = 0;
    for (const struct sim_request *request = thread->async.requests; request != NULL;
         request = request->next) {
        if (is_collected_by(request, event)) {
            missing += request->done_ns == 0 ? 1 : 0;
            wio_release_join(release, (struct wio_release){request->traced_ns, request->done_ns});
        }
    }
    return missing;
}

static void drop_collected(struct sim_thread *thread, uint64_t until_ns)
{
    struct sim_request **place = &thread->async.requests;
    while (*place != NULL) {
        struct sim_request *request = *place;
        if (request->traced_ns <= until_ns && request->done_ns != 0) {
            *place = request->next;
            free(request);
        } else {
            place = &request->next;
        }
    }
}

bool sim_async_collect(struct sim_thread *thread, const struct wio_event *event)
{
    struct wio_release release = {0};
    if (thread->async.requests == NULL || wio_op_class(event->op) != WIO_CLASS_ASYNC_CALL) {
        return true;
    }
    thread->async.missing = count_missing(thread, event, &release);
    if (thread->async.missing > 0) {
        return false;
    }
    drop_collected(thread, sim_end_of(event));
    if (release.v_ns != 0) {
        thread->taken.is_any = true;
        wio_gap_take(&thread->gap, release, sim_end_of(event));
    }
    return true;
}

void sim_async_done(struct sim *sim, uint32_t task)
{
    uint64_t *found = wio_map_get(&sim->requests, task);
    WIO_PRE(found != NULL);
    struct sim_request *request = (struct sim_request *)(uintptr_t)*found;
    struct sim_thread *thread = &sim->threads[request->thread];
    (void)wio_map_remove(&sim->requests, task);
    request->done_ns = sim->now_ns > 0 ? sim->now_ns : 1;
    if (thread->events.times != NULL) {
        thread->events.times[request->place] =
            (struct sim_time){request->begin_ns, sim->now_ns - request->begin_ns};
    }
    sim_op_span(&thread->account, request->begin_ns, request->done_ns);
    wio_account_op(&thread->account, &request->op, (double)(sim->now_ns - request->begin_ns) / NS);
    if (thread->async.missing > 0 && is_collected_by(request, thread->events.now) &&
        --thread->async.missing == 0) {
        sim_wake(sim, thread, sim->now_ns);
    }
}

void sim_async_fini(struct sim_thread *thread)
{
    struct sim_request *request;
    while ((request = thread->async.requests) != NULL) {
        thread->async.requests = request->next;
        free(request);
    }
}
