/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and processes that meet at a gate: edges, collectives, queues, locks, the watch. */
#include "support/unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <whyio/trace.h>

#include "base/clock.h"
#include "replay/initial/plan.h"
#include "replay/wait/sync_table.h"
#include "support/script_open.h"

#define WORKERS 4u
#define ROUNDS 1000u

static struct wio_trace *trace;
static struct rp_plan *plan;
static struct rp_board *board;
static struct rp_gate gate;

static void make(const char *script)
{
    struct wio_error err = WIO_ERROR_INIT;
    trace = script_open(script);
    assert_ok(rp_plan_create(trace, true, &plan, &err), &err);
    assert_ok(rp_board_create(1, 1, wio_trace_stream_count(trace), 0, &board, &err), &err);
    assert_ok(rp_gate_init(&gate, &plan->waits, board, NULL, &err), &err);
}

static int drop(void **state)
{
    (void)state;
    rp_gate_fini(&gate);
    rp_board_destroy(board);
    rp_plan_destroy(plan);
    wio_trace_close(trace);
    return 0;
}

#define FOUR "process 10\nstream 0 10\nstream 0 11\nstream 0 12\nstream 0 13\n"

static void run(void *(*work)(void *))
{
    pthread_t threads[WORKERS];
    atomic_store(&board->crowd->threads, WORKERS);
    for (uintptr_t i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&board->crowd->waiting), 0);
}

/* ---- edges ---- */

static size_t act_of(uint32_t stream, uint64_t seq, enum wio_act_kind kind)
{
    for (size_t i = plan->waits.first[stream]; i < plan->waits.first[stream + 1]; i++) {
        if (plan->waits.acts[i].seq == seq && plan->waits.acts[i].kind == kind) {
            return i;
        }
    }
    fail_msg("stream %u has no act of kind %u at %u", stream, (unsigned)kind, (unsigned)seq);
    return 0;
}

static void give_all(uint32_t stream, uint64_t seq, uint64_t v_ns)
{
    for (size_t i = plan->waits.first[stream]; i < plan->waits.first[stream + 1]; i++) {
        if (plan->waits.acts[i].seq == seq && plan->waits.acts[i].kind == WIO_ACT_GIVE) {
            rp_gate_give(&gate, plan->waits.acts[i].index, v_ns);
        }
    }
}

/* A chain through processes: each takes from the one before and gives to the next. */
static void processes_follow_each_other(void **state)
{
    (void)state;
    char script[1024];
    int bytes = snprintf(script, sizeof(script), FOUR);
    for (unsigned i = 0; i < 4; i++) {
        bytes += snprintf(script + bytes, sizeof(script) - (size_t)bytes,
                          "close stream=%u t=%u fd=3\nclose stream=%u t=%u fd=3\n", i,
                          1000 + 1000 * i, i, 1500 + 1000 * i);
    }
    (void)snprintf(script + bytes, sizeof(script) - (size_t)bytes,
                   "edge 0:0 1:0\nedge 1:0 2:0\nedge 2:0 3:0\n");
    make(script);
    pid_t pids[4];
    for (unsigned i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct wio_release release = {0, 1000};
            bool is_taken = i == 0 || rp_gate_take(&gate, i, act_of(i, 0, WIO_ACT_TAKE), &release);
            give_all(i, 1, release.v_ns + 100);
            uint64_t wanted = 1000 + 100 * i + (i > 0 ? 1 : 0); /* what was given is odd */
            _exit(is_taken && release.v_ns == wanted ? 0 : 1);
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
}

/* ---- collectives ---- */

static void *meet(void *arg)
{
    uint32_t stream = (uint32_t)(uintptr_t)arg;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct wio_release release;
        size_t enter = plan->waits.first[stream] + 2 * round;
        assert_int_equal(plan->waits.acts[enter].kind, WIO_ACT_ENTER);
        rp_gate_enter(&gate, plan->waits.acts[enter].index, round * 10 + stream);
        assert_true(rp_gate_take(&gate, stream, enter + 1, &release));
        assert_int_equal(release.v_ns, round * 10 + WORKERS - 1); /* of the last one */
    }
    return NULL;
}

