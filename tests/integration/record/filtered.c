/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox: filtered HOW PROGRAM ARGUMENTS. Allows the calls that the loader, libc's start and a
 * plain program need, and executes PROGRAM; any other call kills it. HOW is how the filter is set
 * (prctl, seccomp) and how PROGRAM is executed: exec, spawn or system; with noproc there is no
 * /proc, with ask PROGRAM may call prctl.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1),                                       \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter steps[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#if defined(__x86_64__)
    ALLOW(access),
    ALLOW(arch_prctl),
    ALLOW(vfork),
    ALLOW(open),
    ALLOW(stat),
#endif
    ALLOW(execve),
    ALLOW(openat),
    ALLOW(read),
    ALLOW(pread64),
    ALLOW(write),
    ALLOW(close),
    ALLOW(fstat),
    ALLOW(newfstatat),
    ALLOW(mmap),
    ALLOW(mprotect),
    ALLOW(munmap),
    ALLOW(brk),
    ALLOW(set_tid_address),
    ALLOW(set_robust_list),
    ALLOW(rseq),
    ALLOW(prlimit64),
    ALLOW(getrandom),
    ALLOW(futex),
    ALLOW(exit_group),
    ALLOW(exit),
    /* of spawn, system and the shell */
    ALLOW(clone),
    ALLOW(clone3),
    ALLOW(wait4),
    ALLOW(rt_sigaction),
    ALLOW(rt_sigprocmask),
    ALLOW(rt_sigreturn),
    ALLOW(getuid),
    ALLOW(geteuid),
    ALLOW(getgid),
    ALLOW(getegid),
    ALLOW(getpid),
    ALLOW(getppid),
    ALLOW(getcwd),
    ALLOW(ioctl),
    ALLOW(prctl), /* may_not_ask takes it away */
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static void may_not_ask(void)
{
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (BPF_OP(steps[i].code) == BPF_JEQ && steps[i].k == SYS_prctl) {
            steps[i].k = UINT32_MAX;
        }
    }
}

static void hide_proc(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/proc", "tmpfs", 0, NULL) != 0) {
        exit(96);
    }
}

static void confine(const char *how)
{
    if (strstr(how, "noproc") != NULL) {
        hide_proc();
    }
    if (strstr(how, "ask") == NULL) {
        may_not_ask();
    }
    struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        exit(91);
    }
    long result = strstr(how, "seccomp") != NULL
                      ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                      : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    if (result != 0) {
        exit(92);
    }
}

static int end_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv, char **envp)
{
    pid_t pid = 0;
    int status = 0;
    if (argc < 3) {
        return 90;
    }
    confine(argv[1]);
    if (strstr(argv[1], "spawn") != NULL) {
        if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, envp) != 0) {
            return 93;
        }
        return waitpid(pid, &status, 0) == pid ? end_of(status) : 94;
    }
    if (strstr(argv[1], "system") != NULL) {
        return end_of(system(argv[2]));
    }
    (void)execv(argv[2], argv + 2);
    return 95;
}
