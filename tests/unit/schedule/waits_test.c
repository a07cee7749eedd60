/* SPDX-License-Identifier: Apache-2.0 */
/* What stored edges become: acts of each stream, times of release, circles. */
#include "support/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <whyio/trace.h>

#include "read_waits.h"
#include "support/script_open.h"

#define TWO "process 10 rank=0\nprocess 20 rank=1\nstream 0 10\nstream 1 20\n"

static struct wio_trace *trace;
static struct wio_waits waits;

static enum wio_status make(const char *script, struct wio_error *err)
{
    trace = script_open(script);
    return read_waits(&waits, trace, true, err);
}

static int drop(void **state)
{
    (void)state;
    wio_waits_fini(&waits);
    wio_trace_close(trace);
    waits = (struct wio_waits){0};
    trace = NULL;
    return 0;
}

static void assert_act(uint32_t stream, size_t i, enum wio_act_kind kind, uint64_t seq)
{
    assert_true(waits.first[stream] + i < waits.first[stream + 1]);
    const struct wio_act *act = &waits.acts[waits.first[stream] + i];
    assert_int_equal(act->kind, kind);
    assert_int_equal(act->seq, seq);
}

static size_t acts(uint32_t stream)
{
    return waits.first[stream + 1] - waits.first[stream];
}

static void an_edge_is_given_by_the_call_behind_it(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make(TWO "pwrite stream=0 t=1000 fd=3 path=/a off=0 size=1\n"
                       "MPI_Send stream=0 t=5000\n"
                       "MPI_Recv stream=1 t=2000 dur=4000\n"
                       "edge 0:0 1:0\n",
                   &err),
              &err);
    assert_int_equal(acts(0), 1);
    assert_int_equal(acts(1), 1);
    assert_act(0, 0, WIO_ACT_GIVE, 1);
    assert_act(1, 0, WIO_ACT_TAKE, 0);
    assert_int_equal(waits.edges[0].release_ns, 5000);
    assert_int_equal(waits.by_class[WIO_EDGE_HARD], 1);
}

static void the_maker_of_a_file_gives_when_it_is_there(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make(TWO "open stream=0 t=1000 dur=300 path=/a a0=0x41 res=3\n"
                       "access stream=1 t=2000 path=/a\n"
                       "edge 0:0 1:0 evidence=poll\n",
                   &err),
              &err);
    assert_act(0, 0, WIO_ACT_GIVE_END, 0);
    assert_int_equal(waits.edges[0].release_ns, 1300);
}

static void what_follows_the_last_event_is_given_at_the_end(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make(TWO "close stream=0 t=1000 dur=50 fd=3 path=/a\n"
                       "wait stream=1 t=900 dur=900\n"
                       "edge 0:0 1:0 evidence=process\n",
                   &err),
              &err);
    assert_act(0, 0, WIO_ACT_GIVE, 1);
    assert_int_equal(waits.edges[0].release_ns, 1050);
}

static void a_collective_is_one_meeting(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make(TWO "MPI_Ibarrier stream=0 t=1000\nMPI_Wait stream=0 t=2000 dur=2000\n"
                       "MPI_Barrier stream=1 t=3000\nMPI_Bcast stream=1 t=4000\n"
                       "MPI_Bcast stream=0 t=5000\n"
                       "collective 0:0-1 1:0\ncollective 0:2< 1:1>\n",
                   &err),
              &err);
    assert_int_equal(acts(0), 3);
    assert_act(0, 0, WIO_ACT_ENTER, 0);
    assert_act(0, 1, WIO_ACT_LEAVE, 1);
    assert_act(0, 2, WIO_ACT_LEAVE, 2);
    assert_act(1, 0, WIO_ACT_ENTER, 0);
    assert_act(1, 1, WIO_ACT_LEAVE, 0);
    assert_act(1, 2, WIO_ACT_ENTER, 1);
    assert_int_equal(waits.meetings[0].release_ns, 3000);
    assert_int_equal(waits.meetings[1].release_ns, 4000);
    assert_int_equal(waits.meetings[1].givers, 1);
}

