/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait: for children, for descriptors, for a time, for a word in memory. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <whyio/event.h>

#include "ops/calls.h"
#include "ops/futex_kinds.h"
#include "tracer/events.h"
#include "tracer/memory.h"
#include "tracer/specials.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

/* ---- children ---------------------------------------------------------------------------------
 */

/* The status of a child that the program does not ask for: of a traced one it is known, else the
 * child is not said to have ended. */
static int status_of(struct tracer_session *session, int64_t pid)
{
    const uint64_t *known = wio_map_get(&session->ends, (uint32_t)pid);
    return known != NULL ? (int)(*known - 1) : __W_STOPCODE(SIGSTOP);
}

static void put_wait(struct tracer_thread *thread, struct wio_ring_event *event, int64_t status,
                     int64_t code)
{
    const uint64_t *arg = thread->call.arg;
    const bool is_waitid = event->call == WIO_CALL_waitid;
    event->has_ext = true;
    event->ext.arg[0] = event->result > 0 ? status : 0;
    event->ext.arg[1] = (int64_t)(is_waitid ? arg[4] : arg[3]);
    event->ext.arg[2] = (int)(is_waitid ? arg[2] : arg[1]);
    event->ext.arg[3] = event->result > 0 ? code : 0;
    wio_ring_put_event(&thread->stream, event);
}

static void after_wait4(struct tracer_session *session, struct tracer_thread *thread)
{
    int status = 0;
    struct wio_ring_event event = tracer_event_of(thread, WIO_CALL_wait4);
    if (event.result > 0 &&
        !tracer_memory_read(thread->tid, thread->call.arg[2], &status, sizeof(status))) {
        status = status_of(session, event.result);
    }
    put_wait(thread, &event, status, 0);
    if (event.result > 0) {
        (void)wio_map_remove(&session->ends, (uint32_t)event.result);
    }
}

static void after_waitid(struct tracer_session *session, struct tracer_thread *thread)
{
    siginfo_t info = {0};
    struct wio_ring_event event = tracer_event_of(thread, WIO_CALL_waitid);
    (void)session;
    const bool is_told = event.result == 0 &&
                         tracer_memory_read(thread->tid, thread->call.arg[3], &info, sizeof(info));
    event.result = is_told ? info.si_pid : -1;
    put_wait(thread, &event, info.si_status, info.si_code);
}

/* ---- descriptors, time ------------------------------------------------------------------------
 */

static void put_waited(struct tracer_thread *thread, unsigned symbol, int fd, uint64_t limit_ns)
{
    struct wio_ring_event event =
        fd >= 0 ? tracer_event_of_fd(thread, symbol, fd) : tracer_event_of(thread, symbol);
    event.size = limit_ns;
    wio_ring_put_event(&thread->stream, &event);
}

static uint64_t ns_of_ms(uint64_t argument)
{
    const int ms = (int)argument;
    return ms < 0 ? WIO_NO_SIZE : (uint64_t)ms * NS_PER_MS;
}

static void after_poll(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_waited(thread, WIO_CALL_poll, -1, ns_of_ms(thread->call.arg[3]));
}

static void after_ppoll(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_waited(thread, WIO_CALL_ppoll, -1, tracer_time_ns(thread, thread->call.arg[3]));
}

static void after_select(struct tracer_session *session, struct tracer_thread *thread)
{
    struct timeval limit = {0};
    uint64_t limit_ns = WIO_NO_SIZE;
    (void)session;
    if (tracer_memory_read(thread->tid, thread->call.arg[5], &limit, sizeof(limit)) &&
        limit.tv_sec >= 0 && limit.tv_sec < INT32_MAX) {
        limit_ns = (uint64_t)limit.tv_sec * 1000 * NS_PER_MS + (uint64_t)limit.tv_usec * NS_PER_US;
    }
    put_waited(thread, WIO_CALL_select, -1, limit_ns);
}

static void after_pselect(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_waited(thread, WIO_CALL_pselect, -1, tracer_time_ns(thread, thread->call.arg[5]));
}

static void after_epoll(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_waited(thread, WIO_CALL_epoll_pwait, (int)thread->call.arg[1],
               ns_of_ms(thread->call.arg[4]));
}

static void after_nanosleep(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_waited(thread, WIO_CALL_nanosleep, -1, tracer_time_ns(thread, thread->call.arg[1]));
}

static void after_clock_nanosleep(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_waited(thread, WIO_CALL_clock_nanosleep, -1, tracer_time_ns(thread, thread->call.arg[3]));
}

/* ---- words in memory: R-SYNC-7 ----------------------------------------------------------------
 */

/* A call that did not wait, or woke no thread, is not recorded; nor is one on memory that other
 * processes may share: its address is not what they know it by. */
static void after_futex(struct tracer_session *session, struct tracer_thread *thread)
{
    const uint64_t *arg = thread->call.arg;
    const enum wio_futex_kind kind = wio_futex_kind_of((long)arg[2]);
    const bool is_private = (arg[2] & FUTEX_PRIVATE_FLAG) != 0;
    const bool is_worth = kind == WIO_FUTEX_WAITS
                              ? thread->call.result >= 0 || thread->call.error != EAGAIN
                              : thread->call.result > 0;
    (void)session;
    if (kind == WIO_FUTEX_OTHER || !is_private || !is_worth) {
        return;
    }
    struct wio_ring_event event = tracer_event_of(
        thread, kind == WIO_FUTEX_WAITS ? WIO_CALL_futex_wait : WIO_CALL_futex_wake);
    event.has_ext = true;
    event.ext.arg[0] = (int64_t)arg[1];
    event.ext.arg[1] = (int64_t)arg[2];
    event.ext.arg[2] = (int64_t)arg[3];
    event.ext.arg[3] = wio_futex_has_second_word((long)arg[2]) ? (int64_t)arg[5] : 0;
    event.size = wio_futex_has_bits((long)arg[2]) ? (uint32_t)arg[6] : WIO_NO_SIZE;
    wio_ring_put_event(&thread->stream, &event);
}

const struct tracer_special tracer_wait_specials[] = {
    {.number = SYS_futex, .is_causal = true, .after = after_futex},
    {.number = SYS_wait4, .after = after_wait4},
    {.number = SYS_waitid, .after = after_waitid},
#if defined(SYS_poll)
    {.number = SYS_poll, .is_causal = true, .after = after_poll},
    {.number = SYS_select, .is_causal = true, .after = after_select},
    {.number = SYS_epoll_wait, .is_causal = true, .after = after_epoll},
#endif
    {.number = SYS_ppoll, .is_causal = true, .after = after_ppoll},
    {.number = SYS_pselect6, .is_causal = true, .after = after_pselect},
    {.number = SYS_epoll_pwait, .is_causal = true, .after = after_epoll},
    {.number = SYS_nanosleep, .is_causal = true, .after = after_nanosleep},
    {.number = SYS_clock_nanosleep, .is_causal = true, .after = after_clock_nanosleep},
    {.number = UINT16_MAX},
};
