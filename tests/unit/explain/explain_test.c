/* SPDX-License-Identifier: Apache-2.0 */
/* Critical path and waiting-time analysis on traces made by hand: the numbers are the design's. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "explain/explain.h"
#include "explain_run.h"
#include "ops/calls.h"

#define S "000000000"

/* Share of the wait that an operation explains. */
static double share(const struct wio_explanation *of, const struct wio_wait_class *class,
                    unsigned op)
{
    double sum = 0;

    for (uint32_t i = 0; i < class->part_count; i++) {
        if (class->parts[i].cause != WIO_NO_STEP &&
            wio_steps_cause_op(&of->steps, class->parts[i].cause) == op) {
            sum += class->parts[i].relative * class->scale;
        }
    }
    return sum;
}

static double critical(const struct wio_explanation *of, enum wio_step_kind kind)
{
    return (double)of->critical_ns[kind] / 1e9;
}

#define assert_near(a, b) assert_true((a) - (b) < 0.001 && (b) - (a) < 0.001)

static void add_up(const struct wio_explanation *of)
{
    double sum = of->unexplained_s;

    for (int kind = 0; kind <= WIO_STEP_CPU_WAIT; kind++) {
        sum += wio_explanation_seconds(of, kind);
    }
    assert_near(sum, (double)of->duration_ns / 1e9);
}

/* A computes 1 s and waits 3 s at a barrier; B computes 1 s, writes 2 s, flushes 1 s, arrives. */
static const char barrier[] =
    "process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"
    "open stream=0 t=0 dur=0 path=/a res=3 at=0x10\n"
    "open stream=1 t=0 dur=0 path=/a res=3 at=0x10\n"
    "MPI_Barrier stream=0 t=1" S " dur=3" S " at=0x40\n"
    "write stream=1 t=1" S " dur=2" S " fd=3 path=/a off=0 size=4096 at=0x20\n"
    "fsync stream=1 t=3" S " dur=1" S " fd=3 path=/a at=0x30\n"
    "MPI_Barrier stream=1 t=4" S " dur=0 at=0x40\n"
    "collective 0:1 1:3\n";

static void a_wait_is_what_the_last_one_did_more(void **state)
{
    struct run run = run_explain_plainly(barrier);
    const struct wio_waiting *waiting = &run.of->waiting;

    (void)state;
    assert_int_equal(waiting->class_count, 1);
    assert_int_equal(waiting->classes[0].count, 1);
    assert_int_equal(waiting->total_ns, 3000000000);
    assert_near(3 * share(run.of, &waiting->classes[0], WIO_OP_write), 2);
    assert_near(3 * share(run.of, &waiting->classes[0], WIO_OP_fsync), 1);
    assert_near(share(run.of, &waiting->classes[0], WIO_OP_COMPUTE), 0);
    assert_near(critical(run.of, WIO_STEP_IO), 3);
    assert_near(critical(run.of, WIO_STEP_COMPUTE), 1);
    assert_near(critical(run.of, WIO_STEP_WAIT), 0);
    add_up(run.of);
    run_end(&run);
}

/* Both compute 1 s, B from its begin and A behind an open; then B computes 3 s more than A. */
static void computing_is_one_cause(void **state)
{
    struct run run =
        run_explain_plainly("process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"
                            "open stream=0 t=0 dur=0 path=/a res=3 at=0x10\n"
                            "MPI_Barrier stream=0 t=1" S " dur=3" S " at=0x40\n"
                            "stat stream=1 t=1" S " dur=0 path=/a at=0x20\n"
                            "MPI_Barrier stream=1 t=4" S " dur=0 at=0x40\n"
                            "collective 0:1 1:1\n");
    const struct wio_wait_class *class = &run.of->waiting.classes[0];

    (void)state;
    assert_int_equal(run.of->waiting.class_count, 1);
    assert_int_equal(class->part_count, 1);
    assert_near(share(run.of, class, WIO_OP_COMPUTE), 1);
    run_end(&run);
}

/* As `barrier`, but for 1.5 s B waits for a lock that C holds over a read; C wrote 0.5 s as B did.
 */
