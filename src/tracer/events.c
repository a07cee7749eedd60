/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/events.h"

#include <fcntl.h>
#include <time.h>

#include <whyio/event.h>

#include "tracer/memory.h"
#include "tracer/proc.h"

uint32_t tracer_cwd_string(struct tracer_thread *thread)
{
    char text[TRACER_PATH_MAX];
    struct tracer_process *process = thread->process;
    if (process->cwd == WIO_NO_STRING) {
        const size_t bytes = tracer_proc_link(thread->tid, "cwd", text);
        process->cwd =
            bytes > 0 ? wio_ring_put_string(&thread->stream, 0, text, bytes) : WIO_NO_STRING;
    }
    return process->cwd;
}

uint32_t tracer_path_string(struct tracer_thread *thread, int dirfd, uint64_t address)
{
    char text[TRACER_PATH_MAX];
    const long bytes = tracer_memory_text(thread->tid, address, text, sizeof(text));
    if (bytes < 0) {
        return WIO_NO_STRING;
    }
    if (text[0] == '/') {
        return wio_ring_put_string(&thread->stream, 0, text, (size_t)bytes);
    }
    const uint32_t base =
        dirfd == AT_FDCWD ? tracer_cwd_string(thread) : tracer_fd_path(thread, dirfd);
    return bytes == 0 ? base : wio_ring_put_string(&thread->stream, base, text, (size_t)bytes);
}

uint32_t tracer_text_string(struct tracer_thread *thread, uint64_t address)
{
    char text[TRACER_PATH_MAX];
    const long bytes = tracer_memory_text(thread->tid, address, text, sizeof(text));
    return bytes > 0 ? wio_ring_put_string(&thread->stream, 0, text, (size_t)bytes) : WIO_NO_STRING;
}

uint64_t tracer_time_ns(const struct tracer_thread *thread, uint64_t address)
{
    struct timespec time = {0};
    uint64_t ns = 0;
    if (!tracer_memory_read(thread->tid, address, &time, sizeof(time)) || time.tv_sec < 0 ||
        time.tv_nsec < 0 ||
        __builtin_mul_overflow((uint64_t)time.tv_sec, UINT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (uint64_t)time.tv_nsec, &ns)) {
        return WIO_NO_SIZE;
    }
    return ns;
}

struct wio_ring_event tracer_event_of(const struct tracer_thread *thread, unsigned call)
{
    return (struct wio_ring_event){
        .begin = thread->call.begin,
        .end = thread->call.end,
        .source = thread->call.caller != 0 ? thread->call.caller : thread->call.source,
        .result = thread->call.result,
        .error = thread->call.error,
        .offset = WIO_NO_OFFSET,
        .size = WIO_NO_SIZE,
        .fd = WIO_NO_FD,
        .call = (uint16_t)call,
        .flags = WIO_EVENT_RAW,
        .ext = {.fd2 = WIO_NO_FD, .offset2 = WIO_NO_OFFSET},
    };
}

struct wio_ring_event tracer_event_of_fd(struct tracer_thread *thread, unsigned call, int fd)
{
    struct wio_ring_event event = tracer_event_of(thread, call);
    event.fd = fd;
    event.path = tracer_fd_path(thread, fd);
    return event;
}
