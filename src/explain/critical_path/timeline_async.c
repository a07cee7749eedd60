/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous requests cost what is waited for them: of a call that collects requests
 * (aio_suspend, lio_listio, io_getevents, io_uring_enter, MPI_Wait of a nonblocking transfer) the
 * time in which one of its thread, or else of its process, was under way belongs to that request's
 * step. Of several the one that ends last is taken.
 */
#include "base/pick.h"
#include "explain/critical_path/timeline.h"
#include "ops/calls.h"

void wio_async_see(struct wio_timeline *timeline, const struct wio_event *event, uint32_t step)
{
    uint32_t process = wio_trace_stream(timeline->trace, event->stream)->process;
    const struct wio_async_request request = {
        .begin_ns = event->t_ns, .end_ns = event->t_ns + event->dur_ns, .step = step};
    struct wio_async_request *const rows[] = {&timeline->threads[event->stream].request,
                                              &timeline->process_requests[process]};

    if ((event->flags & WIO_EVENT_ASYNC) == 0) {
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (request.end_ns > rows[i]->end_ns || request.begin_ns >= rows[i]->end_ns) {
            *rows[i] = request;
        }
    }
}

/* MPI waits for requests that a call of MPI has made, not for those of the program. */
static bool collects(const struct wio_timeline *timeline, unsigned op,
                     const struct wio_async_request *request)
{
    enum wio_class cls = wio_op_class(op);

    if (request->end_ns == 0) {
        return false;
    }
    if (cls == WIO_CLASS_ASYNC_CALL) {
        return true;
    }
    const struct wio_step *step = &timeline->steps->steps[request->step];
    uint16_t outer = timeline->steps->sites[step->site].outer;
    bool is_of_mpi = outer < WIO_OUTER_CHANNEL && (wio_op_class(outer) == WIO_CLASS_MPI_FILE ||
                                                   wio_class_is_mpi(wio_op_class(outer)));
    return cls == WIO_CLASS_MPI_WAIT && is_of_mpi;
}

void wio_async_add(struct wio_timeline *timeline, uint32_t stream, const struct wio_under_way *top,
                   uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t process = wio_trace_stream(timeline->trace, stream)->process;
    const struct wio_async_request *request = &timeline->threads[stream].request;

    if (!collects(timeline, top->op, request) || request->end_ns <= begin_ns) {
        request = &timeline->process_requests[process];
    }
    uint64_t from_ns = end_ns;
    uint64_t to_ns = end_ns;
    if (collects(timeline, top->op, request)) {
        from_ns = wio_smaller(wio_larger(request->begin_ns, begin_ns), end_ns);
        to_ns = wio_smaller(wio_larger(request->end_ns, from_ns), end_ns);
        wio_time_add(timeline, stream, request->step, from_ns, to_ns);
    }
    wio_time_add(timeline, stream, top->step, begin_ns, from_ns);
    wio_time_add(timeline, stream, top->step, to_ns, end_ns);
}