static void no_member_leaves_before_all_have_come(void **state)
{
    (void)state;
    size_t room = (size_t)ROUNDS * 256;
    char *script = malloc(room);
    assert_non_null(script);
    size_t bytes = (size_t)snprintf(script, room, FOUR);
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (unsigned stream = 0; stream < WORKERS; stream++) {
            bytes += (size_t)snprintf(script + bytes, room - bytes, "MPI_Barrier stream=%u t=%u\n",
                                      stream, 1000 + i);
        }
        bytes += (size_t)snprintf(script + bytes, room - bytes, "collective 0:%u 1:%u 2:%u 3:%u\n",
                                  i, i, i, i);
    }
    make(script);
    free(script);
    run(meet);
}

/* ---- locks ---- */

static uint64_t counter;

static void *count(void *arg)
{
    uint32_t stream = (uint32_t)(uintptr_t)arg;
    uint64_t waited;
    for (unsigned i = 0; i < ROUNDS; i++) {
        assert_true(rp_gate_lock(&gate, 0, stream, false, &waited));
        uint64_t seen = counter;
        if (i % 64 == 0) {
            wio_clock_sleep_ns(1000);
        }
        counter = seen + 1;
        rp_gate_unlock(&gate, 0, stream, false);
    }
    return NULL;
}

#define LOCKS                                                                                      \
    FOUR "pthread_mutex_lock stream=0 t=1000 a0=0x7000\n"                                          \
         "pthread_mutex_unlock stream=0 t=2000 a0=0x7000\n"                                        \
         "pthread_mutex_lock stream=1 t=1500 dur=600 a0=0x7000\n"                                  \
         "edge 0:0 1:0 class=mutex evidence=thread object=1\n"

static void a_lock_excludes(void **state)
{
    (void)state;
    make(LOCKS);
    counter = 0;
    run(count);
    assert_int_equal(counter, WORKERS * ROUNDS);
}

#define CROWD 400u

static atomic_uint had;
static atomic_ulong switches;

static void *take_once(void *arg)
{
    struct rusage usage;
    uint64_t waited;
    uint32_t stream = (uint32_t)(uintptr_t)arg;
    bool is_had = rp_gate_lock(&gate, 0, stream, false, &waited);
    atomic_fetch_add(&had, is_had ? 1 : 0);
    rp_gate_unlock(&gate, 0, stream, false);
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        atomic_fetch_add(&switches, (unsigned long)usage.ru_nvcsw);
    }
    return NULL;
}

/* All at once they would be woken half the square of their number. */
static void an_unlock_wakes_one_of_many(void **state)
{
    pthread_t threads[CROWD];
    uint64_t waited;
    char script[CROWD * 16 + 400] = "process 10\n";
    (void)state;
    for (unsigned i = 0; i <= CROWD; i++) {
        size_t used = strlen(script);
        (void)snprintf(script + used, sizeof(script) - used, "stream 0 %u\n", 10 + i);
    }
    (void)strcat(script, "pthread_mutex_lock stream=0 t=1000 a0=0x7000\n"
                         "pthread_mutex_unlock stream=0 t=2000 a0=0x7000\n"
                         "pthread_mutex_lock stream=1 t=1500 dur=600 a0=0x7000\n"
                         "pthread_mutex_unlock stream=1 t=2200 a0=0x7000\n");
    (void)strcat(script, "edge 0:0 1:0 class=mutex evidence=thread object=1\n");
    make(script);
    atomic_store(&board->crowd->threads, CROWD + 1);
    assert_true(rp_gate_lock(&gate, 0, CROWD, false, &waited));
    for (uintptr_t i = 0; i < CROWD; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_once, (void *)i), 0);
    }
    while (atomic_load(&gate.locks[0].sleepers) < CROWD) {
        wio_clock_sleep_ns(1000000);
    }
    rp_gate_unlock(&gate, 0, CROWD, false);
    for (unsigned i = 0; i < CROWD; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&had), CROWD);
    assert_true(atomic_load(&switches) < CROWD * CROWD / 8);
}

static void readers_share_a_lock(void **state)
{
    (void)state;
    uint64_t waited;
    make(LOCKS);
    assert_true(rp_gate_lock(&gate, 0, 0, true, &waited));
    assert_true(rp_gate_lock(&gate, 0, 1, true, &waited));
    rp_gate_unlock(&gate, 0, 0, true);
    rp_gate_unlock(&gate, 0, 1, true);
    assert_true(rp_gate_lock(&gate, 0, 2, false, &waited));
    assert_int_equal(waited, 0);
    assert_true(rp_gate_lock(&gate, 0, 2, false, &waited)); /* its owner may */
    rp_gate_unlock(&gate, 0, 1, false);                     /* not its owner */
    assert_int_equal(atomic_load(&gate.locks[0].state), WIO_LOCK_EXCLUSIVE);
    rp_gate_unlock_all(&gate, 2);
    assert_int_equal(atomic_load(&gate.locks[0].state), 0);
}

