/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: how they begin and how they are waited for; exec where it fails; threads. */
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "cover.h"

static char *no_arguments[] = {NULL};
static char *one_argument[] = {(char *)"cover", NULL};

static void raw_exit(int status)
{
    for (;;) {
        (void)wio_rawcall3(SYS_exit_group, status, 0, 0);
    }
}

static void raw_wait(long pid)
{
    (void)wio_rawcall4(SYS_wait4, pid, 0, 0, 0);
}

static long raw_child(int status)
{
    long pid = wio_rawcall6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
    if (pid == 0) {
        raw_exit(status);
    }
    return pid;
}

static void forks(void)
{
    static const char *const symbols[] = {"fork", "__fork", "_Fork"};
    for (size_t i = 0; i < 3; i++) {
        long pid = CALL0(INT, symbols[i]);
        if (pid == 0) {
            raw_exit(0);
        }
        EXPECT("a0=0 a1=%ld", pid);
        raw_wait(pid);
    }
    int master;
    long pid = CALL(INT, "forkpty", P(&master), 0, 0, 0);
    if (pid == 0) {
        raw_exit(0);
    }
    EXPECT("a0=0 a1=%ld", pid > 0 ? pid : 0);
    if (pid > 0) { /* a plain chroot has no terminals */
        raw_wait(pid);
        cover_close(master, "*");
    }
}

extern pid_t __vfork(void);

/* The child returns to this frame first: only a direct call can be made. */
static void vforks(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        raw_exit(0);
    }
    cover_last = (struct cover_last){.symbol = "vfork", .result = pid};
    EXPECT("a0=0 a1=%d", pid);
    raw_wait(pid);
    pid = __vfork();
    if (pid == 0) {
        raw_exit(0);
    }
    cover_last = (struct cover_last){.symbol = "__vfork", .result = pid};
    EXPECT("a0=0 a1=%d", pid);
    raw_wait(pid);
}

static int clone_child(void *status)
{
    raw_exit((int)(intptr_t)status);
    return 0;
}

static void clones(void)
{
    static const char *const symbols[] = {"clone", "__clone"};
    static char stack[65536] __attribute__((aligned(16)));
    for (size_t i = 0; i < 2; i++) {
        long pid =
            CALL(INT, symbols[i], P(clone_child), P(stack + sizeof(stack)), SIGCHLD, 0, 0, 0);
        EXPECT("a0=%d a1=%ld", SIGCHLD, pid);
        raw_wait(pid);
    }
}

static void spawns(void)
{
    static const char *const symbols[] = {"posix_spawn", "posix_spawnp"};
    for (size_t i = 0; i < 2; i++) {
        pid_t pid;
        CALL(INT, symbols[i], P(&pid), P("/bin/true"), 0, 0, P(one_argument), P(environ));
        cover_last.result = pid;
        EXPECT("path=/bin/true a0=0 a1=%d", pid);
        raw_wait(pid);
        int error =
            (int)CALL(INT, symbols[i], P(&pid), P("/no/such"), 0, 0, P(one_argument), P(environ));
        cover_last = (struct cover_last){.symbol = symbols[i], .result = -1, .error = error};
        EXPECT("path=/no/such a0=0 a1=0");
    }
    CALL(INT, "system", P("true"));
    EXPECT("path2=true");
}

static void waits(void)
{
    int status = 0;
    struct rusage usage;
    siginfo_t info;
    static const char *const plain[] = {"wait", "__wait"};
    static const char *const by_pid[] = {"waitpid", "__waitpid"};
    for (size_t i = 0; i < 2; i++) {
        long pid = raw_child(3);
        CALL(INT, plain[i], P(&status));
        EXPECT("a0=%d a1=0 a2=-1", status);
        pid = raw_child(4);
        CALL(INT, by_pid[i], pid, 0, 0);
        EXPECT("a0=%d a1=0 a2=%ld", 4 << 8, pid);
    }
    long pid = raw_child(5);
    CALL(INT, "wait3", P(&status), 0, P(&usage));
    EXPECT("a0=%d a1=0 a2=-1", 5 << 8);
    pid = raw_child(6);
    CALL(INT, "wait4", pid, P(&status), 0, P(&usage));
    EXPECT("a0=%d a1=0 a2=%ld", 6 << 8, pid);
    pid = raw_child(7);
    CALL(INT, "waitid", P_PID, pid, P(&info), WEXITED);
    cover_last.result = pid;
    EXPECT("a0=7 a1=%d a2=%ld", WEXITED, pid);
    CALL(INT, "waitpid", 1, 0, 0);
    EXPECT("a0=0 a1=0 a2=1");
}

/* An exec that fails is there twice: before, and with its error. */
static void failed(const char *where)
{
    struct cover_last after = cover_last;
    cover_last.result = 0;
    EXPECT("%s", where);
    cover_last = after;
    EXPECT("%s", where);
}

static void execs(void)
{
    const char *path = in_dir("no/such");
    char where[1200];
    (void)snprintf(where, sizeof(where), "path=%s", path);
    CALL(INT, "execve", P(path), P(one_argument), P(environ));
    failed(where);
    CALL(INT, "execve", P(path), P(one_argument), P(no_arguments));
    failed(where);
    CALL(INT, "execv", P(path), P(one_argument));
    failed(where);
    CALL(INT, "execvp", P(path), P(one_argument));
    failed(where);
    CALL(INT, "execvpe", P(path), P(one_argument), P(environ));
    failed(where);
    CALL(INT, "execl", P(path), P("cover"), 0);
    failed(where);
    CALL(INT, "execlp", P(path), P("cover"), 0);
    failed(where);
    CALL(INT, "execle", P(path), P("cover"), 0, P(environ));
    failed(where);
    CALL(INT, "execveat", AT_FDCWD, P("no/such"), P(one_argument), P(environ), 0);
    failed(where);
    raw_write_file(in_dir("no.elf"), "not a program");
    int fd = raw_open(in_dir("no.elf"), O_RDONLY);
    CALL(INT, "fexecve", fd, P(one_argument), P(environ));
    (void)snprintf(where, sizeof(where), "fd=%d path=%s", fd, in_dir("no.elf"));
    failed(where);
    cover_close(fd, in_dir("no.elf"));
}

static void *in_thread(void *value)
{
    return value;
}

static int in_c11_thread(void *value)
{
    return (int)(intptr_t)value;
}

static void threads(void)
{
    static const char *const joins[] = {"pthread_join", "pthread_timedjoin_np",
                                        "pthread_clockjoin_np"};
    pthread_t thread;
    struct timespec until = {.tv_sec = 1L << 40};
    for (size_t i = 0; i < 3; i++) {
        CALL(INT, "pthread_create", P(&thread), 0, P(in_thread), 0);
        EXPECT("a0=%ld", (long)thread);
        long more = i == 2 ? (long)CLOCK_MONOTONIC : P(&until);
        CALL(INT, joins[i], (long)thread, 0, i == 0 ? 0 : more, i == 2 ? P(&until) : 0);
        EXPECT("a0=%ld", (long)thread);
    }
    cover_last.error = (int)CALL(INT, "pthread_tryjoin_np", (long)pthread_self(), 0);
    cover_last.error_is_result = true;
    EXPECT("a0=%ld", (long)pthread_self());
    thrd_t other;
    CALL(INT, "thrd_create", P(&other), P(in_c11_thread), 5);
    EXPECT("a0=%ld", (long)other);
    CALL(INT, "thrd_join", (long)other, 0);
    EXPECT("a0=%ld", (long)other);
}

COVER_MAIN(forks, vforks, clones, spawns, waits, execs, threads)
