/* SPDX-License-Identifier: Apache-2.0 */
/* stdio, moving about: seek, tell, flush, buffers. Few of them ask the kernel every time. */
#include <stdio.h>
#include <stdio_ext.h>

#include "capture/stdio/stdio_call.h"

/* ---- seek: offset = asked for, arg0 = whence --------------------------------------------------
 */

static void end_seek(struct cap_stdio_call *call, int64_t offset, int whence, int result)
{
    struct cap_ext ext = CAP_EXT;
    call->ev.offset = offset;
    ext.arg[0] = whence;
    cap_stdio_end_ext(call, result, &ext);
}

CAP_EXPORT int fseek(FILE *stream, long offset, int whence)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fseek, CAP_CALLER());
    int result = CAP_REAL(fseek)(stream, offset, whence);
    end_seek(&call, offset, whence, result);
    return result;
}

#define FSEEKO_WRAPPER(name, type)                                                                 \
    CAP_EXPORT int name(FILE *stream, type offset, int whence)                                     \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        int result = CAP_REAL(name)(stream, offset, whence);                                       \
        end_seek(&call, offset, whence, result);                                                   \
        return result;                                                                             \
    }

FSEEKO_WRAPPER(fseeko, off_t)
FSEEKO_WRAPPER(fseeko64, off64_t)

/* fpos_t is opaque, but its first member has been the offset since glibc 2.0. */
#define FSETPOS_WRAPPER(name, type)                                                                \
    CAP_EXPORT int name(FILE *stream, const type *position)                                        \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        int result = CAP_REAL(name)(stream, position);                                             \
        end_seek(&call, position->__pos, SEEK_SET, result);                                        \
        return result;                                                                             \
    }

FSETPOS_WRAPPER(fsetpos, fpos_t)
FSETPOS_WRAPPER(fsetpos64, fpos64_t)

/* rewind tells no result, but fails where seeking does; errno is then set by that. */
CAP_EXPORT void rewind(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_rewind, CAP_CALLER());
    CAP_REAL(rewind)(stream);
    bool is_failed = call.self != NULL && cap_stdio.failed != call.failed;
    end_seek(&call, 0, SEEK_SET, is_failed ? -1 : 0);
}

/* ---- tell: offset = result = the position -----------------------------------------------------
 */

static void end_tell(struct cap_stdio_call *call, int64_t position)
{
    call->ev.offset = position >= 0 ? position : WIO_NO_OFFSET;
    call->ev.result = position;
    if (position < 0 && call->self != NULL) {
        call->ev.error = errno;
    }
    cap_stdio_leave(call);
}

#define FTELL_WRAPPER(name, type)                                                                  \
    CAP_EXPORT type name(FILE *stream)                                                             \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        type position = CAP_REAL(name)(stream);                                                    \
        end_tell(&call, position);                                                                 \
        return position;                                                                           \
    }

FTELL_WRAPPER(ftell, long)
FTELL_WRAPPER(ftello, off_t)
FTELL_WRAPPER(ftello64, off64_t)

#define FGETPOS_WRAPPER(name, type)                                                                \
    CAP_EXPORT int name(FILE *stream, type *position)                                              \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        int result = CAP_REAL(name)(stream, position);                                             \
        end_tell(&call, result == 0 ? position->__pos : -1);                                       \
        return result;                                                                             \
    }

FGETPOS_WRAPPER(fgetpos, fpos_t)
FGETPOS_WRAPPER(fgetpos64, fpos64_t)

/* ---- flush ------------------------------------------------------------------------------------
 */

static void begin_all(struct cap_stdio_call *call, unsigned number, uintptr_t source)
{
    cap_stdio_push(call, source);
    call->self = cap_enter(source, number);
    call->ev = CAP_EVENT_OF(number, source);
    if (call->self != NULL) {
        call->ev.begin = cap_begin(call->self);
    }
}

static void begin_flush(struct cap_stdio_call *call, FILE *stream, unsigned number,
                        uintptr_t source)
{
    if (stream == NULL) {
        begin_all(call, number, source);
        return;
    }
    cap_stdio_begin(call, stream, number, source);
    call->ev.offset = WIO_NO_OFFSET;
}

#define FFLUSH_WRAPPER(name)                                                                       \
    CAP_EXPORT int name(FILE *stream)                                                              \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        begin_flush(&call, stream, WIO_CALL_##name, CAP_CALLER());                                 \
        int result = CAP_REAL(name)(stream);                                                       \
        cap_stdio_end_status(&call, result);                                                       \
        return result;                                                                             \
    }

FFLUSH_WRAPPER(fflush)
FFLUSH_WRAPPER(fflush_unlocked)

CAP_EXPORT void _flushlbf(void)
{
    struct cap_stdio_call call;
    begin_all(&call, WIO_CALL__flushlbf, CAP_CALLER());
    CAP_REAL(_flushlbf)();
    cap_stdio_end_status(&call, 0);
}

/* Flushes every stream, and closes none (glibc). */
CAP_EXPORT int fcloseall(void)
{
    struct cap_stdio_call call;
    begin_all(&call, WIO_CALL_fcloseall, CAP_CALLER());
    int result = CAP_REAL(fcloseall)();
    cap_stdio_end_status(&call, result);
    return result;
}

/* ---- buffers: size = of the buffer, arg0 = mode ------------------------------------------------
 */

static void end_buffer(struct cap_stdio_call *call, int mode, uint64_t size, int result)
{
    struct cap_ext ext = CAP_EXT;
    call->ev.offset = WIO_NO_OFFSET;
    call->ev.size = size;
    ext.arg[0] = mode;
    cap_stdio_end_ext(call, result, &ext);
}

CAP_EXPORT int setvbuf(FILE *stream, char *buf, int mode, size_t size)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_setvbuf, CAP_CALLER());
    int result = CAP_REAL(setvbuf)(stream, buf, mode, size);
    end_buffer(&call, mode, size, result);
    return result;
}

CAP_EXPORT void setbuf(FILE *stream, char *buf)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_setbuf, CAP_CALLER());
    CAP_REAL(setbuf)(stream, buf);
    end_buffer(&call, buf != NULL ? _IOFBF : _IONBF, buf != NULL ? BUFSIZ : 0, 0);
}

CAP_EXPORT void setbuffer(FILE *stream, char *buf, size_t size)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_setbuffer, CAP_CALLER());
    CAP_REAL(setbuffer)(stream, buf, size);
    end_buffer(&call, buf != NULL ? _IOFBF : _IONBF, buf != NULL ? size : 0, 0);
}

CAP_EXPORT void setlinebuf(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_setlinebuf, CAP_CALLER());
    CAP_REAL(setlinebuf)(stream);
    end_buffer(&call, _IOLBF, 0, 0);
}