/* ---- queues ---- */

static _Atomic uint32_t got;

static void *use_queue(void *arg)
{
    uint32_t stream = (uint32_t)(uintptr_t)arg;
    struct wio_release release;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (stream == 0) {
            for (unsigned k = 1; k < WORKERS; k++) {
                rp_gate_put(&gate, 0);
            }
        } else {
            assert_true(rp_gate_take(&gate, stream, act_of(1, 0, WIO_ACT_GET), &release));
            atomic_fetch_add(&got, 1);
        }
    }
    return NULL;
}

static void a_queue_gives_what_was_put(void **state)
{
    (void)state;
    make(FOUR "sem_post stream=0 t=3000 a0=0x8000\nclose stream=0 t=4000 fd=3\n"
              "sem_wait stream=1 t=2500 dur=600 a0=0x8000\n"
              "edge 0:0 1:0 class=queue evidence=thread object=1\n");
    atomic_store(&got, 0);
    run(use_queue);
    assert_int_equal(atomic_load(&got), ROUNDS * (WORKERS - 1));
    assert_int_equal(atomic_load(&gate.queues[0].count), 0);
}

/* Five units, and each call takes three: had the threads one after the other, none would go on. */
static void *take_three(void *arg)
{
    uint32_t stream = (uint32_t)(uintptr_t)arg;
    struct wio_release release;
    size_t act = act_of(stream, 0, WIO_ACT_GET);
    for (unsigned i = 0; i < ROUNDS; i++) {
        assert_true(rp_gate_take(&gate, stream, act, &release));
        assert_int_equal(atomic_fetch_add(&got, 1), 0);
        assert_int_equal(atomic_fetch_sub(&got, 1), 1);
        for (size_t k = 0; k < 3; k++) {
            rp_gate_put(&gate, plan->waits.acts[act + k].index);
        }
    }
    return NULL;
}

static void what_a_call_takes_it_gets_at_once(void **state)
{
    (void)state;
    make(FOUR "semctl stream=0 t=100 a0=0x8000 a1=3\nsemctl stream=0 t=200 a0=0x9000 a1=2\n"
              "semop stream=1 t=300 dur=100 a0=0x8000 a1=1\n"
              "semop stream=1 t=300 dur=100 a0=0x9000 caused\n"
              "semop_post stream=1 t=500 a0=0x8000 a1=1\n"
              "semop_post stream=1 t=500 a0=0x9000 caused\n"
              "semop stream=2 t=400 dur=200 a0=0x9000\n"
              "semop stream=2 t=400 dur=200 a0=0x8000 a1=1 caused\n"
              "semop_post stream=2 t=700 a0=0x9000\n"
              "semop_post stream=2 t=700 a0=0x8000 a1=1 caused\n"
              "semop stream=3 t=600 dur=200 a0=0x8000 a1=1\n"
              "semop stream=3 t=600 dur=200 a0=0x9000 caused\n"
              "semop_post stream=3 t=900 a0=0x8000 a1=1\n"
              "semop_post stream=3 t=900 a0=0x9000 caused\n"
              "edge 1:1 2:1 class=queue evidence=thread object=1\n"
              "edge 1:1 2:0 class=queue evidence=thread object=2\n"
              "edge 2:1 3:0 class=queue evidence=thread object=1\n"
              "edge 2:1 3:1 class=queue evidence=thread object=2\n");
    pthread_t threads[WORKERS];
    atomic_store(&got, 0);
    atomic_store(&board->crowd->threads, WORKERS - 1);
    for (uintptr_t i = 1; i < WORKERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_three, (void *)i), 0);
    }
    for (uint32_t i = 1; i < WORKERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&gate.queues[0].count), 0);
    assert_int_equal(atomic_load(&gate.queues[1].count), 0);
}

/* ---- the watch ---- */

static void wait_until_it_waits(void)
{
    while (atomic_load(&gate.streams[1].act) == 0) {
        wio_clock_sleep_ns(1000000);
    }
}