static void mutexes_are_locks_and_queues_are_queues(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make("process 10\nstream 0 10\nstream 0 11\n"
                   "pthread_mutex_lock stream=0 t=1000 a0=0x7000\n"
                   "pthread_mutex_unlock stream=0 t=2000 a0=0x7000\n"
                   "pthread_mutex_lock stream=1 t=1500 dur=600 a0=0x7000\n"
                   "sem_post stream=0 t=3000 a0=0x8000\n"
                   "sem_wait stream=1 t=2500 dur=600 a0=0x8000\n"
                   "edge 0:0 1:0 class=mutex evidence=thread object=1\n"
                   "edge 0:1 1:1 class=queue evidence=thread object=2\n",
                   &err),
              &err);
    assert_int_equal(acts(0), 1);
    assert_act(0, 0, WIO_ACT_PUT, 2);
    assert_act(1, 0, WIO_ACT_LOCKED, 0);
    assert_act(1, 1, WIO_ACT_GET, 1);
    assert_int_equal(waits.edges[0].release_ns, 2000);
    assert_int_equal(wio_waits_lock(&waits, 0, 0x7000), 0);
    assert_int_equal(wio_waits_lock(&waits, 0, 0x7008), UINT32_MAX);
    assert_int_equal(wio_waits_lock(&waits, 1, 0x7000), UINT32_MAX);
    assert_int_equal(wio_lock_key(0, -5), wio_lock_key(1, -5)); /* shared by processes */
}

/* When a lock was free is when its owner left it, not when that one was seen again. */
static void a_lock_is_free_when_it_is_left(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make("process 10\nstream 0 10\nstream 0 11\n"
                   "pthread_mutex_lock stream=0 t=1000 a0=0x7000\n"
                   "pthread_mutex_unlock stream=0 t=2000 a0=0x7000\n"
                   "close stream=0 t=9000 fd=3\n"
                   "pthread_mutex_lock stream=1 t=1500 dur=600 a0=0x7000\n"
                   "edge 0:1 1:0 class=mutex evidence=thread object=1\n",
                   &err),
              &err);
    assert_int_equal(waits.edges[0].release_ns, 2000);
}

/* Two threads pass a file lock on, and have a mutex around each call. */
static void pass_a_file_lock(const char *command)
{
    char script[1024];
    struct wio_error err = WIO_ERROR_INIT;
    int size = snprintf(script, sizeof(script),
                        "process 10\nstream 0 10\nstream 0 11\n"
                        "pthread_mutex_lock stream=0 t=1000 a0=0x7000\n"
                        "fcntl stream=0 t=2000 fd=3 path=/a off=0 size=1 a0=6 a2=2\n"
                        "pthread_mutex_unlock stream=0 t=3000 a0=0x7000\n"
                        "pthread_mutex_lock stream=1 t=4000 a0=0x7000\n"
                        "fcntl stream=1 t=5000 fd=3 path=/a off=0 size=1 a0=%s a2=1\n"
                        "pthread_mutex_unlock stream=1 t=6000 a0=0x7000\n"
                        "edge 0:2 1:0 class=mutex evidence=thread object=1\n"
                        "edge 0:1 1:1 class=mutex evidence=lock object=2\n",
                        command);
    assert_in_range(size, 1, sizeof(script) - 1);
    assert_ok(make(script, &err), &err);
}

/* A try for a file lock comes behind its holder, and so does a trylock of a mutex. */
static void a_file_lock_got_by_a_try_keeps_its_order(void **state)
{
    (void)state;
    pass_a_file_lock("6");
    assert_int_equal(acts(0), 2);
    assert_act(0, 0, WIO_ACT_GIVE, 1);
    assert_act(0, 1, WIO_ACT_GIVE, 2);
    assert_int_equal(acts(1), 2);
    assert_act(1, 0, WIO_ACT_TAKE, 0);
    assert_act(1, 1, WIO_ACT_TAKE, 1);
    assert_int_equal(waits.edges[0].release_ns, 3000);
    assert_int_equal(waits.edges[1].release_ns, 2000);
}

