/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a child that calls nothing, kills it, and waits for it. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int goes_on = 1;

int main(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        while (goes_on) {
        }
    }
    if (child < 0 || kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child) {
        return 3;
    }
    return WIFSIGNALED(status) ? 0 : 4;
}
