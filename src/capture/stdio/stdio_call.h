/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrapped stdio calls.
 *
 * A stdio call is two things: what the program asked of the stream (this file) and the system calls
 * that libc made for it, which no wrapper of read or write sees. Those come from stdio_hooks.c,
 * which stands where libc's streams meet the kernel; they are events with flag CAUSED, written
 * while the call runs and therefore in time within it. What the two sides must tell each other is
 * in struct cap_stdio, one per thread.
 *
 * A call that caused nothing was served from the buffer: it gets one time stamp instead of two and
 * flag BUFFERED.
 *
 *     struct cap_stdio_call call;
 *     cap_stdio_begin(&call, stream, WIO_CALL_fputc, CAP_CALLER());
 *     int result = CAP_REAL(fputc)(c, stream);
 *     cap_stdio_end(&call, stream, 1, result == EOF ? -1 : 1);
 *
 * Streams without a descriptor (fmemopen, open_memstream, fopencookie) are not I/O of files and
 * pass through.
 */
#ifndef WIO_CAPTURE_STDIO_STDIO_CALL_H
#define WIO_CAPTURE_STDIO_STDIO_CALL_H

#include <stdio.h>

#include "capture/core/capture.h"
#include "capture/files/descriptors.h"
#include "capture/stdio/stdio_stream.h"

/*
 * Equal calls that follow each other - a loop over putc, a table read by fread - are one record
 * that counts them (FORMAT.md R-EVENT-5): a fresh slot for each would cost more than the call. A
 * run ends when the thread records anything else, when a call differs, and at a pause, so that the
 * times of its calls, which are spread evenly, stay right within microseconds.
 */
struct cap_stdio_run {
    struct cap_thread *self;
    struct wio_slot_event *slot;
    uint64_t word;  /* the thread's, behind this record: anything else recorded changes it */
    uint64_t last;  /* begin of the last call */
    int64_t offset; /* of the next call, WIO_NO_OFFSET = none */
    int32_t pid;    /* after a fork the slot belongs to the parent */
};

/* A longer pause between two calls ends a run: some microseconds in ticks of either clock. */
#define CAP_STDIO_PAUSE 8192u

/* The bridge between a thread's stdio call and the hooks below it. */
struct cap_stdio {
    uintptr_t source;   /* caller of the wrapped stdio call that runs now, 0 = none runs */
    uint32_t caused;    /* system calls that stdio has made in this thread */
    int error;          /* errno of the last one that failed */
    uint32_t failed;    /* how many failed */
    int64_t read_bytes; /* what they read and wrote */
    int64_t written_bytes;
    uint64_t last_end; /* of the last one since stdio_open.c set it to 0 */
    struct cap_stdio_run run;
    const char *opening;      /* path that fopen is about to open, NULL = none or named */
    uintptr_t opening_source; /* its caller: a signal handler may jump out of it */
    int opening_flags;
    int opening_from; /* freopen: the descriptor of the old file, else -1 */
    int opened_fd;    /* the descriptor that got that path before fopen returned, -1 = none */
    uint32_t opened_path;
    uint64_t opened_after; /* it was opened between these two moments */
    uint64_t opened_until;
};

extern __thread struct cap_stdio cap_stdio __attribute__((tls_model("initial-exec"))) CAP_HIDDEN;

/* True where the hooks are in place: else CAUSED events are missing (counted as unseen). */
extern bool cap_stdio_has_hooks CAP_HIDDEN;

struct cap_stdio_call {
    struct cap_thread *self; /* NULL: not recorded */
    uintptr_t outer_source;
    uint32_t caused;
    uint32_t failed;
    int64_t read_bytes;
    int64_t unread;
    int stream_flags;
    struct cap_event ev;
};

#define CAP_STREAM_ERROR 0x0020 /* _IO_ERR_SEEN */

int64_t cap_stdio_position_slow(const FILE *stream, int fd) CAP_HIDDEN;

/* Position of the stream before a call, where it is known without a system call. */
static inline int64_t cap_stdio_position(const FILE *stream, int fd)
{
    const uint32_t mask = CAP_FD_SEEKS | CAP_FD_SHARED | CAP_FD_APPEND;
    const struct cap_fd *entry = cap_fd_find(fd);
    if (CAP_LIKELY(entry != NULL && (entry->flags & mask) == CAP_FD_SEEKS &&
                   !cap_stream_is_adrift(stream))) {
        return entry->pos + cap_stream_ahead(stream);
    }
    return cap_stdio_position_slow(stream, fd);
}

/* The part of begin that follows the entry into the recorder; split for calls without a stream. */
static inline void cap_stdio_push(struct cap_stdio_call *call, uintptr_t source)
{
    struct cap_stdio *stdio = &cap_stdio;
    call->outer_source = stdio->source;
    call->caused = stdio->caused;
    call->failed = stdio->failed;
    call->read_bytes = stdio->read_bytes;
    stdio->source = source;
}

