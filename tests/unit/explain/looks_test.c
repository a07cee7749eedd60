/* SPDX-License-Identifier: Apache-2.0 */
/* Waits whose operation is not the one that the edge comes to: looks for a child, event loops. */
#include "support/unit.h"

#include "explain/explain.h"
#include "explain_run.h"
#include "ops/calls.h"

#define S "000000000"
#define MS "000000"

static void assert_critical(const struct run *run, unsigned kind, double seconds)
{
    double found = (double)run->of->critical_ns[kind] / 1e9;
    if (found < seconds - 0.01 || found > seconds + 0.01) {
        fail_msg("kind %u: %.3f s of the critical path, expected %.3f", kind, found, seconds);
    }
}

#define FAMILY                                                                                     \
    "process 1 rank=0\nprocess 2 parent=0\nstream 0 1\nstream 1 2\n"                               \
    "fork stream=0 t=0 dur=1000 res=2\n"

/* It is found half a second late. */
static void a_child_that_is_looked_for_is_waited_for(void **state)
{
    (void)state;
    struct run run =
        run_explain_plainly(FAMILY "fsync stream=1 t=2000 dur=2500" MS " fd=3 path=/a at=0x30\n"
                                   "waitpid stream=0 t=2000 dur=1000 res=0 at=0x20\n"
                                   "usleep stream=0 t=4000 dur=1" S " at=0x21\n"
                                   "waitpid stream=0 t=1000" MS " dur=1000 res=0 at=0x20\n"
                                   "usleep stream=0 t=1001" MS " dur=1998" MS " at=0x21\n"
                                   "_exit stream=1 t=2500" MS " dur=0\n"
                                   "waitpid stream=0 t=3000" MS " dur=1000 res=2 at=0x20\n"
                                   "edge 0:0 1:0 evidence=process\n"
                                   "edge 1:1 0:5 evidence=process\n");
    assert_int_equal(run.of->waiting.count, 1);
    assert_critical(&run, WIO_STEP_IO, 2.5);
    assert_critical(&run, WIO_STEP_WAIT, 0.5);
    assert_int_equal(run.of->looked_ns / 10000000, 250);
    run_end(&run);
}

/* What a thread computes between two looks is its own. */
static void work_between_looks_is_no_wait(void **state)
{
    (void)state;
    struct run run =
        run_explain_plainly(FAMILY "fsync stream=1 t=2000 dur=2500" MS " fd=3 path=/a at=0x30\n"
                                   "waitpid stream=0 t=2000 dur=1000 res=0 at=0x20\n"
                                   "_exit stream=1 t=2500" MS " dur=0\n"
                                   "waitpid stream=0 t=3000" MS " dur=1000 res=2 at=0x20\n"
                                   "edge 0:0 1:0 evidence=process\n"
                                   "edge 1:1 0:2 evidence=process\n");
    assert_int_equal(run.of->waiting.count, 0);
    assert_critical(&run, WIO_STEP_COMPUTE, 3);
    assert_int_equal(run.of->looked_ns, 0);
    run_end(&run);
}

/* A child that had ended before the first look: the sleep is no wait for it. */
static void a_child_of_before_is_not_waited_for(void **state)
{
    (void)state;
    struct run run =
        run_explain_plainly(FAMILY "fsync stream=1 t=2000 dur=500" MS " fd=3 path=/a at=0x30\n"
                                   "_exit stream=1 t=500" MS " dur=0\n"
                                   "waitpid stream=0 t=1000" MS " dur=1000 res=0 at=0x20\n"
                                   "usleep stream=0 t=1001" MS " dur=1998" MS " at=0x21\n"
                                   "waitpid stream=0 t=3000" MS " dur=1000 res=2 at=0x20\n"
                                   "edge 0:0 1:0 evidence=process\n"
                                   "edge 1:1 0:3 evidence=process\n");
    assert_critical(&run, WIO_STEP_WAIT, 2);
    assert_critical(&run, WIO_STEP_IO, 0);
    run_end(&run);
}

#define TWO "process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"

