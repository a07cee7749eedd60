/* SPDX-License-Identifier: Apache-2.0 */
/* The child that a call has made: popen's, whose pid libc keeps to itself. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

#include "capture/process/exec.h"

static pid_t sleeper(void)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)pause();
        _exit(0);
    }
    return pid;
}

static void end(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Its start is told in hundredths of a second. */
static void let_time_pass(void)
{
    (void)usleep(30000);
}

static void the_child_of_the_call_is_found(void **state)
{
    (void)state;
    pid_t older = sleeper();
    struct cap_child_mark mark = cap_child_mark();
    assert_int_equal(cap_child_since(&mark), 0);
    pid_t child = sleeper();
    assert_int_equal(cap_child_since(&mark), child);
    end(child);
    end(older);
}

/* Another thread has waited for the call's child and for the last one before it: the one that is
 * left is none of the call's. */
static void no_older_child_is_taken(void **state)
{
    (void)state;
    pid_t oldest = sleeper();
    pid_t older = sleeper();
    let_time_pass();
    struct cap_child_mark mark = cap_child_mark();
    pid_t child = sleeper();
    end(child);
    end(older);
    assert_int_equal(cap_child_since(&mark), 0);
    end(oldest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_child_of_the_call_is_found),
        cmocka_unit_test(no_older_child_is_taken),
    };
    if (access("/proc/thread-self/children", R_OK) != 0) {
        return 77; /* the kernel keeps no list */
    }
    return WIO_RUN(tests);
}