static void *wait_in_vain(void *arg)
{
    uint32_t stream = (uint32_t)(uintptr_t)arg;
    struct wio_release release;
    return rp_gate_take(&gate, stream, act_of(stream, 0, WIO_ACT_TAKE), &release) ? arg : NULL;
}

static void a_waiter_is_named_and_an_abort_ends_it(void **state)
{
    (void)state;
    pthread_t thread;
    void *result;
    struct wio_error err = WIO_ERROR_INIT;
    struct rp_stuck stuck = {0};
    make(FOUR "close stream=0 t=1000 fd=3\nMPI_Recv stream=1 t=1000 dur=2000\nedge 0:0 1:0\n");
    atomic_store(&board->crowd->threads, 1);
    assert_false(rp_gate_is_stuck(&gate, &stuck));
    assert_int_equal(pthread_create(&thread, NULL, wait_in_vain, (void *)1), 0);
    wait_until_it_waits();
    assert_false(rp_gate_is_stuck(&gate, &stuck)); /* not for long */
    stuck.since_ns -= 2 * RP_STUCK_NS;
    assert_true(rp_gate_is_stuck(&gate, &stuck));
    rp_gate_name_waits(&gate, &err);
    assert_non_null(strstr(err.message, "pid 10 thread 11 at event 0 (MPI_Recv) waits for "
                                        "pid 10 thread 10 to get past event 0 (hard, mpi)"));
    (void)wio_error_set(&err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET, "over");
    rp_board_fail(board, &err);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_null(result);
}

static void *get_one(void *arg)
{
    struct wio_release release;
    return rp_gate_take(&gate, 1, act_of(1, 0, WIO_ACT_GET), &release) ? arg : NULL;
}

static void *lock_one(void *arg)
{
    uint64_t waited;
    return rp_gate_lock(&gate, 0, 1, false, &waited) ? arg : NULL;
}

/* Stream 1 waits for what does not come, and all others wait, too. */
static void let_go(void *(*wait)(void *))
{
    pthread_t thread;
    void *result;
    struct rp_stuck stuck = {0};
    atomic_store(&board->crowd->threads, 1);
    assert_false(rp_gate_untie(&gate, &stuck));
    assert_int_equal(pthread_create(&thread, NULL, wait, board), 0);
    wait_until_it_waits();
    assert_false(rp_gate_is_stuck(&gate, &stuck));
    assert_false(rp_gate_untie(&gate, &stuck)); /* not for long */
    stuck.since_ns -= 2 * RP_KNOT_NS;
    assert_true(rp_gate_untie(&gate, &stuck));
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, board);
    assert_int_equal(atomic_load(&board->untied), 1);
}

static void a_waiter_for_a_queue_is_let_go_and_its_put_is_not_missed(void **state)
{
    (void)state;
    make(FOUR "sem_post stream=0 t=3000 a0=0x8000\nclose stream=0 t=4000 fd=3\n"
              "sem_wait stream=1 t=2500 dur=600 a0=0x8000\n"
              "edge 0:0 1:0 class=queue evidence=thread object=1\n");
    let_go(get_one);
    rp_gate_put(&gate, 0);
    assert_int_equal(atomic_load(&gate.queues[0].count), 0);
    rp_gate_put(&gate, 0);
    assert_int_equal(atomic_load(&gate.queues[0].count), 1);
}

static void a_waiter_for_a_lock_is_let_go_without_it(void **state)
{
    (void)state;
    uint64_t waited;
    make(LOCKS);
    assert_true(rp_gate_lock(&gate, 0, 0, false, &waited));
    let_go(lock_one);
    rp_gate_unlock(&gate, 0, 1, false);
    assert_int_equal(atomic_load(&gate.locks[0].owner), 1);
}

/* The thread went on just before it was let go, and waits for the same lock again. */
static void a_pass_is_for_one_wait(void **state)
{
    (void)state;
    pthread_t thread;
    uint64_t waited;
    make(LOCKS);
    assert_true(rp_gate_lock(&gate, 0, 0, false, &waited));
    let_go(lock_one);
    uint64_t pass = atomic_load(&gate.streams[1].pass);
    assert_int_equal(pthread_create(&thread, NULL, lock_one, board), 0);
    wait_until_it_waits();
    atomic_store(&gate.streams[1].pass, pass);
    wio_clock_sleep_ns(60000000); /* it has looked since */
    assert_int_not_equal(atomic_load(&gate.streams[1].act), 0);
    rp_gate_unlock(&gate, 0, 0, false);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&gate.locks[0].owner), 2);
    assert_int_equal(atomic_load(&board->untied), 1);
}

