/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is wrong: a program starts others and waits for them. */
#include "diagnosis.h"

#include <sys/wait.h>

int main(int argc, char **argv)
{
    (void)is_slow(argc, argv);
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            compute_ms(150);
            _exit(0);
        }
        if (pid < 0 || waitpid(pid, NULL, 0) != pid) {
            fail("fork");
        }
    }
    return 0;
}
