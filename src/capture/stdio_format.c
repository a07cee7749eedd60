/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio, formatted: the printf and scanf families. A variadic wrapper hands its arguments on to the
 * real va_list form, which is what libc does inside as well.
 *
 * The number of bytes is known only afterwards: size = result, none where the call failed.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/stdio_call.h"

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list args);
int __vprintf_chk(int flag, const char *format, va_list args);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list args);
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __isoc99_fscanf(FILE *stream, const char *format, ...);
int __isoc99_scanf(const char *format, ...);
int __isoc99_vfscanf(FILE *stream, const char *format, va_list args);
int __isoc99_vscanf(const char *format, va_list args);
int __isoc23_fscanf(FILE *stream, const char *format, ...);
int __isoc23_scanf(const char *format, ...);
int __isoc23_vfscanf(FILE *stream, const char *format, va_list args);
int __isoc23_vscanf(const char *format, va_list args);

/* ---- printf --------------------------------------------------------------------------------- */

static void end_print(struct cap_stdio_call *call, const FILE *stream, int result)
{
    cap_stdio_end(call, stream, result >= 0 ? (uint64_t)result : WIO_NO_SIZE, result);
}

static int print(unsigned number, uintptr_t source, FILE *stream, const char *format, va_list args)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, number, source);
    int result = CAP_REAL(vfprintf)(stream, format, args);
    end_print(&call, stream, result);
    return result;
}

struct checked {
    FILE *stream;
    int flag;
};

static int print_checked(unsigned number, uintptr_t source, struct checked to, const char *format,
                         va_list args)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, to.stream, number, source);
    int result = CAP_REAL(__vfprintf_chk)(to.stream, to.flag, format, args);
    end_print(&call, to.stream, result);
    return result;
}

CAP_EXPORT int fprintf(FILE *stream, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = print(WIO_CALL_fprintf, CAP_CALLER(), stream, format, args);
    va_end(args);
    return result;
}

CAP_EXPORT int vfprintf(FILE *stream, const char *format, va_list args)
{
    return print(WIO_CALL_vfprintf, CAP_CALLER(), stream, format, args);
}

CAP_EXPORT int printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = print(WIO_CALL_printf, CAP_CALLER(), stdout, format, args);
    va_end(args);
    return result;
}

CAP_EXPORT int vprintf(const char *format, va_list args)
{
    return print(WIO_CALL_vprintf, CAP_CALLER(), stdout, format, args);
}

CAP_EXPORT int __fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = print_checked(WIO_CALL___fprintf_chk, CAP_CALLER(), (struct checked){stream, flag},
                               format, args);
    va_end(args);
    return result;
}

CAP_EXPORT int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list args)
{
    return print_checked(WIO_CALL___vfprintf_chk, CAP_CALLER(), (struct checked){stream, flag},
                         format, args);
}

CAP_EXPORT int __printf_chk(int flag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = print_checked(WIO_CALL___printf_chk, CAP_CALLER(), (struct checked){stdout, flag},
                               format, args);
    va_end(args);
    return result;
}

CAP_EXPORT int __vprintf_chk(int flag, const char *format, va_list args)
{
    return print_checked(WIO_CALL___vprintf_chk, CAP_CALLER(), (struct checked){stdout, flag},
                         format, args);
}

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
        call->ev.begin = cap_now();
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

CAP_EXPORT void perror(const char *text)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stderr, WIO_CALL_perror, CAP_CALLER());
    int64_t before = cap_stdio.written_bytes;
    CAP_REAL(perror)(text);
    /* stderr has no buffer unless the program gave it one */
    int64_t written = cap_stdio.written_bytes - before;
    cap_stdio_end(&call, stderr, (uint64_t)written, written);
}

/* ---- scanf ---------------------------------------------------------------------------------- */

typedef int scan_fn(FILE *stream, const char *format, va_list args);

static int scan(unsigned number, uintptr_t source, scan_fn *real, FILE *stream, const char *format,
                va_list args)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, number, source);
    int fields = real(stream, format, args);
    int64_t taken = call.self != NULL ? cap_stdio_taken(&call, stream, INT64_MAX) : 0;
    taken = taken >= 0 ? taken : 0;
    if (fields == EOF && taken == 0) {
        bool is_error = call.self != NULL && cap_stdio_error(&call, stream) != 0;
        cap_stdio_end(&call, stream, WIO_NO_SIZE, is_error ? -1 : 0);
        return fields;
    }
    cap_stdio_end(&call, stream, (uint64_t)taken, taken);
    return fields;
}

/* One family: fscanf, scanf, vfscanf, vscanf. `name` begins the C names, the others are the symbols
 * that they are exported as. */
#define SCAN_FAMILY(name, symbol_f, symbol, symbol_vf, symbol_v)                                   \
    CAP_EXPORT int name##fscanf(FILE *stream, const char *format, ...)                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        int fields =                                                                               \
            scan(WIO_CALL_##symbol_f, CAP_CALLER(), CAP_REAL(symbol_vf), stream, format, args);    \
        va_end(args);                                                                              \
        return fields;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int name##scanf(const char *format, ...)                                            \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        int fields =                                                                               \
            scan(WIO_CALL_##symbol, CAP_CALLER(), CAP_REAL(symbol_vf), stdin, format, args);       \
        va_end(args);                                                                              \
        return fields;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int name##vfscanf(FILE *stream, const char *format, va_list args)                   \
    {                                                                                              \
        return scan(WIO_CALL_##symbol_vf, CAP_CALLER(), CAP_REAL(symbol_vf), stream, format,       \
                    args);                                                                         \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int name##vscanf(const char *format, va_list args)                                  \
    {                                                                                              \
        return scan(WIO_CALL_##symbol_v, CAP_CALLER(), CAP_REAL(symbol_vf), stdin, format, args);  \
    }

SCAN_FAMILY(__isoc99_, __isoc99_fscanf, __isoc99_scanf, __isoc99_vfscanf, __isoc99_vscanf)
SCAN_FAMILY(__isoc23_, __isoc23_fscanf, __isoc23_scanf, __isoc23_vfscanf, __isoc23_vscanf)

/* Headers redirect the plain names to one of those above: they are exported by assembler name. */
int plain_fscanf(FILE *stream, const char *format, ...) __asm__("fscanf");
int plain_scanf(const char *format, ...) __asm__("scanf");
int plain_vfscanf(FILE *stream, const char *format, va_list args) __asm__("vfscanf");
int plain_vscanf(const char *format, va_list args) __asm__("vscanf");
SCAN_FAMILY(plain_, fscanf, scanf, vfscanf, vscanf)
