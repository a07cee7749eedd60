/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio, formatted input: the scanf family, narrow and wide. A variadic wrapper hands its arguments
 * on to the real va_list form, which is what libc does inside as well.
 *
 * The bytes that were taken are both size and result. Of a wide stream they are not known: its
 * characters were converted before, in blocks; no size then, and result 0.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

#include "capture/stdio/stdio_call.h"

static int end_scan(struct cap_stdio_call *call, const FILE *stream, int64_t taken, int fields)
{
    if (call->self != NULL && taken > 0) {
        cap_stdio_end(call, stream, (uint64_t)taken, taken);
        return fields;
    }
    bool is_error = fields == EOF && call->self != NULL && cap_stdio_error(call, stream) != 0;
    bool is_measured = fields != EOF && !cap_stream_is_wide(stream);
    cap_stdio_end(call, stream, is_measured ? 0 : WIO_NO_SIZE, is_error ? -1 : 0);
    return fields;
}

typedef int scan_fn(FILE *stream, const char *format, va_list args);

static int scan(unsigned number, uintptr_t source, scan_fn *real, FILE *stream, const char *format,
                va_list args)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, number, source);
    int fields = real(stream, format, args);
    int64_t taken = call.self != NULL ? cap_stdio_taken(&call, stream, INT64_MAX) : 0;
    return end_scan(&call, stream, taken, fields);
}

typedef int wide_scan_fn(FILE *stream, const wchar_t *format, va_list args);

static int wide_scan(unsigned number, uintptr_t source, wide_scan_fn *real, FILE *stream,
                     const wchar_t *format, va_list args)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, number, source);
    return end_scan(&call, stream, 0, real(stream, format, args));
}

/* One family: fscanf, scanf, vfscanf, vscanf. Headers redirect plain names to newer ones, so all
 * are defined under names of our own and exported by their assembler names. */
#define SCAN_FAMILY(name, letter, perform, symbol_f, symbol, symbol_vf, symbol_v)                  \
    int name##_f(FILE *stream, const letter *format, ...) __asm__(#symbol_f);                      \
    int name##_std(const letter *format, ...) __asm__(#symbol);                                    \
    int name##_vf(FILE *stream, const letter *format, va_list args) __asm__(#symbol_vf);           \
    int name##_v(const letter *format, va_list args) __asm__(#symbol_v);                           \
                                                                                                   \
    static perform##_fn *name##_real(void)                                                         \
    {                                                                                              \
        return (perform##_fn *)cap_real(WIO_CALL_##symbol_vf);                                     \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int name##_f(FILE *stream, const letter *format, ...)                               \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        int fields =                                                                               \
            perform(WIO_CALL_##symbol_f, CAP_CALLER(), name##_real(), stream, format, args);       \
        va_end(args);                                                                              \
        return fields;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int name##_std(const letter *format, ...)                                           \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        int fields = perform(WIO_CALL_##symbol, CAP_CALLER(), name##_real(), stdin, format, args); \
        va_end(args);                                                                              \
        return fields;                                                                             \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int name##_vf(FILE *stream, const letter *format, va_list args)                     \
    {                                                                                              \
        return perform(WIO_CALL_##symbol_vf, CAP_CALLER(), name##_real(), stream, format, args);   \
    }                                                                                              \
                                                                                                   \
    CAP_EXPORT int name##_v(const letter *format, va_list args)                                    \
    {                                                                                              \
        return perform(WIO_CALL_##symbol_v, CAP_CALLER(), name##_real(), stdin, format, args);     \
    }

SCAN_FAMILY(plain, char, scan, fscanf, scanf, vfscanf, vscanf)
SCAN_FAMILY(c99, char, scan, __isoc99_fscanf, __isoc99_scanf, __isoc99_vfscanf, __isoc99_vscanf)
SCAN_FAMILY(c23, char, scan, __isoc23_fscanf, __isoc23_scanf, __isoc23_vfscanf, __isoc23_vscanf)
SCAN_FAMILY(wide, wchar_t, wide_scan, fwscanf, wscanf, vfwscanf, vwscanf)
SCAN_FAMILY(wide_c99, wchar_t, wide_scan, __isoc99_fwscanf, __isoc99_wscanf, __isoc99_vfwscanf,
            __isoc99_vwscanf)
SCAN_FAMILY(wide_c23, wchar_t, wide_scan, __isoc23_fwscanf, __isoc23_wscanf, __isoc23_vfwscanf,
            __isoc23_vwscanf)
