/* SPDX-License-Identifier: Apache-2.0 */
/* stdio, taking bytes: fread, fgets, getline, single characters, and pushing one back. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "capture/stdio_call.h"

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

static inline void end_fread(struct cap_stdio_call *call, const FILE *stream, uint64_t size,
                             uint64_t done)
{
    int64_t taken = -1;
    if (CAP_UNLIKELY(done != size) && call->self != NULL) {
        taken = cap_stdio_taken(call, stream, (int64_t)size);
    }
    cap_stdio_end(call, stream, size, taken >= 0 ? taken : (int64_t)done);
}

CAP_EXPORT size_t fread(void *buf, size_t size, size_t n, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fread, CAP_CALLER());
    size_t done = CAP_REAL(fread)(buf, size, n, stream);
    end_fread(&call, stream, size * n, size * done);
    return done;
}

CAP_EXPORT size_t fread_unlocked(void *buf, size_t size, size_t n, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fread_unlocked, CAP_CALLER());
    size_t done = CAP_REAL(fread_unlocked)(buf, size, n, stream);
    end_fread(&call, stream, size * n, size * done);
    return done;
}

CAP_EXPORT size_t __fread_chk(void *buf, size_t room, size_t size, size_t n, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL___fread_chk, CAP_CALLER());
    size_t done = CAP_REAL(__fread_chk)(buf, room, size, n, stream);
    end_fread(&call, stream, size * n, size * done);
    return done;
}

CAP_EXPORT size_t __fread_unlocked_chk(void *buf, size_t room, size_t size, size_t n, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL___fread_unlocked_chk, CAP_CALLER());
    size_t done = CAP_REAL(__fread_unlocked_chk)(buf, room, size, n, stream);
    end_fread(&call, stream, size * n, size * done);
    return done;
}

CAP_EXPORT int getw(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_getw, CAP_CALLER());
    int word = CAP_REAL(getw)(stream);
    int64_t taken = call.self != NULL ? cap_stdio_taken(&call, stream, sizeof(word)) : 0;
    cap_stdio_end(&call, stream, sizeof(word), taken);
    return word;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* A line may hold NUL bytes: what left the stream is its true length. */
static void end_fgets(struct cap_stdio_call *call, const FILE *stream, int64_t size,
                      const char *line)
{
    int64_t result = 0;
    if (call->self != NULL) {
        result = cap_stdio_taken(call, stream, size);
        if (result < 0) {
            result = line != NULL ? (int64_t)strlen(line) : 0;
        }
        if (line == NULL && cap_stdio_error(call, stream) != 0) {
            result = -1;
        }
    }
    cap_stdio_end(call, stream, (uint64_t)size, result);
}

CAP_EXPORT char *fgets(char *buf, int size, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fgets, CAP_CALLER());
    char *line = CAP_REAL(fgets)(buf, size, stream);
    end_fgets(&call, stream, size > 0 ? size - 1 : 0, line);
    return line;
}

CAP_EXPORT char *fgets_unlocked(char *buf, int size, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fgets_unlocked, CAP_CALLER());
    char *line = CAP_REAL(fgets_unlocked)(buf, size, stream);
    end_fgets(&call, stream, size > 0 ? size - 1 : 0, line);
    return line;
}

CAP_EXPORT char *__fgets_chk(char *buf, size_t room, int size, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL___fgets_chk, CAP_CALLER());
    char *line = CAP_REAL(__fgets_chk)(buf, room, size, stream);
    end_fgets(&call, stream, size > 0 ? size - 1 : 0, line);
    return line;
}

CAP_EXPORT char *__fgets_unlocked_chk(char *buf, size_t room, int size, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL___fgets_unlocked_chk, CAP_CALLER());
    char *line = CAP_REAL(__fgets_unlocked_chk)(buf, room, size, stream);
    end_fgets(&call, stream, size > 0 ? size - 1 : 0, line);
    return line;
}

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

CAP_EXPORT ssize_t getdelim(char **line, size_t *room, int delimiter, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_getdelim, CAP_CALLER());
    ssize_t length = CAP_REAL(getdelim)(line, room, delimiter, stream);
    end_getline(&call, stream, length);
    return length;
}

CAP_EXPORT ssize_t __getdelim(char **line, size_t *room, int delimiter, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL___getdelim, CAP_CALLER());
    ssize_t length = CAP_REAL(__getdelim)(line, room, delimiter, stream);
    end_getline(&call, stream, length);
    return length;
}

/* ---- single characters ---------------------------------------------------------------------- */

static inline void end_getc(struct cap_stdio_call *call, const FILE *stream, int c)
{
    int64_t result = 1;
    if (CAP_UNLIKELY(c == EOF) && call->self != NULL) {
        result = cap_stdio_error(call, stream) != 0 ? -1 : 0;
    }
    cap_stdio_end(call, stream, 1, result);
}

CAP_EXPORT int fgetc(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fgetc, CAP_CALLER());
    int c = CAP_REAL(fgetc)(stream);
    end_getc(&call, stream, c);
    return c;
}

CAP_EXPORT int fgetc_unlocked(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_fgetc_unlocked, CAP_CALLER());
    int c = CAP_REAL(fgetc_unlocked)(stream);
    end_getc(&call, stream, c);
    return c;
}

CAP_EXPORT int getc(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_getc, CAP_CALLER());
    int c = CAP_REAL(getc)(stream);
    end_getc(&call, stream, c);
    return c;
}

CAP_EXPORT int getc_unlocked(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_getc_unlocked, CAP_CALLER());
    int c = CAP_REAL(getc_unlocked)(stream);
    end_getc(&call, stream, c);
    return c;
}

/* Old programs: getc was a macro over this until glibc 2.28. */
CAP_EXPORT int _IO_getc(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL__IO_getc, CAP_CALLER());
    int c = CAP_REAL(_IO_getc)(stream);
    end_getc(&call, stream, c);
    return c;
}

/* getc_unlocked is compiled into programs and calls this where the buffer is empty: the one in
 * thousands of them that can be seen, and the source of the read that it causes. */
CAP_EXPORT int __uflow(FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL___uflow, CAP_CALLER());
    int c = CAP_REAL(__uflow)(stream);
    end_getc(&call, stream, c);
    return c;
}

CAP_EXPORT int getchar(void)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stdin, WIO_CALL_getchar, CAP_CALLER());
    int c = CAP_REAL(getchar)();
    end_getc(&call, stdin, c);
    return c;
}

CAP_EXPORT int getchar_unlocked(void)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stdin, WIO_CALL_getchar_unlocked, CAP_CALLER());
    int c = CAP_REAL(getchar_unlocked)();
    end_getc(&call, stdin, c);
    return c;
}

CAP_EXPORT int ungetc(int c, FILE *stream)
{
    struct cap_stdio_call call;
    cap_stdio_begin(&call, stream, WIO_CALL_ungetc, CAP_CALLER());
    int result = CAP_REAL(ungetc)(c, stream);
    cap_stdio_end(&call, stream, 1, result == EOF ? -1 : 1);
    return result;
}
