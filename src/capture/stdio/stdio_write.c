/* SPDX-License-Identifier: Apache-2.0 */
/* stdio, giving bytes: fwrite, fputs, single characters. */
#include <stdio.h>
#include <string.h>

#include "capture/stdio/stdio_call.h"

#undef putc
#undef putchar
#undef putc_unlocked
#undef putchar_unlocked
#undef fputc_unlocked
#undef fwrite_unlocked

int _IO_putc(int c, FILE *stream);
int __overflow(FILE *stream, int c);

/* ---- blocks --------------------------------------------------------------------------------- */

#define FWRITE_WRAPPER(name)                                                                       \
    CAP_EXPORT size_t name(const void *buf, size_t size, size_t n, FILE *stream)                   \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        size_t done = CAP_REAL(name)(buf, size, n, stream);                                        \
        cap_stdio_end_write(&call, size *n, (int64_t)(size * done));                               \
        return done;                                                                               \
    }

FWRITE_WRAPPER(fwrite)
FWRITE_WRAPPER(fwrite_unlocked)

CAP_EXPORT int putw(int word, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_putw, CAP_CALLER());
    int result = CAP_REAL(putw)(word, stream);
    cap_stdio_end_write(&call, sizeof(word), result == 0 ? (int64_t)sizeof(word) : -1);
    return result;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static inline void end_fputs(struct cap_stdio_call *call, uint64_t bytes, int result)
{
    cap_stdio_end_write(call, bytes, result == EOF ? -1 : (int64_t)bytes);
}

#define FPUTS_WRAPPER(name)                                                                        \
    CAP_EXPORT int name(const char *text, FILE *stream)                                            \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        int result = CAP_REAL(name)(text, stream);                                                 \
        end_fputs(&call, call.self != NULL ? strlen(text) : 0, result);                            \
        return result;                                                                             \
    }

FPUTS_WRAPPER(fputs)
FPUTS_WRAPPER(fputs_unlocked)

CAP_EXPORT int puts(const char *text)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stdout, WIO_CALL_puts, CAP_CALLER());
    int result = CAP_REAL(puts)(text);
    end_fputs(&call, call.self != NULL ? strlen(text) + 1 : 0, result);
    return result;
}

/* ---- single characters ---------------------------------------------------------------------- */

static inline void end_putc(struct cap_stdio_call *call, int result)
{
    cap_stdio_end_write(call, 1, CAP_UNLIKELY(result == EOF) ? -1 : 1);
}

#define PUTC_WRAPPER(name)                                                                         \
    CAP_EXPORT int name(int c, FILE *stream)                                                       \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        int result = CAP_REAL(name)(c, stream);                                                    \
        end_putc(&call, result);                                                                   \
        return result;                                                                             \
    }

#define PUTCHAR_WRAPPER(name)                                                                      \
    CAP_EXPORT int name(int c)                                                                     \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stdout, WIO_CALL_##name, CAP_CALLER());                             \
        int result = CAP_REAL(name)(c);                                                            \
        end_putc(&call, result);                                                                   \
        return result;                                                                             \
    }

PUTC_WRAPPER(fputc)
PUTC_WRAPPER(fputc_unlocked)
PUTC_WRAPPER(putc)
PUTC_WRAPPER(putc_unlocked)
/* Old programs: putc was a macro over this until glibc 2.28. */
PUTC_WRAPPER(_IO_putc)
PUTCHAR_WRAPPER(putchar)
PUTCHAR_WRAPPER(putchar_unlocked)

/* putc_unlocked is compiled into programs and calls this where the buffer is full. */
CAP_EXPORT int __overflow(FILE *stream, int c)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL___overflow, CAP_CALLER());
    int result = CAP_REAL(__overflow)(stream, c);
    end_putc(&call, result);
    return result;
}