static void what_select_finds_was_waited_for_there(void **state)
{
    (void)state;
    struct run run =
        run_explain_plainly(TWO "select stream=1 t=0 dur=3000" MS " res=1 at=0x20\n"
                                "write stream=0 t=0 dur=2999" MS " fd=3 path=/a size=9 at=0x30\n"
                                "write stream=0 t=2999" MS " dur=1000 fd=4 path=pipe:[7] size=1\n"
                                "read stream=1 t=3001" MS " dur=1000 fd=5 path=pipe:[7] size=1\n"
                                "edge 0:1 1:1 evidence=pipe\n");
    assert_int_equal(run.of->waiting.count, 1);
    assert_critical(&run, WIO_STEP_IO, 2.999);
    run_end(&run);
}

/* It has gone on behind what select found: parts of the path add up to the run all the same. */
static void the_other_thread_may_have_gone_on(void **state)
{
    (void)state;
    struct run run =
        run_explain_plainly(TWO "select stream=1 t=0 dur=3000" MS " res=1 at=0x20\n"
                                "write stream=0 t=0 dur=2999" MS " fd=3 path=/a size=9 at=0x30\n"
                                "write stream=0 t=2999" MS " dur=1000 fd=4 path=pipe:[7] size=1\n"
                                "usleep stream=1 t=3000" MS " dur=900" MS " at=0x21\n"
                                "fsync stream=0 t=3000" MS " dur=500" MS " fd=3 path=/a at=0x31\n"
                                "read stream=1 t=3900" MS " dur=1000 fd=5 path=pipe:[7] size=1\n"
                                "edge 0:1 1:2 evidence=pipe\n");
    double sum = run.of->unexplained_s;

    for (unsigned kind = 0; kind <= WIO_STEP_CPU_WAIT; kind++) {
        sum += kind != WIO_STEP_SLEPT && kind != WIO_STEP_SHADOW
                   ? wio_explanation_seconds(run.of, (enum wio_step_kind)kind)
                   : 0;
    }
    assert_true(sum > 3.899 && sum < 3.902);
    run_end(&run);
}

/* Between the look and the read it waited for a lock: that wait is the later one. */
static void a_later_wait_is_not_undone(void **state)
{
    (void)state;
    struct run run =
        run_explain_plainly(TWO "process 3 rank=2\nstream 2 3\n"
                                "select stream=1 t=0 dur=1000" MS " res=1 at=0x20\n"
                                "pthread_mutex_lock stream=2 t=0 dur=100 a0=7\n"
                                "write stream=0 t=0 dur=999" MS " fd=3 path=/a size=9 at=0x30\n"
                                "fsync stream=2 t=1000 dur=2999" MS " fd=6 path=/b at=0x31\n"
                                "write stream=0 t=999" MS " dur=1000 fd=4 path=pipe:[7] size=1\n"
                                "pthread_mutex_lock stream=1 t=1001" MS " dur=1999" MS " a0=7\n"
                                "pthread_mutex_unlock stream=2 t=3000" MS " dur=100 a0=7\n"
                                "read stream=1 t=3001" MS " dur=1000 fd=5 path=pipe:[7] size=1\n"
                                "edge 2:2 1:1 class=mutex evidence=thread\n"
                                "edge 0:1 1:2 evidence=pipe\n");
    assert_critical(&run, WIO_STEP_IO, 2.999);
    run_end(&run);
}

/* It had its input at once, and was slow by itself. */
static void work_behind_select_is_no_wait(void **state)
{
    (void)state;
    struct run run =
        run_explain_plainly(TWO "select stream=1 t=0 dur=1000 res=1 at=0x20\n"
                                "write stream=0 t=0 dur=2999" MS " fd=3 path=/a size=9 at=0x30\n"
                                "write stream=0 t=2999" MS " dur=1000 fd=4 path=pipe:[7] size=1\n"
                                "read stream=1 t=3001" MS " dur=1000 fd=5 path=pipe:[7] size=1\n"
                                "edge 0:1 1:1 evidence=pipe\n");
    assert_int_equal(run.of->waiting.count, 0);
    assert_critical(&run, WIO_STEP_COMPUTE, 3);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_that_is_looked_for_is_waited_for),
        cmocka_unit_test(work_between_looks_is_no_wait),
        cmocka_unit_test(a_child_of_before_is_not_waited_for),
        cmocka_unit_test(what_select_finds_was_waited_for_there),
        cmocka_unit_test(the_other_thread_may_have_gone_on),
        cmocka_unit_test(a_later_wait_is_not_undone),
        cmocka_unit_test(work_behind_select_is_no_wait),
    };
    return WIO_RUN(tests);
}
