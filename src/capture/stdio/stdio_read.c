/* SPDX-License-Identifier: Apache-2.0 */
/* stdio, taking bytes: fread, fgets, getline, single characters, and pushing one back. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "capture/stdio/stdio_call.h"

#undef getc
#undef getchar
#undef getc_unlocked
#undef getchar_unlocked
#undef fgetc_unlocked
#undef fread_unlocked

/* Fortified and retired forms are in no header of their own. */
size_t __fread_chk(void *buf, size_t room, size_t size, size_t n, FILE *stream);
size_t __fread_unlocked_chk(void *buf, size_t room, size_t size, size_t n, FILE *stream);
char *__fgets_chk(char *buf, size_t room, int size, FILE *stream);
char *__fgets_unlocked_chk(char *buf, size_t room, int size, FILE *stream);
int _IO_getc(FILE *stream);
int __uflow(FILE *stream);
char *gets(char *buf);
char *__gets_chk(char *buf, size_t room);

/* ---- blocks --------------------------------------------------------------------------------- */

/* Of a last, partial element some bytes may have come. Where another thread reads the stream at
 * the same moment it is not known whose they are: then no more than an element is believed. */
static inline void end_fread(struct cap_stdio_call *call, const FILE *stream, size_t element,
                             size_t asked, size_t done)
{
    int64_t size = (int64_t)(element * asked);
    int64_t bytes = (int64_t)(element * done);
    if (CAP_UNLIKELY(bytes != size) && call->self != NULL) {
        int64_t taken = cap_stdio_taken(call, stream, size);
        bytes = taken > bytes && taken - bytes < (int64_t)element ? taken : bytes;
    }
    cap_stdio_end(call, stream, (uint64_t)size, bytes);
}

#define FREAD_WRAPPER(name)                                                                        \
    CAP_EXPORT size_t name(void *buf, size_t size, size_t n, FILE *stream)                         \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        size_t done = CAP_REAL(name)(buf, size, n, stream);                                        \
        end_fread(&call, stream, size, n, done);                                                   \
        return done;                                                                               \
    }

#define FREAD_CHK_WRAPPER(name)                                                                    \
    CAP_EXPORT size_t name(void *buf, size_t room, size_t size, size_t n, FILE *stream)            \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        size_t done = CAP_REAL(name)(buf, room, size, n, stream);                                  \
        end_fread(&call, stream, size, n, done);                                                   \
        return done;                                                                               \
    }

FREAD_WRAPPER(fread)
FREAD_WRAPPER(fread_unlocked)
FREAD_CHK_WRAPPER(__fread_chk)
FREAD_CHK_WRAPPER(__fread_unlocked_chk)

CAP_EXPORT int getw(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_getw, CAP_CALLER());
    int word = CAP_REAL(getw)(stream);
    int64_t taken = call.self != NULL ? cap_stdio_taken(&call, stream, sizeof(word)) : 0;
    cap_stdio_end(&call, stream, sizeof(word), taken >= 0 ? taken : (int64_t)sizeof(word));
    return word;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* A line may hold NUL bytes: what left the stream is its true length, unless other threads read
 * the stream too; it must look like the end of a line, then. */
static int64_t line_bytes(const struct cap_stdio_call *call, FILE *stream, int64_t size,
                          const char *line)
{
    int64_t length = (int64_t)strlen(line);
    int64_t taken = cap_stdio_taken(call, stream, size);
    bool is_ended = taken > length && line[taken] == '\0' &&
                    (taken == size || line[taken - 1] == '\n' || feof_unlocked(stream));
    return is_ended ? taken : length;
}

static void end_fgets(struct cap_stdio_call *call, FILE *stream, int64_t size, const char *line)
{
    int64_t result = 0;
    if (call->self != NULL && line != NULL) {
        result = line_bytes(call, stream, size, line);
    } else if (call->self != NULL) {
        result = cap_stdio_error(call, stream) != 0 ? -1 : 0;
    }
    cap_stdio_end(call, stream, (uint64_t)size, result);
}

#define FGETS_WRAPPER(name)                                                                        \
    CAP_EXPORT char *name(char *buf, int size, FILE *stream)                                       \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        char *line = CAP_REAL(name)(buf, size, stream);                                            \
        end_fgets(&call, stream, size > 0 ? size - 1 : 0, line);                                   \
        return line;                                                                               \
    }

