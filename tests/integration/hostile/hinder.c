/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into whyio, makes calls of libc fail or wait:
 *   HINDER_REMOVE=SUFFIX   unlinkat and renameat of a name that ends so fail with EPERM
 *   HINDER_WRITE=PREFIX    openat with O_CREAT of a name that begins so fails with ENOSPC
 *   HINDER_NAME=SUFFIX     the first renameat of a name that ends so waits as HINDER_WAIT does
 *   HINDER_FLUSH=1         fsync fails with ENOSPC
 *   HINDER_ALLOC=N         the N-th allocation fails
 *   HINDER_OPEN=SUFFIX     before the HINDER_NTH-th openat of a name that ends so, the same wait as
 *   HINDER_WAIT=SUFFIX     the first unlinkat or renameat2 of a name that ends so makes the file
 *                          HINDER_HERE and waits until HINDER_GO is there
 */
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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static bool ends_so(const char *name, const char *setting)
{
    const char *suffix = getenv(setting);
    size_t have = strlen(name);
    return suffix != NULL && have >= strlen(suffix) &&
           strcmp(name + have - strlen(suffix), suffix) == 0;
}

static void wait_here(void)
{
    const struct timespec moment = {.tv_nsec = 5000000};
    (void)close(open(getenv("HINDER_HERE"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    while (access(getenv("HINDER_GO"), F_OK) != 0) {
        (void)nanosleep(&moment, NULL);
    }
}

static void wait_at(const char *name)
{
    static bool has_waited;
    if (!has_waited && ends_so(name, "HINDER_WAIT")) {
        has_waited = true;
        wait_here();
    }
}

static void wait_at_open(const char *name)
{
    static long count;
    const char *nth = getenv("HINDER_NTH");
    if (nth != NULL && ends_so(name, "HINDER_OPEN") && ++count == strtol(nth, NULL, 10)) {
        wait_here();
    }
}

int unlinkat(int dir, const char *name, int flags)
{
    wait_at(name);
    if (ends_so(name, "HINDER_REMOVE")) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_unlinkat, dir, name, flags);
}

int renameat(int from, const char *name, int to, const char *fresh)
{
    if (ends_so(name, "HINDER_NAME")) {
        wait_here();
    }
    if (ends_so(name, "HINDER_REMOVE")) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_renameat2, from, name, to, fresh, 0);
}

int renameat2(int from, const char *name, int to, const char *fresh, unsigned flags)
{
    wait_at(name);
    return (int)syscall(SYS_renameat2, from, name, to, fresh, flags);
}

int openat(int dir, const char *name, int flags, ...)
{
    const char *prefix = getenv("HINDER_WRITE");
    va_list args;
    wait_at_open(name);
    va_start(args, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(args, int) : 0;
    va_end(args);
    if (prefix != NULL && (flags & O_CREAT) != 0 && strncmp(name, prefix, strlen(prefix)) == 0) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_openat, dir, name, flags, mode);
}

int fsync(int fd)
{
    if (getenv("HINDER_FLUSH") != NULL) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

static bool fails(void)
{
    static uint64_t count;
    static int64_t last = -1;
    if (last < 0) {
        const char *setting = getenv("HINDER_ALLOC");
        last = setting == NULL ? INT64_MAX : strtoll(setting, NULL, 10);
    }
    bool is_over = ++count == (uint64_t)last;
    errno = is_over ? ENOMEM : errno;
    return is_over;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
