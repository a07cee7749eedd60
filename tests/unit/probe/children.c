/* SPDX-License-Identifier: Apache-2.0 */
#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The pipe closes with exec, or says why there is none. */
pid_t child_start(char *const *environment)
{
    int ends[2];
    int error = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        char *const arguments[] = {(char[]){"sleep"}, (char[]){"1000"}, NULL};
        (void)execve("/bin/sleep", arguments, environment);
        error = errno;
        (void)!write(ends[1], &error, sizeof(error));
        _exit(127);
    }
    (void)close(ends[1]);
    (void)!read(ends[0], &error, sizeof(error));
    (void)close(ends[0]);
    if (pid > 0 && error != 0) {
        child_end(pid);
        errno = error;
        return -1;
    }
    return pid;
}

void child_end(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}
