/* SPDX-License-Identifier: Apache-2.0 */
#include "support/killed.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

enum { EXIT_UNTRACED = 77, SYSCALL_STOP = SIGTRAP | 0x80 };

static _Noreturn void act(void (*call)(void *arg), void *arg)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(EXIT_UNTRACED);
    }
    (void)raise(SIGSTOP);
    call(arg);
    _exit(0);
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        assert_int_equal(errno, EINTR);
    }
    return status;
}

/* Up to the next stop; a signal that comes goes on to it. */
static int go_on(pid_t pid, int status)
{
    int signal = WSTOPSIG(status);
    bool is_own = signal != SIGSTOP && signal != SIGTRAP && signal != SYSCALL_STOP;
    assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, is_own ? (long)signal : 0L), 0);
    return wait_for(pid);
}

bool wio_test_killed_at(unsigned n, void (*call)(void *arg), void *arg)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        act(call, arg);
    }
    int status = wait_for(pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_UNTRACED) {
        wio_test_skip("no tracing of processes here");
    }
    (void)ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    /* Two stops a call, when it begins and when it ends. */
    for (unsigned stops = 0; WIFSTOPPED(status); stops += WSTOPSIG(status) == SYSCALL_STOP) {
        if (stops == 2 * n) {
            assert_int_equal(kill(pid, SIGKILL), 0);
            status = wait_for(pid);
            assert_true(WIFSIGNALED(status));
            return true;
        }
        status = go_on(pid, status);
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}