static void a_file_lock_that_is_waited_for_has_any_order(void **state)
{
    (void)state;
    pass_a_file_lock("7");
    assert_int_equal(acts(0), 0);
    assert_int_equal(acts(1), 2);
    assert_act(1, 0, WIO_ACT_LOCKED, 0);
    assert_act(1, 1, WIO_ACT_LOCKED, 1);
}

/* The first wait is for what the semaphore held, the last post is not taken. */
static void semaphores_lose_nothing(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make("process 10\nstream 0 10\nstream 0 11\n"
                   "sem_wait stream=0 t=1000 a0=0x8000\n"
                   "sem_post stream=0 t=2000 a0=0x8000\n"
                   "sem_trywait stream=1 t=1500 a0=0x8000 res=-1 err=11\n"
                   "sem_wait stream=1 t=1600 dur=500 a0=0x8000\n"
                   "sem_post stream=1 t=3000 a0=0x8000\n"
                   "sem_post stream=1 t=4000 a0=0x9000\n"
                   "edge 0:0 1:1 class=queue evidence=thread object=1\n",
                   &err),
              &err);
    assert_int_equal(waits.queue_count, 1);
    assert_int_equal(waits.spare[0], 1);
    assert_int_equal(acts(0), 2);
    assert_act(0, 0, WIO_ACT_GET, 0);
    assert_act(0, 1, WIO_ACT_PUT, 1);
    assert_int_equal(acts(1), 2);
    assert_act(1, 0, WIO_ACT_GET, 1);
    assert_act(1, 1, WIO_ACT_PUT, 2);
    assert_int_equal(waits.acts[waits.first[1]].index, 0); /* the edge */
    for (size_t i = waits.first[0]; i < waits.first[2]; i++) {
        assert_int_equal(wio_waits_queue(&waits, waits.acts[i].index), 0);
    }
}

#define TWO_THREADS "process 10\nstream 0 10\nstream 0 11\n"

/* Each takes both semaphores with one call and posts both with another one. R-SYNC-6 */
static void a_call_gets_all_that_it_takes_together(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make(TWO_THREADS "semop stream=0 t=1000 a0=0x8000\n"
                               "semop stream=0 t=1000 a0=0x9000 caused\n"
                               "semop_post stream=0 t=2000 a0=0x8000\n"
                               "semop_post stream=0 t=2000 a0=0x9000 caused\n"
                               "semop stream=1 t=1500 dur=600 a0=0x9000\n"
                               "semop stream=1 t=1500 dur=600 a0=0x8000 caused\n"
                               "semop_post stream=1 t=3000 a0=0x9000\n"
                               "semop_post stream=1 t=3000 a0=0x8000 caused\n"
                               "edge 0:1 1:1 class=queue evidence=thread object=1\n"
                               "edge 0:1 1:0 class=queue evidence=thread object=2\n",
                   &err),
              &err);
    assert_int_equal(waits.queue_count, 2);
    for (uint32_t stream = 0; stream < 2; stream++) {
        size_t first = waits.first[stream];
        size_t end = waits.first[stream + 1];
        assert_int_equal(acts(stream), 4);
        assert_act(stream, 0, WIO_ACT_GET, 0);
        assert_act(stream, 1, WIO_ACT_GET, 0);
        assert_act(stream, 2, WIO_ACT_PUT, 2);
        assert_act(stream, 3, WIO_ACT_PUT, 3);
        assert_int_equal(wio_waits_together(&waits, first, end), 2);
        assert_int_equal(wio_waits_together(&waits, first + 2, end), 1);
        /* sorted by queue, whatever their order in the call */
        assert_int_equal(wio_waits_queue(&waits, waits.acts[first].index), 0);
        assert_int_equal(wio_waits_queue(&waits, waits.acts[first + 1].index), 1);
    }
    assert_int_equal(waits.spare[0], 1);
    assert_int_equal(waits.spare[1], 1);
}

