/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every system call that libc's streams make, seen where they make it: the functions that stand in
 * the place of libc's in its tables (stdio_tables.c puts them there). Nothing is derived or guessed
 * this way, and each event has its own times.
 *
 * What still goes past: open (fopen calls it directly: stdio_open.c adds the event) and the dup3
 * and close with which freopen moves its new file to the old descriptor.
 */
#include "capture/stdio/stdio_hooks.h"

#include <sys/stat.h>

#include "capture/files/descriptors.h"
#include "capture/stdio/stdio_call.h"
#include "capture/stdio/stdio_tables.h"

#define FLAGS2_NOT_CANCEL 2 /* _IO_FLAGS2_NOTCANCEL: mode letter 'c' */

struct hooked {
    struct cap_thread *self;
    struct cap_event ev;
};

static bool hook_begin(struct hooked *hooked, unsigned call, int fd, uintptr_t caller)
{
    uintptr_t source = cap_stdio.source != 0 ? cap_stdio.source : caller;
    hooked->self = cap_enter_fd(source, call, fd);
    if (hooked->self == NULL) {
        return false;
    }
    hooked->ev = CAP_EVENT_OF(call, source);
    hooked->ev.fd = fd;
    hooked->ev.path = cap_fd_path(hooked->self, fd);
    hooked->ev.flags = WIO_EVENT_CAUSED;
    hooked->ev.begin = cap_now();
    return true;
}

/* errno is the system call's own here. */
static void hook_account(struct hooked *hooked, int64_t result)
{
    struct cap_stdio *stdio = &cap_stdio;
    stdio->caused++;
    hooked->ev.result = result;
    if (result < 0) {
        stdio->failed++;
        stdio->error = errno;
        hooked->ev.error = errno;
    }
}

static void hook_stamp(struct hooked *hooked)
{
    hooked->ev.end = cap_now();
    cap_stdio.last_end = hooked->ev.end;
}

/* Bytes that went at the descriptor's position. */
static void hook_transferred(struct hooked *hooked, uint64_t size, int64_t result)
{
    hook_stamp(hooked);
    hooked->ev.size = size;
    hooked->ev.offset = cap_fd_advance(hooked->ev.fd, result);
    cap_emit(hooked->self, &hooked->ev);
}

static ssize_t hook_read(FILE *stream, void *buf, ssize_t size)
{
    struct hooked hooked;
    int fd = cap_stream_fd(stream);
    bool is_seen = hook_begin(&hooked, WIO_CALL_read, fd, CAP_CALLER());
    ssize_t result = cap_stdio_libc.read(stream, buf, size);
    hook_account(&hooked, result);
    if (result > 0) {
        cap_stdio.read_bytes += result;
    }
    if (is_seen) {
        hook_transferred(&hooked, (uint64_t)size, result);
    }
    return result;
}

static ssize_t write_once(FILE *stream, const char *buf, ssize_t size, uintptr_t caller)
{
    struct hooked hooked;
    int fd = cap_stream_fd(stream);
    bool is_seen = hook_begin(&hooked, WIO_CALL_write, fd, caller);
    ssize_t result = (stream->_flags2 & FLAGS2_NOT_CANCEL) != 0
                         ? cap_stdio_libc.write(stream, buf, size)
                         : cap_stdio_libc.write_call(fd, buf, (size_t)size);
    hook_account(&hooked, result);
    if (result > 0) {
        cap_stdio.written_bytes += result;
    }
    if (is_seen) {
        hook_transferred(&hooked, (uint64_t)size, result);
    }
    return result;
}

/*
 * libc's own function writes until all is written and tells only the sum. So that each write(2) is
 * an event of its own its loop is done here, with its two side effects: the error flag of the
 * stream, and its cached offset.
 */
static ssize_t hook_write(FILE *stream, const void *buf, ssize_t size)
{
    const uintptr_t caller = CAP_CALLER();
    const char *from = buf;
    ssize_t left = size;
    if ((stream->_flags2 & FLAGS2_NOT_CANCEL) != 0) {
        return write_once(stream, from, size, caller);
    }
    while (left > 0) {
        ssize_t done = write_once(stream, from, left, caller);
        if (done < 0) {
            stream->_flags |= CAP_STREAM_ERROR;
            break;
        }
        left -= done;
        from += done;
    }
    if (stream->_offset >= 0) {
        stream->_offset += size - left;
    }
    return size - left;
}

static off64_t hook_seek(FILE *stream, off64_t offset, int whence)
{
    struct hooked hooked;
    int fd = cap_stream_fd(stream);
    cap_stdio_name_opening(fd);
    bool is_seen = hook_begin(&hooked, WIO_CALL_lseek, fd, CAP_CALLER());
    off64_t result = cap_stdio_libc.seek(stream, offset, whence);
    hook_account(&hooked, result);
    if (result >= 0) {
        cap_fd_seek(fd, result);
    }
    if (is_seen) {
        struct cap_ext ext = CAP_EXT;
        hook_stamp(&hooked);
        hooked.ev.offset = offset;
        ext.arg[0] = whence;
        cap_emit_ext(hooked.self, &hooked.ev, &ext);
    }
    return result;
}

static int hook_close(FILE *stream)
{
    struct hooked hooked;
    int fd = cap_stream_fd(stream);
    if (cap_fd_is_ours(fd)) {
        errno = EBADF;
        return -1;
    }
    bool is_seen = hook_begin(&hooked, WIO_CALL_close, fd, CAP_CALLER());
    cap_fd_clear(fd);
    int result = cap_stdio_real_close(stream)(stream);
    hook_account(&hooked, result);
    if (is_seen) {
        hook_stamp(&hooked);
        if (result > 0) {
            hooked.ev.result = 0; /* pclose: the child's status, not close's */
        }
        cap_emit(hooked.self, &hooked.ev);
    }
    return result;
}

static int hook_stat(FILE *stream, void *buf)
{
    struct hooked hooked;
    const struct stat *st = buf;
    int fd = cap_stream_fd(stream);
    bool is_seen = hook_begin(&hooked, WIO_CALL_fstat, fd, CAP_CALLER());
    int result = cap_stdio_libc.stat(stream, buf);
    hook_account(&hooked, result);
    if (is_seen) {
        struct cap_ext ext = CAP_EXT;
        hook_stamp(&hooked);
        if (result == 0) {
            ext.arg[1] = st->st_mode;
            ext.arg[2] = st->st_size;
            ext.arg[3] = (int64_t)st->st_nlink;
        }
        cap_emit_ext(hooked.self, &hooked.ev, &ext);
    }
    return result;
}

cap_function *const cap_stdio_hooks[CAP_STDIO_ENTRIES] = {
    [CAP_STDIO_READ] = (cap_function *)hook_read, [CAP_STDIO_WRITE] = (cap_function *)hook_write,
    [CAP_STDIO_SEEK] = (cap_function *)hook_seek, [CAP_STDIO_CLOSE] = (cap_function *)hook_close,
    [CAP_STDIO_STAT] = (cap_function *)hook_stat,
};
