/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio, beginning and end of a stream.
 *
 * fopen calls open inside libc past every table, so that event is made here: same begin, up to the
 * first thing that the new stream did (an appending one seeks to its end). freopen opens a new
 * descriptor, puts it at the old one's number and closes it: one CAUSED open with the number that
 * stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "capture/files/paths.h"
#include "capture/stdio/stdio_call.h"
#include "capture/stdio/stdio_hooks.h"
#include "capture/stdio/stdio_mode.h"

struct opening {
    struct cap_stdio_call call;
    int flags; /* -1: libc refuses the mode */
    int from;  /* freopen: the descriptor of the old file, else -1 */
};

/* ---- fopen, freopen ---------------------------------------------------------------------------
 */

static void begin_open(struct opening *opening, unsigned number, uintptr_t source, const char *path,
                       const char *mode)
{
    struct cap_stdio *stdio = &cap_stdio;
    struct cap_stdio_call *call = &opening->call;
    opening->flags = cap_stdio_open_flags(mode);
    cap_stdio_push(call, source);
    call->self = cap_enter_path(source, number, path);
    if (call->self == NULL) {
        return;
    }
    cap_stdio_install(); /* another library's constructor may open a stream before ours ran */
    call->ev = CAP_EVENT_OF(number, source);
    stdio->opened_fd = -1;
    stdio->last_end = 0;
    stdio->opening = NULL;
    if (opening->flags >= 0 && (opening->flags & O_APPEND) != 0) {
        stdio->opening = path;
        stdio->opening_source = source;
        stdio->opening_flags = opening->flags;
        stdio->opening_from = opening->from;
    }
    call->ev.begin = cap_begin(call->self);
}

/* Path id of what was opened; the descriptor's entry is made where the hooks did not. */
static uint32_t name_opened(struct opening *opening, const char *path, int fd)
{
    struct cap_stdio *stdio = &cap_stdio;
    struct cap_stdio_call *call = &opening->call;
    stdio->opening = NULL;
    if (stdio->opened_fd >= 0 && stdio->opened_fd == fd) {
        return stdio->opened_path;
    }
    if (stdio->opened_fd >= 0) {
        cap_fd_clear(stdio->opened_fd); /* freopen moved it */
    }
    uint32_t id = cap_path_of(call->self, AT_FDCWD, path, call->ev.error);
    if (fd >= 0) {
        cap_fd_set(fd, id, opening->flags);
    }
    return id;
}

/* The open lies behind what libc did for the old file, and before what it did with the new one. */
static void set_open_times(struct cap_event *ev)
{
    const struct cap_stdio *stdio = &cap_stdio;
    bool is_named = stdio->opened_fd >= 0;
    uint64_t after = is_named ? stdio->opened_after : stdio->last_end;
    if (after > ev->begin) {
        ev->begin = after;
    }
    if (is_named) {
        ev->end = stdio->opened_until;
    }
}

/* The stream's event, and behind it the open that it caused. */
static void emit_open(struct opening *opening, int fd)
{
    struct cap_stdio_call *call = &opening->call;
    call->ev.result = fd;
    call->ev.offset = opening->flags;
    call->ev.size = CAP_STDIO_CREATE_MODE;
    cap_emit(call->self, &call->ev);
    if (opening->flags < 0) {
        return;
    }
    call->ev.call = WIO_CALL_open;
    call->ev.flags |= WIO_EVENT_CAUSED;
    set_open_times(&call->ev);
    cap_emit(call->self, &call->ev);
}

static FILE *end_fopen(struct opening *opening, const char *path, FILE *stream)
{
    struct cap_stdio_call *call = &opening->call;
    cap_stdio.source = call->outer_source;
    if (call->self == NULL) {
        return stream;
    }
    call->ev.end = cap_now();
    call->ev.error = stream == NULL ? errno : 0;
    int fd = stream != NULL ? cap_stream_fd(stream) : -1;
    call->ev.path = name_opened(opening, path, fd);
    emit_open(opening, fd);
    return stream;
}