/* {+1, -1, +1, -1} while there is one: it needs none but its own, and no more than the one. */
static void a_call_may_take_what_it_posts(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make(TWO_THREADS "semctl stream=0 t=500 a0=0x8000 a1=1\n"
                               "semop stream=0 t=1000 dur=500 a0=0x8000\n"
                               "semop stream=0 t=1000 dur=500 a0=0x8000 caused\n"
                               "semop_post stream=0 t=1000 dur=500 a0=0x8000 caused\n"
                               "semop_post stream=0 t=1000 dur=500 a0=0x8000 caused\n"
                               "semop stream=1 t=2000 dur=500 a0=0x8000\n"
                               "semop stream=1 t=2000 dur=500 a0=0x8000 caused\n"
                               "semop_post stream=1 t=2000 dur=500 a0=0x8000 caused\n"
                               "semop_post stream=1 t=2000 dur=500 a0=0x8000 caused\n"
                               "edge 0:3 1:0 class=queue evidence=thread object=1\n"
                               "edge 0:4 1:1 class=queue evidence=thread object=1\n",
                   &err),
              &err);
    assert_int_equal(waits.queue_count, 1);
    assert_int_equal(waits.spare[0], 1);
    for (uint32_t stream = 0; stream < 2; stream++) {
        assert_int_equal(acts(stream), 2);
        assert_act(stream, 0, WIO_ACT_GET, stream == 0 ? 1 : 0);
        assert_int_equal(waits.acts[waits.first[stream] + 1].kind, WIO_ACT_PUT);
    }
    assert_int_equal(waits.by_class[WIO_EDGE_QUEUE], 1);
}

/* A call that waits and posts gives when it is done, not when its thread comes to the next one; but
 * a wait for zero is ended by the take behind it. */
static void a_post_behind_a_wait_is_given_by_its_own_event(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make("process 10\nstream 0 10\nstream 0 11\nstream 0 12\n"
                   "semop_zero stream=0 t=1000 dur=300 a0=0x8000\n"
                   "semop_post stream=0 t=1000 dur=300 a0=0x8000 caused\n"
                   "semop stream=0 t=9000 a0=0x8000\n"
                   "semop stream=1 t=1100 dur=300 a0=0x7000\n"
                   "semop stream=1 t=1100 dur=300 a0=0x8000 caused\n"
                   "semop_zero stream=2 t=1200 dur=8000 a0=0x8000\n"
                   "edge 0:1 1:1 evidence=thread\nedge 0:1 2:0 evidence=thread\n",
                   &err),
              &err);
    assert_int_equal(acts(0), 2);
    assert_act(0, 0, WIO_ACT_GIVE_END, 1);
    assert_act(0, 1, WIO_ACT_GIVE, 2);
    assert_int_equal(waits.edges[0].release_ns, 1300);
    assert_int_equal(waits.edges[1].release_ns, 9000);
    assert_act(1, 0, WIO_ACT_TAKE, 0); /* of the call */
}

/* Stream 1 writes at two places of the program, and once at an unknown place. */
static void behind_a_wait_that_nothing_shows_the_same_code_does_the_same(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    static const uint64_t lags_ns[] = {50, 50, 50, 500, 900};
    assert_ok(make(TWO "close stream=0 t=1000 dur=100\n"
                       "pwrite stream=1 t=4100 fd=3 path=/a off=0 size=1 at=0x10\n"
                       "close stream=0 t=5000 dur=100\n"
                       "pwrite stream=1 t=5150 fd=3 path=/a off=0 size=1 at=0x10\n"
                       "close stream=0 t=6000 dur=100\n"
                       "pwrite stream=1 t=13100 fd=3 path=/a off=0 size=1 at=0x10\n"
                       "close stream=0 t=14000 dur=100\n"
                       "pwrite stream=1 t=14600 fd=3 path=/a off=0 size=1 at=0x20\n"
                       "close stream=0 t=15000 dur=100\n"
                       "pwrite stream=1 t=16000 fd=3 path=/a off=0 size=1\n"
                       "edge 0:0 1:0 evidence=held\nedge 0:1 1:1 evidence=held\n"
                       "edge 0:2 1:2 evidence=held\nedge 0:3 1:3 evidence=held\n"
                       "edge 0:4 1:4 evidence=held\n",
                   &err),
              &err);
    assert_int_equal(waits.edge_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(waits.edges[i].lag_ns, lags_ns[i]);
    }
}

/* Thread 1 waits for a message while it has what it got: that may come from a thread that waits for
 * it.
 */
