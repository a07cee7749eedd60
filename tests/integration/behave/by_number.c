/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls by number as careful or careless programs make them: results are looked at as a
 * long, pointers are bad, structures too short. Prints each result and errno, which must be those
 * of libc's own syscall().
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BAD ((void *)1)
#define WORSE ((void *)-1)

#define TRY(name, ...)                                                                             \
    do {                                                                                           \
        errno = 0;                                                                                 \
        long result_ = syscall(SYS_##name, __VA_ARGS__);                                           \
        int error_ = errno;                                                                        \
        (void)printf(#name " %ld %d\n", result_, error_);                                          \
        (void)fflush(stdout);                                                                      \
    } while (0)

/* These are performed by functions with a result of 32 bits: -1 must arrive as -1. */
static void narrow_results(void)
{
    TRY(fcntl, -1, F_GETFD);
    TRY(ioctl, -1, 0, 0);
    TRY(close_range, 9, 3, 0);
    TRY(execve, "/nonexistent", NULL, NULL);
    TRY(execveat, AT_FDCWD, "nonexistent", NULL, NULL, 0);
    TRY(wait4, -1, NULL, 0, NULL);
    TRY(waitid, P_ALL, 0, NULL, WEXITED, NULL);
    TRY(prctl, -1, 0, 0, 0, 0);
    TRY(munmap, BAD, 1);
    TRY(madvise, BAD, 1, 9);
    TRY(msync, BAD, 1, 9);
    TRY(mmap, BAD, 0, 0, 0, -1, 0);
    TRY(mremap, BAD, 1, 1, 0, 0);
    TRY(seccomp, 99, 0, NULL);
}

static void bad_structures(void)
{
    TRY(openat2, -1, NULL, NULL, 0L);
    TRY(openat2, AT_FDCWD, "/", NULL, 24L);
    TRY(openat2, AT_FDCWD, "/", BAD, 8L);
    TRY(openat2, AT_FDCWD, "/", BAD, 100000L);
    TRY(clone3, WORSE, 0L);
    TRY(clone3, BAD, 64L);
    TRY(fcntl, -1, F_GETLK, BAD);
    TRY(io_submit, 0L, 1L, BAD);
    TRY(io_submit, 0L, 1L, WORSE);
    TRY(io_setup, 1, BAD);
    TRY(io_uring_setup, 4, BAD);
    TRY(io_uring_register, -1, 0, BAD, 1);
    TRY(execve, "/", BAD, BAD);
    TRY(execveat, -1, "", BAD, BAD, AT_EMPTY_PATH);
}

static void bad_texts(void)
{
    TRY(fgetxattr, -1, BAD, NULL, 0L);
    TRY(copy_file_range, -1, BAD, -1, BAD, 10L, 0);
    TRY(readv, -1, BAD, 3);
    TRY(writev, -1, BAD, -3);
    TRY(utimensat, -1, "x", BAD, 0);
    TRY(pipe2, BAD, 0);
    TRY(symlinkat, BAD, -1, "x");
    TRY(renameat2, -1, BAD, -1, BAD, 0);
    TRY(openat, -1, BAD, 0);
    TRY(statx, -1, BAD, 0, 0, BAD);
}

static void a_child(void)
{
    siginfo_t info = {0};
    pid_t pid = fork();
    if (pid == 0) {
        _exit(3);
    }
    TRY(waitid, P_PID, pid, &info, WEXITED, NULL);
    (void)printf("status %d\n", info.si_status);
}

int main(void)
{
    narrow_results();
    bad_structures();
    bad_texts();
    a_child();
    return 0;
}