#define FGETS_CHK_WRAPPER(name)                                                                    \
    CAP_EXPORT char *name(char *buf, size_t room, int size, FILE *stream)                          \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        char *line = CAP_REAL(name)(buf, room, size, stream);                                      \
        end_fgets(&call, stream, size > 0 ? size - 1 : 0, line);                                   \
        return line;                                                                               \
    }

FGETS_WRAPPER(fgets)
FGETS_WRAPPER(fgets_unlocked)
FGETS_CHK_WRAPPER(__fgets_chk)
FGETS_CHK_WRAPPER(__fgets_unlocked_chk)

/* gets says no size: what it took is what it asked for. It drops the newline that it takes. */
static void end_gets(struct cap_stdio_call *call, const char *line)
{
    int64_t taken = call->self != NULL ? cap_stdio_taken(call, stdin, INT64_MAX) : 0;
    taken = taken >= 0 ? taken : 0;
    cap_stdio_end(call, stdin, (uint64_t)taken + (line == NULL && taken == 0), taken);
}

CAP_EXPORT char *gets(char *buf)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stdin, WIO_CALL_gets, CAP_CALLER());
    char *line = CAP_REAL(gets)(buf);
    end_gets(&call, line);
    return line;
}

CAP_EXPORT char *__gets_chk(char *buf, size_t room)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stdin, WIO_CALL___gets_chk, CAP_CALLER());
    char *line = CAP_REAL(__gets_chk)(buf, room);
    end_gets(&call, line);
    return line;
}

/* The length of the line is both what was asked for and what came; at the end of the file 0. */
static void end_getline(struct cap_stdio_call *call, const FILE *stream, ssize_t length)
{
    if (length >= 0) {
        cap_stdio_end(call, stream, (uint64_t)length, length);
        return;
    }
    int error = call->self != NULL ? cap_stdio_error(call, stream) : 0;
    cap_stdio_end(call, stream, error != 0 ? WIO_NO_SIZE : 0, error != 0 ? -1 : 0);
}

CAP_EXPORT ssize_t getline(char **line, size_t *room, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_getline, CAP_CALLER());
    ssize_t length = CAP_REAL(getline)(line, room, stream);
    end_getline(&call, stream, length);
    return length;
}

#define GETDELIM_WRAPPER(name)                                                                     \
    CAP_EXPORT ssize_t name(char **line, size_t *room, int delimiter, FILE *stream)                \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        ssize_t length = CAP_REAL(name)(line, room, delimiter, stream);                            \
        end_getline(&call, stream, length);                                                        \
        return length;                                                                             \
    }

GETDELIM_WRAPPER(getdelim)
GETDELIM_WRAPPER(__getdelim)

/* ---- single characters ---------------------------------------------------------------------- */

static inline void end_getc(struct cap_stdio_call *call, const FILE *stream, int c)
{
    int64_t result = 1;
    if (CAP_UNLIKELY(c == EOF) && call->self != NULL) {
        result = cap_stdio_error(call, stream) != 0 ? -1 : 0;
    }
    cap_stdio_end(call, stream, 1, result);
}

#define GETC_WRAPPER(name)                                                                         \
    CAP_EXPORT int name(FILE *stream)                                                              \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stream, WIO_CALL_##name, CAP_CALLER());                             \
        int c = CAP_REAL(name)(stream);                                                            \
        end_getc(&call, stream, c);                                                                \
        return c;                                                                                  \
    }

#define GETCHAR_WRAPPER(name)                                                                      \
    CAP_EXPORT int name(void)                                                                      \
    {                                                                                              \
        struct cap_stdio_call call;                                                                \
        cap_stdio_begin(&call, stdin, WIO_CALL_##name, CAP_CALLER());                              \
        int c = CAP_REAL(name)();                                                                  \
        end_getc(&call, stdin, c);                                                                 \
        return c;                                                                                  \
    }

GETC_WRAPPER(fgetc)
GETC_WRAPPER(fgetc_unlocked)
GETC_WRAPPER(getc)
GETC_WRAPPER(getc_unlocked)
/* Old programs: getc was a macro over this until glibc 2.28. */
GETC_WRAPPER(_IO_getc)
/* getc_unlocked is compiled into programs and calls this where the buffer is empty: the one in
 * thousands of them that can be seen, and the source of the read that it causes. */
GETC_WRAPPER(__uflow)
GETCHAR_WRAPPER(getchar)
GETCHAR_WRAPPER(getchar_unlocked)

CAP_EXPORT int ungetc(int c, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_ungetc, CAP_CALLER());
    int result = CAP_REAL(ungetc)(c, stream);
    cap_stdio_end(&call, stream, 1, result == EOF ? -1 : 1);
    return result;
}
