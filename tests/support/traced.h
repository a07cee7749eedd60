/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of capture's core: WHYIO_RINGS is read before main. */
#ifndef WIO_TESTS_TRACED_H
#define WIO_TESTS_TRACED_H

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

static inline bool wio_is_traced(void)
{
    return getenv("WHYIO_RINGS") != NULL;
}

/* Run the program again with the variable from its start, and tidy up behind it, by whatever it
 * ends. Its exit status. */
static inline int wio_run_traced(char **argv)
{
    int status = 0;
    const char *dir = wio_test_dir();
    pid_t pid = fork();
    if (pid == 0) {
        (void)setenv("WHYIO_RINGS", dir, 1);
        (void)execv("/proc/self/exe", argv);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

#endif