static const char nested[] =
    "process 1 rank=0\nprocess 2 rank=1\nprocess 3 rank=2\nstream 0 1\nstream 1 2\nstream 2 3\n"
    "open stream=0 t=0 dur=0 path=/a res=3 at=0x10\n"
    "open stream=1 t=0 dur=0 path=/a res=3 at=0x10\n"
    "open stream=2 t=0 dur=0 path=/a res=3 at=0x10\n"
    "MPI_Barrier stream=0 t=1" S " dur=3" S " at=0x40\n"
    "write stream=1 t=1" S " dur=500000000 fd=3 path=/a off=0 size=4096 at=0x20\n"
    "write stream=2 t=1" S " dur=500000000 fd=3 path=/a off=0 size=4096 at=0x20\n"
    "fcntl stream=1 t=1500000000 dur=1500000000 fd=3 path=/a a0=7 at=0x25\n"
    "read stream=2 t=1500000000 dur=1499999000 fd=3 path=/b off=0 size=4096 at=0x28\n"
    "fcntl stream=2 t=2999999000 dur=0 fd=3 path=/a a0=7 at=0x29\n"
    "fsync stream=1 t=3" S " dur=1" S " fd=3 path=/a at=0x30\n"
    "MPI_Barrier stream=1 t=4" S " dur=0 at=0x40\n"
    "edge 2:3 1:2 class=mutex evidence=lock\n"
    "collective 0:1 1:4\n";

static void a_wait_in_a_path_is_what_explains_it(void **state)
{
    struct run run = run_explain_plainly(nested);
    const struct wio_waiting *waiting = &run.of->waiting;
    const struct wio_wait_class *longest = &waiting->classes[0];

    (void)state;
    assert_int_equal(waiting->count, 2);
    assert_int_equal(longest->total_ns, 3000000000);
    assert_near(3 * share(run.of, longest, WIO_OP_write), 0.5);
    assert_near(3 * share(run.of, longest, WIO_OP_read), 1.5);
    assert_near(3 * share(run.of, longest, WIO_OP_fsync), 1);
    assert_near(share(run.of, longest, WIO_OP_fcntl), 0);
    assert_near(share(run.of, &waiting->classes[1], WIO_OP_read), 1);
    assert_near(critical(run.of, WIO_STEP_IO), 3);
    add_up(run.of);
    run_end(&run);
}

static void equal_explanations_are_one_class(void **state)
{
    char script[4096] = "process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"
                        "open stream=0 t=0 dur=0 path=/a res=3 at=0x10\n"
                        "open stream=1 t=0 dur=0 path=/a res=3 at=0x10\n";
    char line[512];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        unsigned long long t = i * 4000000000ull;
        (void)snprintf(line, sizeof(line),
                       "MPI_Barrier stream=0 t=%llu dur=3000000000 at=0x40\n"
                       "write stream=1 t=%llu dur=3000000000 fd=3 path=/a size=10 at=0x20\n"
                       "MPI_Barrier stream=1 t=%llu dur=0 at=0x40\n",
                       t + 1000000000, t + 1000000000, t + 4000000000);
        (void)strncat(script, line, sizeof(script) - strlen(script) - 1);
        (void)snprintf(line, sizeof(line), "collective 0:%u 1:%u\n", i + 1, 2 * i + 2);
        (void)strncat(script, line, sizeof(script) - strlen(script) - 1);
    }
    struct run run = run_explain_plainly(script);
    assert_int_equal(run.of->waiting.class_count, 1);
    assert_int_equal(run.of->waiting.classes[0].count, 4);
    assert_int_equal(run.of->waiting.classes[0].total_ns, 12000000000);
    assert_int_equal(run.of->waiting.classes[0].ranks.count, 1);
    assert_near(share(run.of, &run.of->waiting.classes[0], WIO_OP_write), 1);
    add_up(run.of);
    run_end(&run);
}

/* A receive that finds the message there is no wait; what it takes is its own. */
static void a_message_that_is_there_explains_nothing(void **state)
{
    struct run run =
        run_explain_plainly("process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"
                            "MPI_Send stream=0 t=0 dur=1000 at=0x10\n"
                            "MPI_Recv stream=1 t=2" S " dur=1" S " at=0x20\n"
                            "write stream=0 t=1" S " dur=1" S " fd=3 path=/a size=9 at=0x30\n"
                            "edge 0:0 1:0\n");

    (void)state;
    assert_int_equal(run.of->waiting.count, 0);
    assert_near(critical(run.of, WIO_STEP_WAIT), 1);
    assert_near(critical(run.of, WIO_STEP_IO), 0);
    add_up(run.of);
    run_end(&run);
}

/* The releasing call is the one behind the edge's begin: computing before it is part of the path.
 */
static void the_path_of_a_message_goes_over_to_its_sender(void **state)
{
    struct run run =
        run_explain_plainly("process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"
                            "MPI_Recv stream=1 t=0 dur=3" S " at=0x20\n"
                            "write stream=0 t=0 dur=1" S " fd=3 path=/a size=9 at=0x30\n"
                            "MPI_Send stream=0 t=2" S " dur=1000 at=0x10\n"
                            "edge 0:0 1:0\n");

    (void)state;
    assert_int_equal(run.of->waiting.count, 1);
    assert_int_equal(run.of->waiting.total_ns, 2000000000);
    assert_near(critical(run.of, WIO_STEP_IO), 1);
    assert_near(critical(run.of, WIO_STEP_COMPUTE), 1);
    assert_near(critical(run.of, WIO_STEP_WAIT), 1);
    add_up(run.of);
    run_end(&run);
}