static inline void cap_stdio_begin(struct cap_stdio_call *call, FILE *stream, unsigned number,
                                   uintptr_t source)
{
    int fd = cap_stream_fd(stream);
    cap_stdio_push(call, source);
    call->self = fd >= 0 ? cap_enter_fd(source, number, fd) : NULL;
    if (CAP_UNLIKELY(call->self == NULL)) {
        return;
    }
    call->ev = CAP_EVENT_OF(number, source);
    call->ev.fd = fd;
    call->ev.path = cap_fd_path(call->self, fd);
    call->ev.offset = cap_stdio_position(stream, fd);
    call->unread = cap_stream_unread(stream);
    call->stream_flags = stream->_flags;
    call->ev.begin = cap_begin(call->self);
}

/* errno of this call if it met an error (and not just the end of the file), else 0. */
int cap_stdio_error(const struct cap_stdio_call *call, const FILE *stream) CAP_HIDDEN;

/* Stamp the end: a second time only where the kernel was asked. */
static inline void cap_stdio_stamp(struct cap_stdio_call *call)
{
    if (CAP_LIKELY(cap_stdio.caused == call->caused)) {
        call->ev.end = call->ev.begin;
        call->ev.flags |= WIO_EVENT_BUFFERED;
        return;
    }
    call->ev.end = cap_now();
}

/* A call that was served from the buffer, in full: begins a run, or a plain event. */
void cap_stdio_emit_first(struct cap_stdio_call *call) CAP_HIDDEN;

static inline bool cap_stdio_continues(const struct cap_stdio_run *run, const struct cap_event *ev,
                                       const struct cap_thread *self)
{
    const struct wio_slot_event *slot = run->slot;
    return run->self == self && self->word == run->word && run->pid == self->pid &&
           (self->has_pending & CAP_PENDING_EVENTS) == 0 && slot->source == ev->source &&
           slot->call == ev->call && slot->size == ev->size && slot->fd == ev->fd &&
           slot->path == ev->path && run->offset == ev->offset && slot->result < WIO_RUN_MAX &&
           ev->begin - run->last < CAP_STDIO_PAUSE;
}

/* Count one more call in the slot of a run. While `published` lacks this record a signal handler
 * that fills the chunk leaves it in place (cap_reserve). */
static inline bool cap_stdio_extend(struct cap_stdio_run *run, const struct cap_event *ev,
                                    const struct cap_thread *self)
{
    uint32_t *published = &cap_chunk_of((uint8_t *)run->slot)->published;
    cap_add_local(published, (uint32_t)-1);
    bool is_same = __atomic_load_n(&self->word, __ATOMIC_RELAXED) == run->word;
    if (CAP_LIKELY(is_same)) {
        struct wio_slot_event *slot = run->slot;
        __atomic_store_n(&slot->result, slot->result + 1, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->dur_error, ev->begin - slot->begin, __ATOMIC_RELAXED);
        run->last = ev->begin;
        run->offset += run->offset != WIO_NO_OFFSET ? (int64_t)ev->size : 0;
    }
    cap_add_local(published, 1);
    return is_same;
}

/* Leave the call and write its event; size, result and error are set. */
static inline void cap_stdio_leave(struct cap_stdio_call *call)
{
    struct cap_stdio *stdio = &cap_stdio;
    stdio->source = call->outer_source;
    if (CAP_UNLIKELY(call->self == NULL)) {
        return;
    }
    cap_stdio_stamp(call);
    if (CAP_UNLIKELY(stdio->caused != call->caused || call->ev.result <= 0 ||
                     call->ev.result != (int64_t)call->ev.size)) {
        cap_emit(call->self, &call->ev);
        return;
    }
    if (!cap_stdio_continues(&stdio->run, &call->ev, call->self) ||
        !cap_stdio_extend(&stdio->run, &call->ev, call->self)) {
        cap_stdio_emit_first(call);
    }
}

/* The same for calls that read: `size` bytes asked for, `result` done, -1 = none and an error. A
 * short one may be the end of the file. */
static inline void cap_stdio_end(struct cap_stdio_call *call, const FILE *stream, uint64_t size,
                                 int64_t result)
{
    call->ev.size = size;
    call->ev.result = result;
    if (CAP_UNLIKELY(result < 0 || (uint64_t)result < size) && call->self != NULL) {
        call->ev.error = result < 0 ? errno : cap_stdio_error(call, stream);
    }
    cap_stdio_leave(call);
}

/* The same for calls that write: a short one is always an error. */
static inline void cap_stdio_end_write(struct cap_stdio_call *call, uint64_t size, int64_t result)
{
    call->ev.size = size;
    call->ev.result = result;
    if (CAP_UNLIKELY(result < 0 || (uint64_t)result < size)) {
        call->ev.error = errno;
    }
    cap_stdio_leave(call);
}

/* Calls that move no bytes: result -1 is an error. */
static inline void cap_stdio_end_status(struct cap_stdio_call *call, int result)
{
    call->ev.result = result;
    call->ev.error = result < 0 ? errno : 0;
    cap_stdio_leave(call);
}

/* The same with more fields; another result than 0 is an error. */
void cap_stdio_end_ext(struct cap_stdio_call *call, int result,
                       const struct cap_ext *ext) CAP_HIDDEN;

/* Bytes that the program took from the stream in this call: exact also for scanf and for a last,
 * partial element of fread. `most` is what it can have been. */
int64_t cap_stdio_taken(const struct cap_stdio_call *call, const FILE *stream,
                        int64_t most) CAP_HIDDEN;

#endif
