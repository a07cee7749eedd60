/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits whose operation is another one than that which the edge comes to: a child that is found by
 * waitpid with WNOHANG, again and again with sleeps in between; what an event loop reads behind
 * select, poll or epoll_wait. They are known when they are over. The path of the other thread is
 * the one of its present point, which lies behind the release by how long this thread took to wake.
 */
#include "base/cleanup.h"
#include "explain/critical_path/timeline.h"
#include "ops/calls.h"

/* A thread that works no longer between two looks still waits. */
#define WORK_NS 1000000u

static void end_rest(struct wio_rest *rest)
{
    wio_path_unref(rest->before);
    *rest = (struct wio_rest){.end_ns = rest->end_ns};
}

static bool finds_no_child(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_WAIT && event->result == 0 && event->error == 0;
}

static bool finds_input(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_POLL && event->result > 0;
}

/* What is found is read next, perhaps after another look at it. */
static void see_input(struct wio_thread_time *thread, const struct wio_event *event, bool works)
{
    struct wio_rest *rest = &thread->rest;
    uint64_t length_ns = rest->input_end_ns > 0 ? rest->input_end_ns - rest->input_ns : 0;

    if (works || rest->is_read || thread->jumps != rest->input_jumps) {
        rest->input_end_ns = length_ns = 0;
    }
    rest->is_read = wio_op_class(event->op) == WIO_CLASS_READ;
    if (finds_input(event) && event->dur_ns > length_ns) {
        rest->input_ns = event->t_ns;
        rest->input_end_ns = event->t_ns + event->dur_ns;
        rest->input_jumps = thread->jumps;
    }
}

enum wio_status wio_rest_see(struct wio_timeline *timeline, const struct wio_event *event,
                             uint32_t step)
{
    struct wio_thread_time *thread = &timeline->threads[event->stream];
    struct wio_rest *rest = &thread->rest;
    uint64_t gap_ns = event->t_ns > rest->end_ns ? event->t_ns - rest->end_ns : 0;
    bool waits = timeline->steps->sites[timeline->steps->steps[step].site].kind == WIO_STEP_WAIT;
    bool works = gap_ns > WORK_NS || (!waits && event->dur_ns > WORK_NS);

    if (rest->is_on && (works || thread->jumps != rest->jumps)) {
        end_rest(rest);
    }
    if (!rest->is_on && finds_no_child(event)) {
        rest->is_on = true;
        rest->begin_ns = event->t_ns;
        WIO_TRY(wio_time_path(timeline, event->stream, &rest->before));
        rest->jumps = thread->jumps;
    }
    see_input(thread, event, works);
    rest->end_ns = event->t_ns + event->dur_ns;
    return WIO_OK;
}

/* It slept when the child ended, and would have gone on. */
static bool take_child(struct wio_rest *rest, const struct wio_thread_time *child,
                       struct wio_look *look_out)
{
    bool is_over = child->has_begun && child->events_left == 0 && child->depth == 0;

    if (!rest->is_on || !is_over || child->cur_ns <= rest->begin_ns) {
        return false;
    }
    *look_out = (struct wio_look){rest->begin_ns, child->cur_ns, rest->before};
    rest->before = NULL;
    end_rest(rest);
    return true;
}

/* The release is where the other thread's path ends: it may have gone on behind the input, and the
 * parts of a path add up to its length. */
static bool take_input(struct wio_rest *rest, const struct wio_thread_time *other,
                       struct wio_look *look_out)
{
    if (rest->input_end_ns == 0 || !other->has_begun || other->cur_ns <= rest->input_ns) {
        return false;
    }
    *look_out = (struct wio_look){rest->input_ns, other->cur_ns, NULL};
    rest->input_end_ns = 0;
    return true;
}

bool wio_rest_take(struct wio_timeline *timeline, uint32_t stream, const struct wio_edge_link *link,
                   struct wio_look *look_out)
{
    struct wio_rest *rest = &timeline->threads[stream].rest;
    const struct wio_thread_time *other = &timeline->threads[link->other];

    switch (link->evidence) {
    case WIO_EVIDENCE_PROCESS:
        return take_child(rest, other, look_out);
    case WIO_EVIDENCE_PIPE:
    case WIO_EVIDENCE_SOCKET:
        return take_input(rest, other, look_out);
    default:
        return false;
    }
}
