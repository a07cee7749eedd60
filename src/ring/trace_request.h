/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread asks the tracer of its recorder (record --static=trace) to trace it, right before it
 * becomes a static program. Used by the recorder's own child and by the capture library: raw system
 * calls only, no allocation, nothing of libc's state; safe in a child of vfork.
 *
 * The variable WHYIO_TRACER is NAME:SECRET. NAME is that of an abstract socket, which the process
 * that connects is known to by the kernel's word (SO_PEERCRED); SECRET proves that it belongs to
 * the run. A thread of another PID namespace than the tracer's can ask only as the only one of its
 * process.
 */
#ifndef WIO_RING_TRACE_REQUEST_H
#define WIO_RING_TRACE_REQUEST_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/rawcall.h"

#define WIO_TRACER_VARIABLE "WHYIO_TRACER"
#define WIO_TRACER_NAME_BYTES 23   /* "whyio-" and 16 hexadecimal digits, NUL */
#define WIO_TRACER_SECRET_BYTES 33 /* 32 hexadecimal digits, NUL */
#define WIO_TRACER_ADDRESS_BYTES (WIO_TRACER_NAME_BYTES + WIO_TRACER_SECRET_BYTES)
#define WIO_TRACER_WAIT_S 10

enum wio_trace_kind {
    WIO_TRACE_EXEC,  /* the thread becomes a static program */
    WIO_TRACE_SPAWN, /* the next process that it makes does; the thread itself is let go then */
};

/* One packet; the answer is an int32_t: 0, or the errno that was in the way. */
struct wio_trace_request {
    char secret[WIO_TRACER_SECRET_BYTES];
    uint8_t kind; /* enum wio_trace_kind */
    uint8_t reserved[2];
    int32_t tid; /* 0 = the only thread of the process that asks */
};

static inline socklen_t wio_tracer_socket_name(struct sockaddr_un *name_out, const char *address)
{
    memset(name_out, 0, sizeof(*name_out));
    name_out->sun_family = AF_UNIX;
    memcpy(name_out->sun_path + 1, address, WIO_TRACER_NAME_BYTES - 1);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + WIO_TRACER_NAME_BYTES);
}

/* A security module may allow tracing by ancestors only, or by the process that is named here. */
static inline void wio_tracer_allow(long fd)
{
    struct ucred server = {0};
    socklen_t size = sizeof(server);
    const long got =
        wio_rawcall6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&server, (long)&size, 0);
    if (got == 0 && server.pid > 0) {
        (void)wio_rawcall6(SYS_prctl, PR_SET_PTRACER, server.pid, 0, 0, 0, 0);
    }
}

static inline long wio_trace_exchange(long fd, const char *address, enum wio_trace_kind kind,
                                      int32_t tid)
{
    struct sockaddr_un name;
    const socklen_t name_bytes = wio_tracer_socket_name(&name, address);
    const struct timeval patience = {.tv_sec = WIO_TRACER_WAIT_S};
    struct wio_trace_request request = {.kind = (uint8_t)kind, .tid = tid};
    int32_t answer = 0;
    memcpy(request.secret, address + WIO_TRACER_NAME_BYTES, WIO_TRACER_SECRET_BYTES - 1);
    long result = wio_rawcall3(SYS_connect, fd, (long)&name, (long)name_bytes);
    if (result != 0) {
        return result;
    }
    wio_tracer_allow(fd);
    (void)wio_rawcall6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&patience,
                       (long)sizeof(patience), 0);
    result =
        wio_rawcall6(SYS_sendto, fd, (long)&request, (long)sizeof(request), MSG_NOSIGNAL, 0, 0);
    do { /* the stop that the tracer begins with interrupts this */
        result = result < 0 && result != -EINTR
                     ? result
                     : wio_rawcall6(SYS_recvfrom, fd, (long)&answer, (long)sizeof(answer), 0, 0, 0);
    } while (result == -EINTR);
    return result == (long)sizeof(answer) ? -(long)answer : result < 0 ? result : -ECONNRESET;
}

/*
 * `address`: the value of WHYIO_TRACER. 0: the calling thread is traced from now on, and recorded
 * from its next exec on, if that succeeds and is one of a static program; the tracer lets go of it
 * otherwise. `kind` WIO_TRACE_SPAWN: the same of the process that it makes next. Else -errno: EPERM
 * where tracing is forbidden here.
 */
static inline long wio_trace_request(const char *address, enum wio_trace_kind kind, int32_t tid)
{
    if (address == NULL || strlen(address) + 1 != WIO_TRACER_ADDRESS_BYTES) {
        return -EINVAL;
    }
    const long fd = wio_rawcall3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return fd;
    }
    const long result = wio_trace_exchange(fd, address, kind, tid);
    (void)wio_rawcall3(SYS_close, fd, 0, 0);
    return result;
}

#endif
