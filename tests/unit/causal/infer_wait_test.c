/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores with units, message queues, FIFOs, what is done once: R-SYNC-6, R-SYNC-10, R-SYNC-11.
 */
#include "infer_script.h"

#include <fcntl.h>
#include <linux/futex.h>

/* What a semaphore began with is taken before what was posted: the third wait needs a post. */
static void units_that_were_there_go_first(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    (void)add_args(&s, 0, WIO_OP_sem_init, 1, 2, (int64_t[4]){64, 2});
    (void)add(&s, 1, WIO_OP_write, 3, 4);
    (void)add_args(&s, 1, WIO_OP_sem_post, 5, 6, (int64_t[4]){64});
    (void)add_args(&s, 2, WIO_OP_sem_wait, 7, 8, (int64_t[4]){64});
    (void)add_args(&s, 2, WIO_OP_sem_wait, 9, 10, (int64_t[4]){64});
    (void)add_args(&s, 2, WIO_OP_sem_wait, 11, 12, (int64_t[4]){64});
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 0, 2, 2, WIO_EDGE_HARD);
    end(&s);
}

/* Three units are taken of what two threads gave; one is left. */
static void a_call_takes_units_of_several(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)add(&s, 0, WIO_OP_write, 1, 2);
    (void)add(&s, 1, WIO_OP_write, 1, 2);
    (void)add_args(&s, 0, WIO_OP_semop_post, 3, 4, (int64_t[4]){INT64_MIN + 8, 1});
    (void)add_args(&s, 1, WIO_OP_semop_post, 5, 6, (int64_t[4]){INT64_MIN + 8, 1});
    (void)add_args(&s, 2, WIO_OP_semop, 3, 7, (int64_t[4]){INT64_MIN + 8, 2});
    (void)add_args(&s, 3, WIO_OP_semop, 8, 9, (int64_t[4]){INT64_MIN + 8, 0});
    finish(&s);
    assert_int_equal(s.edges.edge_count, 3);
    assert_edge(&s, 0, 0, 2, 0, WIO_EDGE_QUEUE);
    assert_edge(&s, 1, 0, 2, 0, WIO_EDGE_QUEUE);
    assert_edge(&s, 1, 0, 3, 0, WIO_EDGE_QUEUE);
    end(&s);
}

/* A wait until nothing is left waits for all takes. */
static void zero_comes_after_all_takers(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    for (uint32_t t = 0; t < 2; t++) {
        (void)add(&s, t, WIO_OP_write, 1 + t, 2 + t);
        (void)add_args(&s, t, WIO_OP_semop, 3 + t, 5 + t, (int64_t[4]){INT64_MIN + 8, 0});
    }
    (void)add_args(&s, 2, WIO_OP_semop_zero, 2, 9, (int64_t[4]){INT64_MIN + 8});
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 0, 0, 2, 0, WIO_EDGE_HARD);
    assert_edge(&s, 1, 0, 2, 0, WIO_EDGE_HARD);
    end(&s);
}

/* The calls that took the last units end after that of the one that found nothing left; the third
 * one finds a unit later only. */
static void units_are_gone_before_calls_end(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)add_args(&s, 3, WIO_OP_semop_post, 1, 2, (int64_t[4]){INT64_MIN + 8, 1});
    for (uint32_t t = 0; t < 3; t++) {
        (void)add(&s, t, WIO_OP_write, 3 + t, 4 + t);
    }
    (void)add_args(&s, 0, WIO_OP_semop, 10, 40, (int64_t[4]){INT64_MIN + 8, 0});
    (void)add_args(&s, 1, WIO_OP_semop, 11, 41, (int64_t[4]){INT64_MIN + 8, 0});
    (void)add_args(&s, 2, WIO_OP_semop, 12, 60, (int64_t[4]){INT64_MIN + 8, 0});
    (void)add_args(&s, 3, WIO_OP_semop_zero, 9, 20, (int64_t[4]){INT64_MIN + 8});
    (void)add_args(&s, 3, WIO_OP_semop_post, 50, 51, (int64_t[4]){INT64_MIN + 8, 0});
    finish(&s);
    assert_edge(&s, 0, 0, 3, 1, WIO_EDGE_HARD);
    assert_edge(&s, 1, 0, 3, 1, WIO_EDGE_HARD);
    for (size_t i = 0; i < s.edges.edge_count; i++) {
        assert_false(s.edges.edges[i].from_thread == 2);
    }
    end(&s);
}

/* What the call that found nothing left puts in itself comes behind that. */
static void units_of_the_same_call_are_not_taken_before_it(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)add(&s, 0, WIO_OP_write, 1, 2);
    (void)add_args(&s, 0, WIO_OP_semop, 3, 20, (int64_t[4]){INT64_MIN + 8, 0});
    (void)add_args(&s, 1, WIO_OP_semop_zero, 5, 6, (int64_t[4]){INT64_MIN + 8});
    (void)add_args(&s, 1, WIO_OP_semop_post, 5, 6, (int64_t[4]){INT64_MIN + 8, 0});
    finish(&s);
    for (size_t i = 0; i < s.edges.edge_count; i++) {
        assert_false(s.edges.edges[i].from_thread == 0);
    }
    end(&s);
}

