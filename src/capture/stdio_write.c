/* SPDX-License-Identifier: Apache-2.0 */
/* stdio, giving bytes: fwrite, fputs, single characters. */
#include <stdio.h>
#include <string.h>

#include "capture/stdio_call.h"

#undef putc
#undef putchar
#undef putc_unlocked
#undef putchar_unlocked
#undef fputc_unlocked
#undef fwrite_unlocked

int _IO_putc(int c, FILE *stream);
int __overflow(FILE *stream, int c);

/* ---- blocks --------------------------------------------------------------------------------- */

CAP_EXPORT size_t fwrite(const void *buf, size_t size, size_t n, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fwrite, CAP_CALLER());
    size_t done = CAP_REAL(fwrite)(buf, size, n, stream);
    cap_stdio_end_write(&call, size * n, (int64_t)(size * done));
    return done;
}

CAP_EXPORT size_t fwrite_unlocked(const void *buf, size_t size, size_t n, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fwrite_unlocked, CAP_CALLER());
    size_t done = CAP_REAL(fwrite_unlocked)(buf, size, n, stream);
    cap_stdio_end_write(&call, size * n, (int64_t)(size * done));
    return done;
}

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

CAP_EXPORT int fputs(const char *text, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fputs, CAP_CALLER());
    int result = CAP_REAL(fputs)(text, stream);
    end_fputs(&call, call.self != NULL ? strlen(text) : 0, result);
    return result;
}

CAP_EXPORT int fputs_unlocked(const char *text, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fputs_unlocked, CAP_CALLER());
    int result = CAP_REAL(fputs_unlocked)(text, stream);
    end_fputs(&call, call.self != NULL ? strlen(text) : 0, result);
    return result;
}

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

CAP_EXPORT int fputc(int c, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fputc, CAP_CALLER());
    int result = CAP_REAL(fputc)(c, stream);
    end_putc(&call, result);
    return result;
}

CAP_EXPORT int fputc_unlocked(int c, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fputc_unlocked, CAP_CALLER());
    int result = CAP_REAL(fputc_unlocked)(c, stream);
    end_putc(&call, result);
    return result;
}

CAP_EXPORT int putc(int c, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_putc, CAP_CALLER());
    int result = CAP_REAL(putc)(c, stream);
    end_putc(&call, result);
    return result;
}

CAP_EXPORT int putc_unlocked(int c, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_putc_unlocked, CAP_CALLER());
    int result = CAP_REAL(putc_unlocked)(c, stream);
    end_putc(&call, result);
    return result;
}

/* Old programs: putc was a macro over this until glibc 2.28. */
CAP_EXPORT int _IO_putc(int c, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL__IO_putc, CAP_CALLER());
    int result = CAP_REAL(_IO_putc)(c, stream);
    end_putc(&call, result);
    return result;
}

/* putc_unlocked is compiled into programs and calls this where the buffer is full. */
CAP_EXPORT int __overflow(FILE *stream, int c)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL___overflow, CAP_CALLER());
    int result = CAP_REAL(__overflow)(stream, c);
    end_putc(&call, result);
    return result;
}

CAP_EXPORT int putchar(int c)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stdout, WIO_CALL_putchar, CAP_CALLER());
    int result = CAP_REAL(putchar)(c);
    end_putc(&call, result);
    return result;
}

CAP_EXPORT int putchar_unlocked(int c)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stdout, WIO_CALL_putchar_unlocked, CAP_CALLER());
    int result = CAP_REAL(putchar_unlocked)(c);
    end_putc(&call, result);
    return result;
}