static void *share_one(void *arg)
{
    uint64_t waited;
    return rp_gate_lock(&gate, 0, 1, true, &waited) ? arg : NULL;
}

/* It gives nothing back, or a writer came in beside the reader that has its share. */
static void a_stream_let_go_without_a_share_gives_none_back(void **state)
{
    (void)state;
    uint64_t waited;
    make(LOCKS);
    assert_true(rp_gate_lock(&gate, 0, 0, false, &waited));
    let_go(share_one);
    rp_gate_unlock(&gate, 0, 0, false);
    assert_true(rp_gate_lock(&gate, 0, 0, true, &waited));
    rp_gate_unlock(&gate, 0, 1, true);
    assert_int_equal(atomic_load(&gate.locks[0].state), 1);
    rp_gate_unlock(&gate, 0, 0, true);
    assert_int_equal(atomic_load(&gate.locks[0].state), 0);
}

/* Does a thread that has waited for long, and is watched, sleep? One that will is waited for. */
static bool sleeps(const char *evidence, bool is_wanted)
{
    pthread_t thread;
    char script[256];
    void *result;
    (void)snprintf(script, sizeof(script),
                   FOUR "close stream=0 t=1000 fd=3\nread stream=1 t=1000 dur=2000 fd=3\n"
                        "edge 0:0 1:0 evidence=%s\n",
                   evidence);
    make(script);
    board->processors = UINT32_MAX; /* no thread is in the way of a spinning one */
    assert_int_equal(pthread_create(&thread, NULL, wait_in_vain, (void *)1), 0);
    wait_until_it_waits();
    for (unsigned i = 0; (is_wanted || i < 20) && atomic_load(&gate.streams[1].is_asleep) == 0;
         i++) {
        wio_clock_sleep_ns(1000000);
    }
    bool is_asleep = atomic_load(&gate.streams[1].is_asleep) != 0;
    rp_gate_pass(&gate, 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_non_null(result);
    return is_asleep;
}

static void waits_for_messages_are_busy(void **state)
{
    (void)state;
    assert_false(sleeps("mpi", false));
}

static void waits_for_flags_are_busy(void **state)
{
    (void)state;
    assert_false(sleeps("held", false));
}

static void other_waits_sleep(void **state)
{
    (void)state;
    assert_true(sleeps("pipe", true));
}

static void an_absent_stream_keeps_no_other(void **state)
{
    (void)state;
    struct wio_release release;
    make(FOUR "close stream=0 t=1000 fd=3\nMPI_Recv stream=1 t=1000 dur=2000\nedge 0:0 1:0\n");
    rp_gate_pass(&gate, 0);
    assert_true(rp_gate_take(&gate, 1, act_of(1, 0, WIO_ACT_TAKE), &release));
}

int main(void)
{
#define GATE_TEST(name) cmocka_unit_test_teardown(name, drop)
    const struct CMUnitTest tests[] = {
        GATE_TEST(processes_follow_each_other),
        GATE_TEST(no_member_leaves_before_all_have_come),
        GATE_TEST(a_lock_excludes),
        GATE_TEST(an_unlock_wakes_one_of_many),
        GATE_TEST(readers_share_a_lock),
        GATE_TEST(a_queue_gives_what_was_put),
        GATE_TEST(what_a_call_takes_it_gets_at_once),
        GATE_TEST(a_waiter_is_named_and_an_abort_ends_it),
        GATE_TEST(a_waiter_for_a_queue_is_let_go_and_its_put_is_not_missed),
        GATE_TEST(a_waiter_for_a_lock_is_let_go_without_it),
        GATE_TEST(a_pass_is_for_one_wait),
        GATE_TEST(a_stream_let_go_without_a_share_gives_none_back),
        GATE_TEST(waits_for_messages_are_busy),
        GATE_TEST(waits_for_flags_are_busy),
        GATE_TEST(other_waits_sleep),
        GATE_TEST(an_absent_stream_keeps_no_other),
    };
    return WIO_RUN(tests);
}