/* A full queue: the second send waits for the receive of whatever message. */
static void a_full_queue_lets_senders_wait(void **state)
{
    (void)state;
    const int64_t one = INT64_MIN + 8;
    const int64_t two = INT64_MIN + 9;
    const int64_t queue = INT64_MIN + 10;
    struct script s;
    begin(&s, false);
    (void)add(&s, 0, WIO_OP_write, 1, 2);
    (void)add_args(&s, 0, WIO_OP_msgsnd, 3, 4, (int64_t[4]){one, 0});
    (void)add_args(&s, 0, WIO_OP_msgsnd, 5, 20, (int64_t[4]){two, queue});
    (void)add(&s, 1, WIO_OP_write, 8, 9);
    (void)add_args(&s, 1, WIO_OP_msgrcv, 10, 11, (int64_t[4]){one, queue});
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 0, 0, 1, 1, WIO_EDGE_HARD);
    assert_edge(&s, 1, 0, 0, 2, WIO_EDGE_HARD);
    end(&s);
}

static void a_late_thread_waits_for_the_initialiser(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    (void)add(&s, 0, WIO_OP_write, 1, 9);
    add_args(&s, 0, WIO_OP_once_done, 10, 10, (int64_t[4]){64})->result = INT32_MAX;
    (void)add_args(&s, 1, WIO_OP_pthread_once, 5, 12, (int64_t[4]){64});
    (void)add_args(&s, 2, WIO_OP_pthread_once, 6, 13, (int64_t[4]){64});
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 0, 0, 1, 0, WIO_EDGE_HARD);
    assert_edge(&s, 0, 0, 2, 0, WIO_EDGE_HARD);
    end(&s);
}

static struct wio_event *futex(struct script *script, uint32_t thread, uint64_t begin_ns,
                               uint64_t end_ns, const int64_t *args, int64_t result)
{
    bool wakes = result >= 0;
    struct wio_event *event = add_args(
        script, thread, wakes ? WIO_OP_futex_wake : WIO_OP_futex_wait, begin_ns, end_ns, args);
    event->result = wakes ? result : 0;
    event->size = WIO_NO_SIZE;
    return event;
}

#define WAITS (-1)

/* The same two waits: one for a signal, the other for a lock that a condition hands on. */
static void a_lock_made_of_a_condition_is_a_lock(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    (void)add(&s, 0, WIO_OP_fsync, 1, 2);
    (void)add_args(&s, 1, WIO_OP_pthread_cond_wait, 3, 11, (int64_t[4]){64, 72, 0});
    (void)add_args(&s, 2, WIO_OP_pthread_cond_wait, 4, 21, (int64_t[4]){80, 88, 1});
    (void)add_args(&s, 0, WIO_OP_pthread_cond_signal, 10, 11, (int64_t[4]){64});
    (void)add_args(&s, 0, WIO_OP_pthread_cond_signal, 20, 21, (int64_t[4]){80});
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 0, 0, 1, 0, WIO_EDGE_HARD);
    assert_edge(&s, 0, 1, 2, 0, WIO_EDGE_MUTEX);
    end(&s);
}

/* One of three is woken, two are moved, one of which is woken there. */
static void a_moved_waiter_waits_for_two(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    (void)add(&s, 0, WIO_OP_fsync, 1, 2);
    (void)futex(&s, 1, 3, 31, (int64_t[4]){64, FUTEX_WAIT}, WAITS);
    (void)futex(&s, 2, 4, 51, (int64_t[4]){64, FUTEX_WAIT}, WAITS);
    (void)futex(&s, 0, 30, 32, (int64_t[4]){64, FUTEX_CMP_REQUEUE, 1, 68}, 3);
    (void)add(&s, 3, WIO_OP_fsync, 40, 41);
    (void)futex(&s, 3, 50, 52, (int64_t[4]){68, FUTEX_WAKE, 1, 0}, 1);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 3);
    assert_edge(&s, 0, 0, 1, 0, WIO_EDGE_HARD);
    assert_edge(&s, 0, 0, 2, 0, WIO_EDGE_HARD);
    assert_edge(&s, 3, 0, 2, 0, WIO_EDGE_HARD);
    end(&s);
}