static void a_queue_whose_takers_wait_for_others_keeps_its_order(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make("process 10\nstream 0 10\nstream 0 11\n"
                   "sem_wait stream=0 t=1000 a0=0x8000\n"
                   "sem_post stream=0 t=2000 a0=0x8000\n"
                   "sem_post stream=0 t=4000 a0=0x9000\n"
                   "sem_wait stream=1 t=1600 dur=500 a0=0x8000\n"
                   "sem_wait stream=1 t=3000 dur=2000 a0=0x9000\n"
                   "sem_post stream=1 t=6000 a0=0x8000\n"
                   "edge 0:0 1:0 class=queue evidence=thread object=1\n"
                   "edge 0:1 1:1 class=queue evidence=thread object=2\n",
                   &err),
              &err);
    assert_int_equal(acts(0), 2);
    assert_act(0, 0, WIO_ACT_GIVE, 1);
    assert_act(0, 1, WIO_ACT_PUT, 2);
    assert_int_equal(acts(1), 2);
    assert_act(1, 0, WIO_ACT_TAKE, 0);
    assert_act(1, 1, WIO_ACT_GET, 1);
}

static void a_cycle_is_named(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(make(TWO "MPI_Recv stream=0 t=1000\nMPI_Send stream=0 t=2000\n"
                           "MPI_Recv stream=1 t=1000\nMPI_Send stream=1 t=2000\n"
                           "edge 0:0 1:0\nedge 1:0 0:0\n",
                       &err),
                  WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "cycle"));
    assert_non_null(strstr(err.message, "rank 0 (pid 10, thread 10) at event 0 (MPI_Recv) waits "
                                        "for rank 1 (pid 20, thread 20)"));
    assert_non_null(strstr(err.message, "for rank 0 (pid 10, thread 10) to get past event 0"));
}

static void a_circle_through_a_collective_is_found(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(make(TWO "MPI_Barrier stream=0 t=1000\nMPI_Send stream=0 t=2000\n"
                           "MPI_Recv stream=1 t=1000\nMPI_Barrier stream=1 t=2000\n"
                           "collective 0:0 1:1\nedge 0:0 1:0\n",
                       &err),
                  WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "waits for all 2"));
}

static void edges_are_read_only_where_they_are_wanted(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(make(TWO "close stream=0 fd=3\nclose stream=1 fd=3\nedges\n", &err), &err);
    assert_true(waits.is_there);
    wio_waits_fini(&waits);
    waits = (struct wio_waits){0};
    assert_ok(read_waits(&waits, trace, false, &err), &err);
    assert_false(waits.is_there);
}

int main(void)
{
#define WAITS_TEST(name) cmocka_unit_test_teardown(name, drop)
    const struct CMUnitTest tests[] = {
        WAITS_TEST(an_edge_is_given_by_the_call_behind_it),
        WAITS_TEST(the_maker_of_a_file_gives_when_it_is_there),
        WAITS_TEST(what_follows_the_last_event_is_given_at_the_end),
        WAITS_TEST(a_collective_is_one_meeting),
        WAITS_TEST(mutexes_are_locks_and_queues_are_queues),
        WAITS_TEST(a_lock_is_free_when_it_is_left),
        WAITS_TEST(a_file_lock_got_by_a_try_keeps_its_order),
        WAITS_TEST(a_file_lock_that_is_waited_for_has_any_order),
        WAITS_TEST(semaphores_lose_nothing),
        WAITS_TEST(a_call_gets_all_that_it_takes_together),
        WAITS_TEST(a_call_may_take_what_it_posts),
        WAITS_TEST(a_post_behind_a_wait_is_given_by_its_own_event),
        WAITS_TEST(behind_a_wait_that_nothing_shows_the_same_code_does_the_same),
        WAITS_TEST(a_queue_whose_takers_wait_for_others_keeps_its_order),
        WAITS_TEST(a_cycle_is_named),
        WAITS_TEST(a_circle_through_a_collective_is_found),
        WAITS_TEST(edges_are_read_only_where_they_are_wanted),
    };
    return WIO_RUN(tests);
}
