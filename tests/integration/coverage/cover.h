/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coverage cases. A case calls one wrapped symbol by its name and says what the event must hold:
 *
 *     long done = CALL(LONG, "pwrite64", fd, buf, 100, 50);
 *     EXPECT("fd=%d path=%s offset=50 size=100", fd, path);
 *     (void)done;
 *
 * call, result and errno are always expected. What is not named is not compared, apart from fd,
 * path, path2, fd2, offset, offset2 and size: those must be absent where they are not named. "*"
 * stands for any value.
 *
 * Whatever a case needs besides its call goes by raw system calls (raw_*), so that the events of
 * the program are exactly its cases. Expectations are kept in memory and written to the file named
 * by argv[1] at the end.
 */
#ifndef WIO_TESTS_COVER_H
#define WIO_TESTS_COVER_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/rawcall.h"

/* How the result register is to be read. */
enum cover_kind { INT, LONG, POINTER, NOTHING, UNSIGNED };

struct cover_last {
    const char *symbol;
    long result; /* pointers: 0 = NULL, else 1 unless the case says otherwise */
    int error;
    bool error_is_result; /* set by a case: the call gave an error number */
};
extern struct cover_last cover_last;

long cover_call(enum cover_kind kind, const char *symbol, const long *args, size_t count);
void cover_expect(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Arguments are words: integers and pointers, as the calling convention passes them. */
#define CALL(kind, symbol, ...)                                                                    \
    cover_call(kind, symbol, (const long[]){__VA_ARGS__},                                          \
               sizeof((const long[]){__VA_ARGS__}) / sizeof(long))
#define CALL0(kind, symbol) cover_call(kind, symbol, (const long[]){0}, 0)
#define EXPECT(...) cover_expect(__VA_ARGS__)
#define EXPECT0() cover_expect("%s", "")
#define P(pointer) ((long)(uintptr_t)(pointer))

/* "DIR/name" in the directory that the test runs in; lives until the program ends. */
const char *in_dir(const char *name);

int raw_open(const char *path, int flags);
void raw_close(int fd);
/* Close what a case opened: a case of its own. "*" for a path that is not to be compared. */
void cover_close(long fd, const char *path);
void raw_write_file(const char *path, const char *text);
void raw_remove(const char *path);

int cover_main(int argc, char **argv, void (*const *cases)(void), size_t count);

#define COVER_MAIN(...)                                                                            \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static void (*const cases[])(void) = {__VA_ARGS__};                                        \
        return cover_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));                    \
    }

#endif