/* A wake for others, and the unlock of a lock of the kernel's. */
static void wakes_are_for_the_waiters_meant(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    for (uint32_t t = 0; t < 3; t++) {
        (void)add(&s, t, WIO_OP_fsync, 1 + t, 2 + t);
    }
    futex(&s, 3, 5, 40, (int64_t[4]){64, FUTEX_WAIT_BITSET}, WAITS)->size = 2;
    futex(&s, 0, 10, 11, (int64_t[4]){64, FUTEX_WAKE_BITSET, 1, 0}, 1)->size = 1;
    futex(&s, 1, 20, 21, (int64_t[4]){64, FUTEX_WAKE_BITSET, 1, 0}, 1)->size = 6;
    (void)futex(&s, 3, 50, 60, (int64_t[4]){72, FUTEX_LOCK_PI_PRIVATE}, WAITS);
    (void)futex(&s, 2, 55, 56, (int64_t[4]){72, FUTEX_UNLOCK_PI_PRIVATE, 0, 0}, 0);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 1, 0, 3, 0, WIO_EDGE_HARD);
    assert_edge(&s, 2, 0, 3, 1, WIO_EDGE_HARD);
    end(&s);
}

static struct wio_event *open_fifo(struct script *script, uint32_t thread, uint64_t begin_ns,
                                   uint64_t end_ns, int64_t flags)
{
    struct wio_event *event =
        add_args(script, thread, WIO_OP_open, begin_ns, end_ns, (int64_t[4]){flags});
    event->path = 3;
    event->result = 5;
    return event;
}

static void make_fifo(struct script *script)
{
    add(script, 0, WIO_OP_mkfifo, 1, 2)->path = 3;
    (void)add(script, 1, WIO_OP_fsync, 3, 4);
    (void)add(script, 2, WIO_OP_fsync, 3, 4);
}

/* A failed call and one that does not wait: neither gives nor takes, but what it opened is there.
 */
static void fifos_wait_for_the_other_side(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    make_fifo(&s);
    open_fifo(&s, 1, 5, 6, O_WRONLY | O_NONBLOCK)->error = 6;
    (void)open_fifo(&s, 1, 7, 8, O_RDONLY | O_NONBLOCK);
    (void)open_fifo(&s, 2, 9, 10, O_WRONLY);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 1, 2, 1, WIO_EDGE_HARD);
    end(&s);
}

/* The writer has come, written and gone before the reader's call returns. */
static void a_short_opening_lets_the_other_side_go(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    make_fifo(&s);
    (void)open_fifo(&s, 1, 5, 30, O_RDONLY);
    (void)open_fifo(&s, 2, 10, 12, O_WRONLY);
    struct wio_event *closing = add(&s, 2, WIO_OP_close, 14, 15);
    closing->path = 3;
    closing->fd = 5;
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 2, 0, 1, 1, WIO_EDGE_HARD);
    assert_edge(&s, 1, 0, 2, 1, WIO_EDGE_HARD);
    end(&s);
}

/* fopen, and the open that it causes, are one opening. */
static void an_opening_by_a_stream_lasts(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    make_fifo(&s);
    struct wio_event *stream =
        add_args(&s, 1, WIO_OP_fopen, 5, 30, (int64_t[4]){O_WRONLY | O_CREAT});
    stream->path = 3;
    stream->result = 5;
    open_fifo(&s, 1, 5, 30, O_WRONLY | O_CREAT)->flags = WIO_EVENT_CAUSED;
    (void)open_fifo(&s, 2, 29, 40, O_RDONLY);
    (void)add(&s, 0, WIO_OP_fsync, 35, 36);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 1, 0, 2, 1, WIO_EDGE_HARD);
    assert_edge(&s, 2, 0, 1, 1, WIO_EDGE_HARD);
    end(&s);
}

/* The side that was there has been closed: no thread was let go by it. */
static void a_closed_side_lets_no_waiter_go(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    make_fifo(&s);
    (void)open_fifo(&s, 2, 5, 6, O_RDWR);
    struct wio_event *closing = add(&s, 2, WIO_OP_close, 7, 8);
    closing->path = 3;
    closing->fd = 5;
    (void)open_fifo(&s, 1, 10, 30, O_RDONLY);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 0);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_that_were_there_go_first),
        cmocka_unit_test(a_call_takes_units_of_several),
        cmocka_unit_test(zero_comes_after_all_takers),
        cmocka_unit_test(units_of_the_same_call_are_not_taken_before_it),
        cmocka_unit_test(units_are_gone_before_calls_end),
        cmocka_unit_test(a_full_queue_lets_senders_wait),
        cmocka_unit_test(a_late_thread_waits_for_the_initialiser),
        cmocka_unit_test(a_lock_made_of_a_condition_is_a_lock),
        cmocka_unit_test(a_moved_waiter_waits_for_two),
        cmocka_unit_test(wakes_are_for_the_waiters_meant),
        cmocka_unit_test(fifos_wait_for_the_other_side),
        cmocka_unit_test(a_short_opening_lets_the_other_side_go),
        cmocka_unit_test(an_opening_by_a_stream_lasts),
        cmocka_unit_test(a_closed_side_lets_no_waiter_go),
    };
    return WIO_RUN(tests);
}
