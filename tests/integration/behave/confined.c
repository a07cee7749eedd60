/* SPDX-License-Identifier: Apache-2.0 */
/* A program that takes system calls away from itself and goes on writing: confined MODE. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITES = 5000, FIRST = 10 };

static int plain;
static int append;

static void write_some(int count)
{
    for (int i = 0; i < count; i++) {
        if (write(i % 2 == 0 ? plain : append, "x", 1) != 1) {
            syscall(SYS_exit, 92);
        }
    }
}

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1),                                       \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Only what this program needs; anything else kills it. */
static struct sock_fprog *filter(void)
{
    static struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(write),
        ALLOW(exit),
        ALLOW(exit_group),
        ALLOW(clone),
        ALLOW(clone3),
        ALLOW(wait4),
        ALLOW(set_robust_list),
        ALLOW(futex),
        ALLOW(mmap),
        ALLOW(mprotect),
        ALLOW(munmap),
        ALLOW(madvise),
        ALLOW(rseq),
        ALLOW(rt_sigprocmask),
        ALLOW(rt_sigaction),
        ALLOW(gettid),
        ALLOW(brk),
        ALLOW(getrandom),
        ALLOW(prlimit64),
        ALLOW(sched_getaffinity),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    static struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        exit(93);
    }
    return &program;
}

static void confine_or_exit(long result)
{
    if (result != 0) {
        exit(94);
    }
}

static void *write_in_thread(void *unused)
{
    write_some(WRITES);
    return unused;
}

int main(int argc, char **argv)
{
    const char *mode = argc == 2 ? argv[1] : "";
    plain = open("plain", O_WRONLY | O_CREAT, 0600);
    append = open("append", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (plain < 0 || append < 0) {
        return 95;
    }
    write_some(FIRST);
    if (strcmp(mode, "strict") == 0) {
        confine_or_exit(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0));
    } else if (strcmp(mode, "clock") == 0) {
        confine_or_exit(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
    } else if (strcmp(mode, "number") == 0) {
        confine_or_exit(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter()));
    } else if (strcmp(mode, "failed") == 0) { /* nothing happens, all is recorded */
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == 0) {
            return 96;
        }
    } else {
        confine_or_exit(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter(), 0, 0));
    }
    if (strcmp(mode, "thread") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, write_in_thread, NULL) != 0 ||
            pthread_join(thread, NULL) != 0) {
            return 97;
        }
    } else if (strcmp(mode, "child") == 0) {
        pid_t child = fork();
        if (child == 0) {
            write_some(WRITES);
            _exit(0);
        }
        int status = 0;
        return waitpid(child, &status, 0) == child ? status : 98;
    } else {
        write_some(WRITES);
    }
    return strcmp(mode, "strict") == 0 ? (int)syscall(SYS_exit, 0) : 0;
}
