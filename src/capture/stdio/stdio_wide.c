/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio, wide characters. Events count bytes, so each character counts as the bytes that it has in
 * the file (its multibyte form in the current locale).
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "capture/stdio/stdio_call.h"

#undef getwc
#undef getwchar
#undef putwc
#undef putwchar

wchar_t *__fgetws_chk(wchar_t *buf, size_t room, int size, FILE *stream);
wchar_t *__fgetws_unlocked_chk(wchar_t *buf, size_t room, int size, FILE *stream);

static int64_t wide_bytes(wint_t c)
{
    CAP_KEEP_ERRNO;
    char text[MB_LEN_MAX];
    mbstate_t state;
    memset(&state, 0, sizeof(state));
    size_t bytes = wcrtomb(text, (wchar_t)c, &state);
    return bytes == (size_t)-1 ? 1 : (int64_t)bytes;
}

static int64_t wide_text_bytes(const wchar_t *text)
{
    int64_t bytes = 0;
    for (; *text != L'\0'; text++) {
        bytes += wide_bytes((wint_t)*text);
    }
    return bytes;
}

/* ---- reading -------------------------------------------------------------------------------- */

static void end_getwc(struct cap_stdio_call *call, const FILE *stream, wint_t c)
{
    int64_t bytes = 0;
    if (call->self != NULL) {
        bytes = c != WEOF ? wide_bytes(c) : -(cap_stdio_error(call, stream) != 0);
    }
    cap_stdio_end(call, stream, bytes > 0 ? (uint64_t)bytes : 1, bytes);
}

#define GETWC_WRAPPER(name)                                                                        \
    CAP_EXPORT wint_t name(FILE *stream)                                                           \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        wint_t c = CAP_REAL(name)(stream);                                                         \
        end_getwc(&call, stream, c);                                                               \
        return c;                                                                                  \
    }

#define GETWCHAR_WRAPPER(name)                                                                     \
    CAP_EXPORT wint_t name(void)                                                                   \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stdin, WIO_CALL_##name, CAP_CALLER());                              \
        wint_t c = CAP_REAL(name)();                                                               \
        end_getwc(&call, stdin, c);                                                                \
        return c;                                                                                  \
    }

GETWC_WRAPPER(fgetwc)
GETWC_WRAPPER(fgetwc_unlocked)
GETWC_WRAPPER(getwc)
GETWC_WRAPPER(getwc_unlocked)
GETWCHAR_WRAPPER(getwchar)
GETWCHAR_WRAPPER(getwchar_unlocked)

static void end_fgetws(struct cap_stdio_call *call, const FILE *stream, const wchar_t *line)
{
    int64_t bytes = 0;
    if (call->self != NULL) {
        bytes = line != NULL ? wide_text_bytes(line) : -(cap_stdio_error(call, stream) != 0);
    }
    cap_stdio_end(call, stream, bytes > 0 ? (uint64_t)bytes : 1, bytes);
}

#define FGETWS_WRAPPER(name)                                                                       \
    CAP_EXPORT wchar_t *name(wchar_t *buf, int size, FILE *stream)                                 \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        wchar_t *line = CAP_REAL(name)(buf, size, stream);                                         \
        end_fgetws(&call, stream, line);                                                           \
        return line;                                                                               \
    }

#define FGETWS_CHK_WRAPPER(name)                                                                   \
    CAP_EXPORT wchar_t *name(wchar_t *buf, size_t room, int size, FILE *stream)                    \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        wchar_t *line = CAP_REAL(name)(buf, room, size, stream);                                   \
        end_fgetws(&call, stream, line);                                                           \
        return line;                                                                               \
    }

FGETWS_WRAPPER(fgetws)
FGETWS_WRAPPER(fgetws_unlocked)
FGETWS_CHK_WRAPPER(__fgetws_chk)
FGETWS_CHK_WRAPPER(__fgetws_unlocked_chk)

CAP_EXPORT wint_t ungetwc(wint_t c, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_ungetwc, CAP_CALLER());
    wint_t result = CAP_REAL(ungetwc)(c, stream);
    int64_t bytes = result != WEOF ? wide_bytes(c) : -1;
    cap_stdio_end(&call, stream, bytes > 0 ? (uint64_t)bytes : 1, bytes);
    return result;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void end_putwc(struct cap_stdio_call *call, wint_t asked, wint_t result)
{
    int64_t bytes = call->self != NULL ? wide_bytes(asked) : 0;
    cap_stdio_end_write(call, (uint64_t)bytes, result == WEOF ? -1 : bytes);
}

#define PUTWC_WRAPPER(name)                                                                        \
    CAP_EXPORT wint_t name(wchar_t c, FILE *stream)                                                \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        wint_t result = CAP_REAL(name)(c, stream);                                                 \
        end_putwc(&call, (wint_t)c, result);                                                       \
        return result;                                                                             \
    }

#define PUTWCHAR_WRAPPER(name)                                                                     \
    CAP_EXPORT wint_t name(wchar_t c)                                                              \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stdout, WIO_CALL_##name, CAP_CALLER());                             \
        wint_t result = CAP_REAL(name)(c);                                                         \
        end_putwc(&call, (wint_t)c, result);                                                       \
        return result;                                                                             \
    }

PUTWC_WRAPPER(fputwc)
PUTWC_WRAPPER(fputwc_unlocked)
PUTWC_WRAPPER(putwc)
PUTWC_WRAPPER(putwc_unlocked)
PUTWCHAR_WRAPPER(putwchar)
PUTWCHAR_WRAPPER(putwchar_unlocked)

#define FPUTWS_WRAPPER(name)                                                                       \
    CAP_EXPORT int name(const wchar_t *text, FILE *stream)                                         \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        int result = CAP_REAL(name)(text, stream);                                                 \
        int64_t bytes = call.self != NULL ? wide_text_bytes(text) : 0;                             \
        cap_stdio_end_write(&call, (uint64_t)bytes, result == -1 ? -1 : bytes);                    \
        return result;                                                                             \
    }

FPUTWS_WRAPPER(fputws)
FPUTWS_WRAPPER(fputws_unlocked)
