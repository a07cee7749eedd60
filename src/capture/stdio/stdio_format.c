/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio, formatted output: the printf family, narrow and wide. A variadic wrapper hands its
 * arguments on to the real va_list form, which is what libc does inside as well.
 *
 * The number of bytes is known only afterwards: size = result, none where the call failed. Of wide
 * text it is the number of characters: their bytes are nowhere to be measured.
 */
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

#include "capture/files/descriptors.h"
#include "capture/stdio/stdio_call.h"

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list args);
int __vprintf_chk(int flag, const char *format, va_list args);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...);
int __vfwprintf_chk(FILE *stream, int flag, const wchar_t *format, va_list args);
int __vwprintf_chk(int flag, const wchar_t *format, va_list args);
int __fwprintf_chk(FILE *stream, int flag, const wchar_t *format, ...);
int __wprintf_chk(int flag, const wchar_t *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list args);
int __dprintf_chk(int fd, int flag, const char *format, ...);

/* ---- printf, narrow and wide ---------------------------------------------------------------- */

static void end_print(struct cap_stdio_call *call, const FILE *stream, int result)
{
    cap_stdio_end(call, stream, result >= 0 ? (uint64_t)result : WIO_NO_SIZE, result);
}

#define PRINT_FAMILY(letter, f, vf, std, v)                                                        \
    static int vf##_as(unsigned number, uintptr_t source, FILE *stream, const letter *format,      \
                       va_list args)                                                               \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, number, source);                                            \
        int result = CAP_REAL(vf)(stream, format, args);                                           \
        end_print(&call, stream, result);                                                          \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int f(FILE *stream, const letter *format, ...)                                      \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        int result = vf##_as(WIO_CALL_##f, CAP_CALLER(), stream, format, args);                    \
        va_end(args);                                                                              \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int vf(FILE *stream, const letter *format, va_list args)                            \
    {                                                                                              \
        return vf##_as(WIO_CALL_##vf, CAP_CALLER(), stream, format, args);                         \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int std(const letter *format, ...)                                                  \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        int result = vf##_as(WIO_CALL_##std, CAP_CALLER(), stdout, format, args);                  \
        va_end(args);                                                                              \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int v(const letter *format, va_list args)                                           \
    {                                                                                              \
        return vf##_as(WIO_CALL_##v, CAP_CALLER(), stdout, format, args);                          \
    }

PRINT_FAMILY(char, fprintf, vfprintf, printf, vprintf)
PRINT_FAMILY(wchar_t, fwprintf, vfwprintf, wprintf, vwprintf)

struct checked {
    FILE *stream;
    int flag;
};

/* The fortified forms. */
#define CHECKED_FAMILY(letter, f, vf, std, v)                                                      \
    static int vf##_as(unsigned number, uintptr_t source, struct checked to, const letter *format, \
                       va_list args)                                                               \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, to.stream, number, source);                                         \
        int result = CAP_REAL(vf)(to.stream, to.flag, format, args);                               \
        end_print(&call, to.stream, result);                                                       \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int f(FILE *stream, int flag, const letter *format, ...)                            \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        int result =                                                                               \
            vf##_as(WIO_CALL_##f, CAP_CALLER(), (struct checked){stream, flag}, format, args);     \
        va_end(args);                                                                              \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int vf(FILE *stream, int flag, const letter *format, va_list args)                  \
    {                                                                                              \
        return vf##_as(WIO_CALL_##vf, CAP_CALLER(), (struct checked){stream, flag}, format, args); \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int std(int flag, const letter *format, ...)                                        \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        int result =                                                                               \
            vf##_as(WIO_CALL_##std, CAP_CALLER(), (struct checked){stdout, flag}, format, args);   \
        va_end(args);                                                                              \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int v(int flag, const letter *format, va_list args)                                 \
    {                                                                                              \
        return vf##_as(WIO_CALL_##v, CAP_CALLER(), (struct checked){stdout, flag}, format, args);  \
    }

CHECKED_FAMILY(char, __fprintf_chk, __vfprintf_chk, __printf_chk, __vprintf_chk)
CHECKED_FAMILY(wchar_t, __fwprintf_chk, __vfwprintf_chk, __wprintf_chk, __vwprintf_chk)

/* ---- dprintf -------------------------------------------------------------------------------- */

static void begin_dprintf(struct cap_stdio_call *call, unsigned number, uintptr_t source, int fd)
{
    cap_stdio_push(call, source);
    call->self = cap_enter_fd(source, number, fd);
    call->ev = CAP_EVENT_OF(number, source);
    if (call->self != NULL) {
        call->ev.fd = fd;
        call->ev.path = cap_fd_path(call->self, fd);
        call->ev.offset = cap_fd_position(fd);
        call->ev.begin = cap_begin(call->self);
    }
}

/*
 * Up to glibc 2.36 dprintf writes through a stream of its own, which the hooks see; newer ones call
 * write directly: then the write is added here (it is one, where the text is not enormous).
 */
static void end_dprintf(struct cap_stdio_call *call, int result)
{
    struct cap_stdio *stdio = &cap_stdio;
    bool is_hidden = stdio->caused == call->caused && result > 0;
    stdio->source = call->outer_source;
    if (call->self == NULL) {
        return;
    }
    call->ev.end = cap_now();
    call->ev.result = result;
    call->ev.error = result < 0 ? errno : 0;
    call->ev.size = result >= 0 ? (uint64_t)result : WIO_NO_SIZE;
    cap_emit(call->self, &call->ev);
    if (is_hidden) {
        call->ev.call = WIO_CALL_write;
        call->ev.flags |= WIO_EVENT_CAUSED;
        call->ev.offset = cap_fd_advance(call->ev.fd, result);
        cap_emit(call->self, &call->ev);
    }
}

/* Capture's own descriptor is closed for the program. */
static bool is_refused(int fd)
{
    if (CAP_LIKELY(!cap_fd_is_ours(fd))) {
        return false;
    }
    errno = EBADF;
    return true;
}

static int print_fd(unsigned number, uintptr_t source, int fd, const char *format, va_list args)
{
    struct cap_stdio_call call;
    if (is_refused(fd)) {
        return -1;
    }
    begin_dprintf(&call, number, source, fd);
    int result = CAP_REAL(vdprintf)(fd, format, args);
    end_dprintf(&call, result);
    return result;
}

struct checked_fd {
    int fd;
    int flag;
};

static int print_fd_checked(unsigned number, uintptr_t source, struct checked_fd to,
                            const char *format, va_list args)
{
    struct cap_stdio_call call;
    if (is_refused(to.fd)) {
        return -1;
    }
    begin_dprintf(&call, number, source, to.fd);
    int result = CAP_REAL(__vdprintf_chk)(to.fd, to.flag, format, args);
    end_dprintf(&call, result);
    return result;
}

CAP_EXPORT int dprintf(int fd, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = print_fd(WIO_CALL_dprintf, CAP_CALLER(), fd, format, args);
    va_end(args);
    return result;
}

CAP_EXPORT int vdprintf(int fd, const char *format, va_list args)
{
    return print_fd(WIO_CALL_vdprintf, CAP_CALLER(), fd, format, args);
}

CAP_EXPORT int __dprintf_chk(int fd, int flag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = print_fd_checked(WIO_CALL___dprintf_chk, CAP_CALLER(),
                                  (struct checked_fd){fd, flag}, format, args);
    va_end(args);
    return result;
}

CAP_EXPORT int __vdprintf_chk(int fd, int flag, const char *format, va_list args)
{
    return print_fd_checked(WIO_CALL___vdprintf_chk, CAP_CALLER(), (struct checked_fd){fd, flag},
                            format, args);
}

/* ---- perror --------------------------------------------------------------------------------- */

/* perror leaves a stream without orientation so: it writes through a duplicate of its descriptor,
 * which moves the position unseen. */
static void share_unused(const FILE *stream)
{
    struct cap_fd *entry = stream->_mode == 0 ? cap_fd_find(cap_stream_fd(stream)) : NULL;
    if (entry != NULL && (entry->flags & CAP_FD_KNOWN) != 0) {
        (void)__atomic_fetch_or(&entry->flags, CAP_FD_SHARED, __ATOMIC_RELAXED);
    }
}

CAP_EXPORT void perror(const char *text)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stderr, WIO_CALL_perror, CAP_CALLER());
    share_unused(stderr);
    int64_t before = cap_stdio.written_bytes;
    CAP_REAL(perror)(text);
    /* stderr has no buffer unless the program gave it one */
    int64_t written = cap_stdio.written_bytes - before;
    cap_stdio_end(&call, stderr, (uint64_t)written, written);
}