static void time_without_a_processor_is_a_kind_of_its_own(void **state)
{
    struct run run = run_explain_plainly(
        "open t=0 dur=0 path=/a res=3 at=0x10\n"
        "write t=2" S " dur=1" S " gap_cpu=500000000 fd=3 path=/a size=9 at=0x30\n"
        "write t=5" S " dur=1" S " gap_cpu=500000000 gap_slept=1 fd=3 path=/a size=9 at=0x30\n");

    (void)state;
    assert_near(critical(run.of, WIO_STEP_CPU_WAIT), 1.5);
    assert_near(critical(run.of, WIO_STEP_SLEPT), 1.5);
    assert_near(critical(run.of, WIO_STEP_COMPUTE), 1);
    assert_near(critical(run.of, WIO_STEP_IO), 2);
    assert_near(run.of->unexplained_s, 1.5);
    add_up(run.of);
    run_end(&run);
}

/* What an operation causes is part of its time, once. */
static void nested_operations_count_once(void **state)
{
    struct run run =
        run_explain_plainly("fwrite t=0 dur=4" S " fd=3 path=/a size=9 at=0x30\n"
                            "write t=1" S " dur=2" S " fd=3 path=/a size=9 at=0x31 caused\n"
                            "close t=5" S " dur=1" S " fd=3 path=/a\n");

    (void)state;
    assert_near(critical(run.of, WIO_STEP_IO), 5);
    assert_near(critical(run.of, WIO_STEP_COMPUTE), 1);
    add_up(run.of);
    run_end(&run);
}

/* While it looks for a file, a thread waits for the one that makes it. */
static void a_poll_loop_waits_for_the_one_that_makes_the_file(void **state)
{
    struct run run =
        run_explain_plainly("process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"
                            "access stream=1 t=0 dur=1000 path=/f err=2 at=0x20\n"
                            "write stream=0 t=0 dur=3" S " fd=3 path=/a size=9 at=0x30\n"
                            "access stream=1 t=2" S " dur=1000 path=/f err=2 at=0x20\n"
                            "creat stream=0 t=3" S " dur=1000 path=/f res=4 at=0x40\n"
                            "access stream=1 t=4" S " dur=1000 path=/f at=0x20\n"
                            "write stream=1 t=4000001000 dur=1" S " fd=3 path=/b size=9 at=0x50\n"
                            "edge 0:1 1:2 evidence=poll\npoll-loop 1:0 2\n");

    (void)state;
    assert_int_equal(run.of->waiting.count, 1);
    assert_near(critical(run.of, WIO_STEP_IO), 4);
    assert_near(critical(run.of, WIO_STEP_WAIT), 1);
    assert_string_equal(run.of->findings.items[1].kind, "polling");
    assert_near(run.of->findings.items[1].seconds, 1);
    add_up(run.of);
    run_end(&run);
}

static void what_a_terminal_gives_is_waited_for(void **state)
{
    struct run run =
        run_explain_plainly("read t=0 dur=3" S " fd=0 path=/dev/pts/7 size=9 at=0x20\n"
                            "read t=3" S " dur=2" S " fd=0 path=/dev/tty size=9 at=0x21\n"
                            "read t=5" S " dur=1" S " fd=3 path=/a size=9 at=0x30\n");

    (void)state;
    assert_near(critical(run.of, WIO_STEP_IO), 1);
    assert_near(critical(run.of, WIO_STEP_WAIT), 5);
    add_up(run.of);
    run_end(&run);
}

static void an_empty_trace_has_an_answer(void **state)
{
    struct run run = run_explain_plainly("process 1\nstream 0 1\n");

    (void)state;
    assert_int_equal(run.of->findings.count, 0);
    assert_int_equal(run.of->duration_ns, 0);
    assert_int_equal(run.of->note_count, 1);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_what_the_last_one_did_more),
        cmocka_unit_test(computing_is_one_cause),
        cmocka_unit_test(a_wait_in_a_path_is_what_explains_it),
        cmocka_unit_test(equal_explanations_are_one_class),
        cmocka_unit_test(a_message_that_is_there_explains_nothing),
        cmocka_unit_test(the_path_of_a_message_goes_over_to_its_sender),
        cmocka_unit_test(time_without_a_processor_is_a_kind_of_its_own),
        cmocka_unit_test(nested_operations_count_once),
        cmocka_unit_test(a_poll_loop_waits_for_the_one_that_makes_the_file),
        cmocka_unit_test(what_a_terminal_gives_is_waited_for),
        cmocka_unit_test(an_empty_trace_has_an_answer),
    };
    return WIO_RUN(tests);
}
