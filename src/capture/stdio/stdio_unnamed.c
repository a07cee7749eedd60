/* SPDX-License-Identifier: Apache-2.0 */
/* stdio, streams over what has no name: the pipe to a command, and a temporary file. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "capture/core/raw.h"
#include "capture/files/paths.h"
#include "capture/process/exec.h"
#include "capture/stdio/stdio_call.h"
#include "capture/throttle/hold.h"

/* ---- commands ------------------------------------------------------------------------------- */

CAP_EXPORT FILE *popen(const char *command, const char *mode)
{
    struct cap_stdio_call call;
    const uintptr_t source = CAP_CALLER();
    cap_stdio_push(&call, source);
    call.self = cap_enter(source, WIO_CALL_popen);
    call.ev = CAP_EVENT(popen, source);
    struct cap_child_mark before = {0};
    if (call.self != NULL) {
        before = cap_child_mark();
    }
    cap_fd_share_all(true);
    struct cap_environ swapped;
    cap_environ_init(&swapped);
    cap_hold_announce(call.self);
    call.ev.begin = cap_begin(call.self);
    FILE *stream = CAP_REAL(popen)(command, mode);
    cap_environ_fini(&swapped);
    cap_stdio.source = call.outer_source;
    int fd = stream != NULL ? cap_stream_fd(stream) : -1;
    if (fd >= 0) {
        cap_fd_clear(fd);
    }
    if (call.self != NULL) {
        struct cap_ext ext = CAP_EXT;
        call.ev.end = cap_now();
        call.ev.error = stream == NULL ? errno : 0;
        call.ev.path = fd >= 0 ? cap_fd_path(call.self, fd) : WIO_NO_STRING;
        call.ev.result = fd;
        ext.path2 = command != NULL ? cap_text(call.self, command, strlen(command)) : WIO_NO_STRING;
        ext.arg[0] = mode[0] == 'r' ? O_RDONLY : O_WRONLY;
        /* libc keeps its pid to itself */
        ext.arg[2] = fd >= 0 ? cap_child_since(&before) : 0;
        cap_emit_ext(call.self, &call.ev, &ext);
    }
    return stream;
}

CAP_EXPORT int pclose(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_pclose, CAP_CALLER());
    call.ev.offset = WIO_NO_OFFSET;
    int result = CAP_REAL(pclose)(stream);
    cap_stdio_end_status(&call, result);
    return result;
}

/* ---- temporary files ------------------------------------------------------------------------ */

/* libc opens a file that has no name, or one whose name it removes at once. */
static void emit_tmpfile(struct cap_stdio_call *call, int fd)
{
    const bool is_nameless = fd >= 0 && (raw_fcntl(fd, F_GETFL, 0) & O_TMPFILE) == O_TMPFILE;
    cap_fd_clear(fd);
    uint32_t path = fd >= 0 ? cap_fd_path(call->self, fd) : WIO_NO_STRING;
    call->ev.path = path;
    call->ev.result = fd;
    call->ev.offset = O_RDWR | O_CREAT | O_EXCL;
    call->ev.size = 0600;
    cap_emit(call->self, &call->ev);
    call->ev.call = WIO_CALL_open;
    call->ev.flags |= WIO_EVENT_CAUSED;
    if (is_nameless || fd < 0) {
        call->ev.path = cap_string(call->self, AT_FDCWD, P_tmpdir);
        call->ev.offset = O_RDWR | O_EXCL | O_TMPFILE;
    }
    cap_emit(call->self, &call->ev);
}

static void begin_tmpfile(struct cap_stdio_call *call, unsigned number, uintptr_t source)
{
    cap_stdio_push(call, source);
    call->self = cap_enter_path(source, number, P_tmpdir);
    call->ev = CAP_EVENT_OF(number, source);
    call->ev.begin = cap_begin(call->self);
}

static FILE *end_tmpfile(struct cap_stdio_call *call, FILE *stream)
{
    cap_stdio.source = call->outer_source;
    if (call->self != NULL) {
        call->ev.end = cap_now();
        call->ev.error = stream == NULL ? errno : 0;
        emit_tmpfile(call, stream != NULL ? cap_stream_fd(stream) : -1);
    }
    return stream;
}

#define TMPFILE_WRAPPER(name)                                                                      \
    CAP_EXPORT FILE *name(void)                                                                    \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        begin_tmpfile(&call, WIO_CALL_##name, CAP_CALLER());                                       \
        return end_tmpfile(&call, CAP_REAL(name)());                                               \
    }

TMPFILE_WRAPPER(tmpfile)
TMPFILE_WRAPPER(tmpfile64)
