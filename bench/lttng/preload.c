/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The baseline "LTTng-UST": a preloaded library of the plainest kind that records the calls of
 * bench/loops.c as LTTng events. LTTng itself wraps no file calls.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench_tp.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum call {
    CALL_PWRITE,
    CALL_PREAD,
    CALL_READ,
    CALL_FREAD,
    CALL_FWRITE,
    CALL_OPEN,
    CALL_CLOSE,
    CALL_STAT
};

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static ssize_t (*real_read)(int, void *, size_t);
static size_t (*real_fread)(void *, size_t, size_t, FILE *);
static size_t (*real_fwrite)(const void *, size_t, size_t, FILE *);
static int (*real_open)(const char *, int, ...);
static int (*real_close)(int);
static int (*real_stat)(const char *, struct stat *);

#define FIND(name) *(void **)&real_##name = dlsym(RTLD_NEXT, #name)

__attribute__((constructor(101))) static void find_real_calls(void)
{
    FIND(pwrite);
    FIND(pread);
    FIND(read);
    FIND(fread);
    FIND(fwrite);
    FIND(open);
    FIND(close);
    FIND(stat);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void emit(enum call call, int fd, int64_t offset, uint64_t size, int64_t result,
                 uint64_t begin)
{
    lttng_ust_tracepoint(whyio_bench, call, (int)call, fd, offset, size, result, begin);
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t offset)
{
    uint64_t begin = now_ns();
    ssize_t result = real_pwrite(fd, buf, size, offset);
    emit(CALL_PWRITE, fd, offset, size, result, begin);
    return result;
}

ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
    uint64_t begin = now_ns();
    ssize_t result = real_pread(fd, buf, size, offset);
    emit(CALL_PREAD, fd, offset, size, result, begin);
    return result;
}

ssize_t read(int fd, void *buf, size_t size)
{
    if (real_read == NULL) {
        FIND(read);
    }
    uint64_t begin = now_ns();
    ssize_t result = real_read(fd, buf, size);
    emit(CALL_READ, fd, -1, size, result, begin);
    return result;
}

size_t fread(void *buf, size_t size, size_t n, FILE *stream)
{
    uint64_t begin = now_ns();
    size_t result = real_fread(buf, size, n, stream);
    emit(CALL_FREAD, fileno(stream), -1, size * n, (int64_t)result, begin);
    return result;
}

size_t fwrite(const void *buf, size_t size, size_t n, FILE *stream)
{
    uint64_t begin = now_ns();
    size_t result = real_fwrite(buf, size, n, stream);
    emit(CALL_FWRITE, fileno(stream), -1, size * n, (int64_t)result, begin);
    return result;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(args, int) : 0;
    va_end(args);
    if (real_open == NULL) {
        FIND(open);
    }
    uint64_t begin = now_ns();
    int result = real_open(path, flags, mode);
    emit(CALL_OPEN, result, -1, 0, result, begin);
    return result;
}

int close(int fd)
{
    if (real_close == NULL) {
        FIND(close);
    }
    uint64_t begin = now_ns();
    int result = real_close(fd);
    emit(CALL_CLOSE, fd, -1, 0, result, begin);
    return result;
}

int stat(const char *path, struct stat *status)
{
    uint64_t begin = now_ns();
    int result = real_stat(path, status);
    emit(CALL_STAT, -1, -1, 0, result, begin);
    return result;
}
