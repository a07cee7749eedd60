/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that capture makes for itself, typed. They go past libc: never recorded, never
 * a cancellation point, errno untouched. Each returns the kernel's result (-errno on failure).
 * Signal safe, thread safe.
 */
#ifndef WIO_CAPTURE_CORE_RAW_H
#define WIO_CAPTURE_CORE_RAW_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/rawcall.h"

/* The program took system calls away from itself (seccomp.c): all of these fail with EPERM. */
extern bool cap_is_confined __attribute__((visibility("hidden")));

/* NOLINTNEXTLINE(readability-function-size): as many as the kernel takes */
static inline long raw_call6(long number, long a, long b, long c, long d, long e, long f)
{
    bool is_allowed = !__atomic_load_n(&cap_is_confined, __ATOMIC_RELAXED);
    return __builtin_expect(is_allowed, 1) ? wio_rawcall6(number, a, b, c, d, e, f) : -EPERM;
}

static inline long raw_call4(long number, long a, long b, long c, long d)
{
    return raw_call6(number, a, b, c, d, 0, 0);
}

static inline long raw_call3(long number, long a, long b, long c)
{
    return raw_call6(number, a, b, c, 0, 0, 0);
}

static inline long raw_openat(int dirfd, const char *path, int flags, unsigned mode)
{
    return raw_call4(SYS_openat, dirfd, (long)path, flags, (long)mode);
}

static inline long raw_close(int fd)
{
    return raw_call3(SYS_close, fd, 0, 0);
}

static inline long raw_read(int fd, void *buf, size_t size)
{
    return raw_call3(SYS_read, fd, (long)buf, (long)size);
}

static inline long raw_pread(int fd, void *buf, size_t size, uint64_t offset)
{
    return raw_call4(SYS_pread64, fd, (long)buf, (long)size, (long)offset);
}

static inline long raw_pwrite(int fd, const void *buf, size_t size, uint64_t offset)
{
    return raw_call4(SYS_pwrite64, fd, (long)buf, (long)size, (long)offset);
}

static inline long raw_lseek(int fd, int64_t offset, int whence)
{
    return raw_call3(SYS_lseek, fd, offset, whence);
}

static inline long raw_fcntl(int fd, int command, long argument)
{
    return raw_call3(SYS_fcntl, fd, command, argument);
}

static inline long raw_pwritev(int fd, const struct iovec *parts, size_t count, uint64_t offset)
{
    return raw_call6(SYS_pwritev, fd, (long)parts, (long)count, (long)offset, 0, 0);
}

static inline long raw_getcwd(char *text, size_t size)
{
    return raw_call3(SYS_getcwd, (long)text, (long)size, 0);
}

static inline long raw_readlink(const char *path, char *text, size_t size)
{
    return raw_call4(SYS_readlinkat, AT_FDCWD, (long)path, (long)text, (long)size);
}

static inline int raw_getpid(void)
{
    return (int)raw_call3(SYS_getpid, 0, 0, 0);
}

static inline int raw_getppid(void)
{
    return (int)raw_call3(SYS_getppid, 0, 0, 0);
}

static inline int raw_gettid(void)
{
    return (int)raw_call3(SYS_gettid, 0, 0, 0);
}

/* The kernel's struct stat is glibc's on 64-bit machines. */
static inline long raw_fstat(int fd, struct stat *st)
{
    return raw_call3(SYS_fstat, fd, (long)st, 0);
}

/* The type bits of a file's mode, without asking a server for them; 0: none, as of an eventfd; -1:
 * not known. Kernels before 4.11, and some filters of system calls, have no statx(2). */
static inline int64_t raw_file_type(int fd)
{
    struct statx now = {0};
    struct stat st = {0};
    if (raw_call6(SYS_statx, fd, (long)"", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE,
                  (long)&now, 0) == 0) {
        return now.stx_mode & S_IFMT;
    }
    return raw_fstat(fd, &st) == 0 ? (int64_t)(st.st_mode & S_IFMT) : -1;
}

/* NULL on failure. */
static inline void *raw_mmap(size_t size, int protection, int flags, int fd, uint64_t offset)
{
    long address = raw_call6(SYS_mmap, 0, (long)size, protection, flags, fd, (long)offset);
    return address < 0 && address > -4096 ? NULL : (void *)address;
}

static inline long raw_munmap(void *address, size_t size)
{
    return raw_call3(SYS_munmap, (long)address, (long)size, 0);
}

static inline long raw_madvise(void *address, size_t size, int advice)
{
    return raw_call3(SYS_madvise, (long)address, (long)size, advice);
}

static inline void raw_yield(void)
{
    (void)raw_call3(SYS_sched_yield, 0, 0, 0);
}

/* No mask that the kernel gives holds SIGKILL. */
#define RAW_NOT_BLOCKED (1ull << 8)

/* Block every signal (the kernel's 64), remember the mask; the pair brackets what a signal handler
 * must not see half done. */
static inline uint64_t raw_block_signals(void)
{
    uint64_t all = ~0ull;
    uint64_t old = 0;
    long result = raw_call4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&all, (long)&old, 8);
    return result == 0 ? old : RAW_NOT_BLOCKED;
}

/* Also where another thread has confined the process meanwhile. */
static inline void raw_restore_signals(uint64_t old)
{
    if (old != RAW_NOT_BLOCKED) {
        (void)wio_rawcall4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&old, 0, 8);
    }
}

#endif
