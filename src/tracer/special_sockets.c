/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets: bytes that are sent and received, connections that are made. */
#include <sys/socket.h>
#include <sys/syscall.h>

#include <whyio/event.h>

#include "ops/calls.h"
#include "tracer/events.h"
#include "tracer/memory.h"
#include "tracer/specials.h"

static void put_bytes(struct tracer_thread *thread, unsigned symbol, uint64_t size, uint64_t flags)
{
    struct wio_ring_event event = tracer_event_of_fd(thread, symbol, (int)thread->call.arg[1]);
    event.size = size;
    event.has_ext = true;
    event.ext.arg[0] = (int)flags;
    wio_ring_put_event(&thread->stream, &event);
}

static void after_recvfrom(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_bytes(thread, WIO_CALL_recvfrom, thread->call.arg[3], thread->call.arg[4]);
}

static void after_sendto(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_bytes(thread, WIO_CALL_sendto, thread->call.arg[3], thread->call.arg[4]);
}

static uint64_t message_bytes(const struct tracer_thread *thread)
{
    struct msghdr message = {0};
    return tracer_memory_read(thread->tid, thread->call.arg[2], &message, sizeof(message))
               ? tracer_memory_vector(thread->tid, (uint64_t)(uintptr_t)message.msg_iov,
                                      message.msg_iovlen)
               : WIO_NO_SIZE;
}

static void after_recvmsg(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_bytes(thread, WIO_CALL_recvmsg, message_bytes(thread), thread->call.arg[3]);
}

static void after_sendmsg(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    put_bytes(thread, WIO_CALL_sendmsg, message_bytes(thread), thread->call.arg[3]);
}

static void after_accept(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    struct wio_ring_event event =
        tracer_event_of_fd(thread, WIO_CALL_accept4, (int)thread->call.arg[1]);
    event.has_ext = true;
    if (event.result >= 0) {
        event.ext.fd2 = (int)event.result;
        event.path = tracer_fd_learn(thread, (int)event.result);
    }
    wio_ring_put_event(&thread->stream, &event);
}

static void after_connect(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    struct wio_ring_event event =
        tracer_event_of_fd(thread, WIO_CALL_connect, (int)thread->call.arg[1]);
    event.has_ext = true;
    wio_ring_put_event(&thread->stream, &event);
}

static void after_shutdown(struct tracer_session *session, struct tracer_thread *thread)
{
    (void)session;
    struct wio_ring_event event =
        tracer_event_of_fd(thread, WIO_CALL_shutdown, (int)thread->call.arg[1]);
    event.has_ext = true;
    event.ext.arg[0] = (int)thread->call.arg[2];
    wio_ring_put_event(&thread->stream, &event);
}

const struct tracer_special tracer_socket_specials[] = {
    {.number = SYS_recvfrom, .after = after_recvfrom},
    {.number = SYS_sendto, .after = after_sendto},
    {.number = SYS_recvmsg, .after = after_recvmsg},
    {.number = SYS_sendmsg, .after = after_sendmsg},
#if defined(SYS_accept)
    {.number = SYS_accept, .after = after_accept},
#endif
    {.number = SYS_accept4, .after = after_accept},
    {.number = SYS_connect, .after = after_connect},
    {.number = SYS_shutdown, .after = after_shutdown},
    {.number = UINT16_MAX},
};