#define FOPEN_WRAPPER(name)                                                                        \
    CAP_EXPORT FILE *name(const char *path, const char *mode)                                      \
    {                                                                                              \
        struct opening opening = {.from = -1};                                                     \
        begin_open(&opening, WIO_CALL_##name, CAP_CALLER(), path, mode);                           \
        return end_fopen(&opening, path, CAP_REAL(name)(path, mode));                              \
    }

FOPEN_WRAPPER(fopen)
FOPEN_WRAPPER(fopen64)

/* The old file is gone also where the new one could not be opened. */
static void emit_lost(struct opening *opening, int fd, uint32_t path)
{
    struct cap_event ev = CAP_EVENT(close, opening->call.ev.source);
    ev.begin = opening->call.ev.end;
    ev.end = ev.begin;
    ev.fd = fd;
    ev.path = path;
    ev.flags = WIO_EVENT_CAUSED;
    cap_emit(opening->call.self, &ev);
}

struct reopening {
    struct opening opening;
    uint32_t old_path;
};

static void begin_freopen(struct reopening *re, unsigned number, uintptr_t source, const char *path,
                          const char *mode)
{
    begin_open(&re->opening, number, source, path, mode);
    struct cap_thread *self = re->opening.call.self;
    re->old_path =
        self != NULL && re->opening.from >= 0 ? cap_fd_path(self, re->opening.from) : WIO_NO_STRING;
}

static FILE *end_freopen(struct reopening *re, const char *path, FILE *stream)
{
    struct cap_stdio_call *call = &re->opening.call;
    cap_stdio.source = call->outer_source;
    if (call->self == NULL) {
        return stream;
    }
    call->ev.end = cap_now();
    call->ev.error = stream == NULL ? errno : 0;
    int fd = stream != NULL ? cap_stream_fd(stream) : -1;
    call->ev.path = name_opened(&re->opening, path, fd);
    if (path == NULL && fd >= 0) { /* the same file again, in another mode */
        call->ev.path = re->old_path;
        cap_fd_set(fd, re->old_path, re->opening.flags);
    }
    emit_open(&re->opening, fd);
    if (re->opening.from >= 0 && fd != re->opening.from) {
        cap_fd_clear(re->opening.from);
        emit_lost(&re->opening, re->opening.from, re->old_path);
    }
    return stream;
}

#define FREOPEN_WRAPPER(name)                                                                      \
    CAP_EXPORT FILE *name(const char *path, const char *mode, FILE *stream)                        \
    {                                                                                              \
        struct reopening re = {.opening.from = cap_stream_fd(stream)};                             \
        begin_freopen(&re, WIO_CALL_##name, CAP_CALLER(), path, mode);                             \
        return end_freopen(&re, path, CAP_REAL(name)(path, mode, stream));                         \
    }

FREOPEN_WRAPPER(freopen)
FREOPEN_WRAPPER(freopen64)

/* ---- streams over a descriptor that is there --------------------------------------------------
 */

CAP_EXPORT FILE *fdopen(int fd, const char *mode)
{
    struct cap_stdio_call call;
    const uintptr_t source = CAP_CALLER();
    if (cap_fd_is_ours(fd)) {
        errno = EBADF;
        return NULL;
    }
    cap_stdio_push(&call, source);
    call.self = cap_enter_fd(source, WIO_CALL_fdopen, fd);
    call.ev = CAP_EVENT(fdopen, source);
    call.ev.begin = cap_begin(call.self);
    FILE *stream = CAP_REAL(fdopen)(fd, mode);
    int flags = cap_stdio_open_flags(mode);
    struct cap_fd *entry = cap_fd_find(fd);
    if (stream != NULL && (flags & O_APPEND) != 0 && entry != NULL) {
        entry->flags |= CAP_FD_APPEND; /* libc has set O_APPEND */
    }
    cap_stdio.source = call.outer_source;
    if (call.self != NULL) {
        call.ev.end = cap_now();
        call.ev.fd = fd;
        call.ev.path = cap_fd_path(call.self, fd);
        call.ev.offset = flags;
        call.ev.size = 0;
        call.ev.result = stream != NULL ? fd : -1;
        call.ev.error = stream == NULL ? errno : 0;
        cap_emit(call.self, &call.ev);
    }
    return stream;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

CAP_EXPORT int fclose(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fclose, CAP_CALLER());
    call.ev.offset = WIO_NO_OFFSET;
    int result = CAP_REAL(fclose)(stream);
    cap_stdio_end_status(&call, result);
    return result;
}
