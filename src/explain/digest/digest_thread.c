/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/digest/digest_thread.h"

static void end_top(struct wio_digest_thread *thread)
{
    const struct wio_digest_under_way *top = &thread->stack[--thread->depth];

    if (top->end_ns > thread->cur_ns) {
        uint64_t left_ns = top->end_ns - thread->cur_ns;
        uint64_t idle_ns = top->cpu_wait_ns < left_ns ? top->cpu_wait_ns : left_ns;
        thread->time_ns[top->kind] += left_ns - idle_ns;
        thread->time_ns[WIO_STEP_CPU_WAIT] += idle_ns;
        thread->cur_ns = top->end_ns;
    }
}

/* What the thread did since its operation before: computing, unless it had no processor. */
static void add_gap(struct wio_digest_thread *thread, const struct wio_event *event)
{
    uint64_t gap_ns = event->t_ns - thread->cur_ns;
    uint64_t busy_ns = gap_ns;

    if (event->gap_cpu_ns != 0 && event->gap_cpu_ns < gap_ns) {
        busy_ns = event->gap_cpu_ns;
        thread->time_ns[event->gap_slept ? WIO_STEP_SLEPT : WIO_STEP_CPU_WAIT] += gap_ns - busy_ns;
    }
    thread->time_ns[WIO_STEP_COMPUTE] += busy_ns;
}

static void come_to(struct wio_digest_thread *thread, const struct wio_event *event)
{
    while (thread->depth > 0 && thread->stack[thread->depth - 1].end_ns <= event->t_ns) {
        end_top(thread);
    }
    if (!thread->has_begun) {
        thread->has_begun = true;
        thread->cur_ns = event->t_ns;
    }
    if (event->t_ns <= thread->cur_ns) {
        return;
    }
    if (thread->depth > 0) {
        thread->time_ns[thread->stack[thread->depth - 1].kind] += event->t_ns - thread->cur_ns;
    } else {
        add_gap(thread, event);
    }
    thread->cur_ns = event->t_ns;
}

uint32_t wio_digest_thread_caller(const struct wio_digest_thread *thread, uint64_t t_ns)
{
    return thread->depth > 0 && thread->stack[0].end_ns > t_ns ? thread->stack[0].source : 0;
}

void wio_digest_thread_event(struct wio_digest_thread *thread, const struct wio_event *event,
                             enum wio_step_kind kind)
{
    come_to(thread, event);
    if (wio_step_is_timeless(event) || thread->depth == WIO_DIGEST_NEST) {
        return;
    }
    thread->stack[thread->depth++] = (struct wio_digest_under_way){
        .end_ns = event->t_ns + event->dur_ns,
        .cpu_wait_ns = kind == WIO_STEP_IO ? wio_step_cpu_wait_ns(event) : 0,
        .source = event->source,
        .kind = (uint8_t)kind,
    };
}

void wio_digest_thread_end(struct wio_digest_thread *thread)
{
    while (thread->depth > 0) {
        end_top(thread);
    }
}
