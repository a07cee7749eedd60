/* SPDX-License-Identifier: Apache-2.0 */
/* When what happens: computing, waiting, operations. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include <whyio/trace.h>

#include "try.h"

/* Gaps stay, durations are the model's. */
static void computing_stays_as_recorded(void **state)
{
    (void)state;
    predict("process 10 rank=0\nstream 0 10\n"
            "pwrite t=100000 dur=5000 fd=3 path=/a off=0 size=50\n"
            "pwrite t=125000 dur=5000 fd=3 path=/a off=50 size=1\n"
            "pread t=131000 dur=500000 fd=3 path=/a off=0 size=10\n");
    assert_us(try.ends_s[0], 100 + 50);
    assert_us(try.ends_s[1], 150 + 20 + 1);
    assert_us(try.ends_s[2], 171 + 1 + 10);
    assert_int_equal(try.result.all.ops, 3);
    assert_int_equal(try.result.all.bytes_written, 51);
    assert_int_equal(try.result.all.bytes_read, 10);
    assert_us(try.result.all.io_s, 61);
    assert_us(try.result.all.compute_s, 21);
    assert_us(try.result.all.total_s, 82);
    assert_us(try.result.all.traced_s, 531);
    assert_int_equal(try.result.rank_count, 1);
    assert_int_equal(try.result.ranks[0].rank, 0);
}

/* What no model knows takes its recorded time. */
static void metadata_takes_its_recorded_time(void **state)
{
    (void)state;
    predict("open t=10000 dur=7000 path=/a a0=0x41 res=3\n"
            "pwrite t=17000 dur=1000 fd=3 path=/a off=0 size=3\n"
            "write t=20000 dur=4000 fd=1 path=pipe:[7] size=9\n"
            "close t=30000 dur=2000 fd=3 path=/a\n");
    assert_int_equal(try.result.all.ops, 1);
    assert_us(try.ends_s[0], 17 + 3);
    assert_us(try.result.all.total_s, 7 + 3 + 12 + 2);
}

/* Rank 1 computes 5 us after the message, wherever that comes. */
static void a_message_is_waited_for(void **state)
{
    (void)state;
    static const char script[] = TWO "pwrite stream=0 t=1000 dur=9000 fd=3 path=/a off=0 size=%d\n"
                                     "MPI_Send stream=0 t=12000 dur=500\n"
                                     "MPI_Recv stream=1 t=2000 dur=11000\n"
                                     "pwrite stream=1 t=18000 dur=100 fd=3 path=/b off=0 size=4\n"
                                     "edge 0:0 1:0\n";
    char text[1024];
    (void)snprintf(text, sizeof(text), script, 100);
    predict(text);
    /* the send begins 2 us behind the write; 1 us later the receive ends */
    assert_us(try.ends_s[0], 1 + 100);
    assert_us(try.ends_s[1], 101 + 2 + 1 + 5 + 4);
    assert_true(try.result.ranks[1].wait_s >= 0);
    (void)snprintf(text, sizeof(text), script, 1);
    predict(text);
    assert_us(try.ends_s[1], 2 + 2 + 1 + 5 + 4);
}

static void a_barrier_waits_for_the_last(void **state)
{
    (void)state;
    predict(TWO "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=70\n"
                "MPI_Barrier stream=0 t=2000 dur=1000\n"
                "pwrite stream=0 t=3000 dur=1000 fd=3 path=/a off=70 size=1\n"
                "MPI_Barrier stream=1 t=500 dur=2500\n"
                "pwrite stream=1 t=3000 dur=1000 fd=3 path=/b off=0 size=1\n"
                "collective 0:1 1:0\n");
    assert_us(try.ends_s[0], 71);
    assert_us(try.ends_s[1], 71 + 1 + 1);
    assert_us(try.ends_s[2], 71 + 1 + 2); /* naive: one after the other */
}

/* Thread 1 has the lock while it writes, thread 0 writes after it. */
static void a_lock_is_held_while_it_is_held(void **state)
{
    (void)state;
    predict("process 10\nstream 0 10\nstream 0 11\n"
            "pthread_mutex_lock stream=0 t=1000 dur=0 a0=0x7000\n"
            "pwrite stream=0 t=2000 dur=1000 fd=3 path=/a off=0 size=50\n"
            "pthread_mutex_unlock stream=0 t=3000 dur=0 a0=0x7000\n"
            "pthread_mutex_lock stream=1 t=1500 dur=1600 a0=0x7000\n"
            "pwrite stream=1 t=3100 dur=1000 fd=3 path=/a off=50 size=20\n"
            "pthread_mutex_unlock stream=1 t=4200 dur=0 a0=0x7000\n"
            "edge 0:1 1:0 class=mutex evidence=thread object=1\n");
    assert_us(try.ends_s[0], 2 + 50);
    assert_true(try.ends_s[1] * 1e6 >= 52 + 20 && try.ends_s[1] * 1e6 <= 52 + 20 + 1.7);
}

/* It waited for a condition when the process ended: the lock was free, though no event says so. */
static void a_lock_goes_with_its_thread(void **state)
{
    (void)state;
    predict("process 10\nstream 0 10\nstream 0 11\n"
            "pthread_mutex_lock stream=0 t=1000 dur=0 a0=0x7000\n"
            "pwrite stream=0 t=2000 dur=1000 fd=3 path=/a off=0 size=50\n"
            "pthread_mutex_lock stream=1 t=5000 dur=0 a0=0x7000\n"
            "pwrite stream=1 t=6000 dur=1000 fd=3 path=/a off=50 size=20\n"
            "pthread_mutex_unlock stream=1 t=7000 dur=0 a0=0x7000\n"
            "edge 0:1 1:0 class=mutex evidence=thread object=1\n");
    assert_us(try.ends_s[0], 2 + 50);
    assert_true(try.ends_s[1] * 1e6 >= 52 + 20);
    assert_int_equal(try.result.untied, 0);
}

/* The first one waits for two seconds, in vain; the other one has the lock meanwhile. */
static void a_waiter_in_vain_has_no_lock_meanwhile(void **state)
{
    (void)state;
    predict("process 10\nstream 0 10\nstream 0 11\n"
            "pthread_mutex_lock stream=0 t=1000 dur=0 a0=0x7000\n"
            "pthread_cond_wait stream=0 t=2000 dur=2000000000 err=110 a0=0x7010 a1=0x7000\n"
            "pwrite stream=0 t=2000003000 dur=1000 fd=3 path=/a off=0 size=1\n"
            "pthread_mutex_unlock stream=0 t=2000005000 dur=0 a0=0x7000\n"
            "pthread_mutex_lock stream=1 t=5000 dur=0 a0=0x7000\n"
            "pwrite stream=1 t=6000 dur=1000 fd=4 path=/b off=0 size=1\n"
            "pthread_mutex_unlock stream=1 t=8000 dur=0 a0=0x7000\n"
            "edge 0:0 1:0 class=mutex evidence=thread object=1\n"
            "edge 1:2 0:1 class=mutex evidence=thread object=1\n");
    assert_us(try.ends_s[0], 6 + 1);
    assert_us(try.ends_s[1], 2000003 + 1);
}

/* Whether it was woken or had waited long enough: the lock was with the other one until right
 * before the end, and how long that has it is up to the model. */
static void a_waiter_for_the_lock_of_a_condition_has_it_when_it_is_free(void **state)
{
    (void)state;
    static const char script[] =
        "process 10\nstream 0 10\nstream 0 11\n"
        "pthread_mutex_lock stream=0 t=1000 dur=0 a0=0x7000\n"
        "pthread_cond_wait stream=0 t=2000 dur=1000010000 err=%d a0=0x7010 a1=0x7000\n"
        "pwrite stream=0 t=1000013000 dur=1000 fd=3 path=/a off=0 size=1\n"
        "pthread_mutex_unlock stream=0 t=1000015000 dur=0 a0=0x7000\n"
        "pthread_mutex_lock stream=1 t=1500 dur=600 a0=0x7000\n"
        "pwrite stream=1 t=6000 dur=1000000000 fd=4 path=/b off=0 size=50\n"
        "pthread_mutex_unlock stream=1 t=1000008000 dur=0 a0=0x7000\n"
        "edge 0:0 1:0 class=mutex evidence=thread object=1\n"
        "edge 1:2 0:1 class=mutex evidence=thread object=1\n";
    char text[1024];
    for (int error = 0; error <= 110; error += 110) {
        (void)snprintf(text, sizeof(text), script, error);
        predict(text);
        assert_us(try.ends_s[0], 6 + 50);
        assert_us(try.ends_s[1], 56 + 2 + 5 + 1);
    }
}

/* The second one waited for the lock of a Python interpreter, which a condition hands on: nothing
 * says which thread had it when. The mutex beside it is free meanwhile. */
static void a_wait_by_chance_lasts_as_long_as_it_did(void **state)
{
    (void)state;
    predict("process 10\nstream 0 10\nstream 0 11\n"
            "pwrite stream=0 t=0 dur=1000 fd=3 path=/a off=0 size=1\n"
            "pthread_mutex_lock stream=0 t=1000000 dur=500 a0=0x7000\n"
            "pthread_mutex_unlock stream=0 t=1001000 dur=0 a0=0x7000\n"
            "pwrite stream=0 t=2000000 dur=1000 fd=3 path=/a off=1 size=1\n"
            "pthread_cond_signal stream=0 t=2002000 dur=0 a0=0x7010\n"
            "pwrite stream=1 t=0 dur=1000 fd=4 path=/b off=0 size=1\n"
            "pthread_cond_wait stream=1 t=2000 dur=2001000 a0=0x7010 a1=0x7000 a2=1\n"
            "pthread_mutex_unlock stream=1 t=2003500 dur=0 a0=0x7000\n"
            "pwrite stream=1 t=4002000 dur=1000 fd=4 path=/b off=1 size=1\n"
            "edge 1:0 0:1 class=mutex evidence=thread object=1\n"
            "edge 0:3 1:1 class=mutex evidence=thread object=2\n");
    assert_us(try.ends_s[2], 1 + 1999 + 1);
    assert_us(try.ends_s[3], 2 + 4001 + 1);
    assert_int_equal(try.result.untied, 0);
}

/* Each has one of two locks and wants the other, as it might have been in the trace. */
static void a_knot_of_locks_is_untied(void **state)
{
    (void)state;
    predict("process 10\nstream 0 10\nstream 0 11\n"
            "pthread_mutex_lock stream=0 t=1000 dur=0 a0=0x7000\n"
            "pwrite stream=0 t=1100 dur=100 fd=3 path=/a off=0 size=90\n"
            "pthread_mutex_lock stream=0 t=1300 dur=0 a0=0x8000\n"
            "pthread_mutex_unlock stream=0 t=1400 dur=0 a0=0x8000\n"
            "pthread_mutex_unlock stream=0 t=1500 dur=0 a0=0x7000\n"
            "pthread_mutex_lock stream=1 t=2000 dur=0 a0=0x8000\n"
            "pthread_mutex_lock stream=1 t=2100 dur=0 a0=0x7000\n"
            "pwrite stream=1 t=2200 dur=1000 fd=4 path=/b off=0 size=5\n"
            "pthread_mutex_unlock stream=1 t=3300 dur=0 a0=0x7000\n"
            "pthread_mutex_unlock stream=1 t=3400 dur=0 a0=0x8000\n"
            "edge 0:3 1:0 class=mutex evidence=thread object=1\n"
            "edge 0:4 1:1 class=mutex evidence=thread object=2\n");
    assert_int_equal(try.result.all.ops, 2);
    assert_int_equal(try.result.untied, 1);
    assert_us(try.ends_s[0], 1.1 + 90);
}

/* No thread is in the way of the second writing, either. */
static void a_lock_is_taken_from_a_reader_once(void **state)
{
    (void)state;
    predict("process 10\nstream 0 10\nstream 0 11\n"
            "pthread_rwlock_rdlock stream=0 t=1000 dur=0 a0=0x7000 a1=1\n"
            "pthread_rwlock_wrlock stream=1 t=2000 dur=0 a0=0x7000\n"
            "pthread_rwlock_unlock stream=1 t=2100 dur=0 a0=0x7000\n"
            "pthread_rwlock_wrlock stream=1 t=2200 dur=0 a0=0x7000\n"
            "pthread_rwlock_unlock stream=1 t=2300 dur=0 a0=0x7000\n"
            "pwrite stream=1 t=3000 dur=1000 fd=4 path=/b off=0 size=5\n"
            "edge 0:0 1:0 class=mutex evidence=thread object=1\n");
    assert_int_equal(try.result.all.ops, 1);
    assert_int_equal(try.result.untied, 1);
}

/* The child begins when it is forked, and not when it was forked in the trace. */
static void a_child_begins_behind_its_fork(void **state)
{
    (void)state;
    predict("process 10\nprocess 20 parent=0\nstream 0 10\nstream 1 20\n"
            "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=90\n"
            "fork stream=0 t=3000 dur=200 res=20\n"
            "pwrite stream=1 t=5000 dur=1000 fd=3 path=/b off=0 size=5\n"
            "edge 0:0 1:0 evidence=process\n");
    assert_us(try.ends_s[0], 91);
    assert_us(try.ends_s[1], 91 + 1 + 2 + 5);
}

static void the_writes_of_stdio_count_once(void **state)
{
    (void)state;
    try.params.model = WIO_MODEL_CAWL;
    predict("fwrite t=1000 dur=2000 fd=3 path=/a off=0 size=5000 res=5000\n"
            "write t=1100 dur=1000 fd=3 path=/a off=0 size=4096 caused\n"
            "fclose t=9000 dur=1000 fd=3 path=/a\n"
            "write t=9100 dur=500 fd=3 path=/a off=4096 size=904 caused\n");
    assert_int_equal(try.result.all.ops, 2);
    assert_int_equal(try.result.all.bytes_written, 5000);
}

/* The call of MPI has no cost but those of its parts, also behind a call of stdio. */
static void what_mpi_does_on_files_counts(void **state)
{
    (void)state;
    predict("fwrite t=100 dur=10 fd=3 path=/a off=0 size=50 res=50\n"
            "MPI_File_write_all t=1000 dur=9000 path=/b size=7000 res=7000\n"
            "fcntl t=1100 dur=10 fd=4 path=/b caused\n"
            "pread t=1200 dur=1000 fd=4 path=/b off=0 size=300 caused\n"
            "pwrite t=3000 dur=5000 fd=4 path=/b off=0 size=7000 caused\n");
    assert_int_equal(try.result.all.ops, 3);
    assert_int_equal(try.result.all.bytes_written, 7050);
    assert_int_equal(try.result.all.bytes_read, 300);
}

static void open_flags_and_what_ifs_decide_how_it_is_written(void **state)
{
    (void)state;
    static const char script[] = "open t=1000 dur=0 path=/a a0=0x4041 res=3\n" /* O_DIRECT */
                                 "dup t=1500 dur=0 fd=3 path=/a res=5\n"
                                 "pwrite t=2000 dur=1000 fd=5 path=/a off=0 size=4096\n";
    try.params.model = WIO_MODEL_KERNEL;
    predict(script);
    assert_us(try.ends_s[0], 2 + 4096);
    assert_true(try.result.dirty_bytes_max == 0);
    try.params.whatif.direct = WIO_PREDICT_OFF;
    try.params.whatif.sync = WIO_PREDICT_OFF;
    predict(script);
    assert_true(try.result.dirty_bytes_max == 4096);
}

static void calls_can_be_synchronous_by_themselves(void **state)
{
    (void)state;
    try.params.model = WIO_MODEL_KERNEL;
    predict("pwritev2 t=2000 dur=1000 fd=5 path=/a off=0 size=4096 a0=2\n"); /* RWF_DSYNC */
    assert_true(try.result.dirty_bytes_max == 0 && try.ends_s[0] >= 4096e-6);
    predict("pwritev2 t=2000 dur=1000 fd=5 path=/a off=0 size=4096 a0=0\n");
    assert_true(try.result.dirty_bytes_max == 4096);
}

/* 4096 us each: written, read from memory, and from the device where that is forgotten. */
static void what_is_synced_and_forgotten_is_read_again(void **state)
{
    (void)state;
    try.params.model = WIO_MODEL_KERNEL;
    predict("pwrite t=1000 dur=1000 fd=5 path=/a off=0 size=4096\n"
            "pwrite t=3000 dur=1000 fd=6 path=/b off=0 size=4096\n"
            "sync_file_range t=5000 dur=1000 fd=5 path=/a off=0 size=0 a0=2 res=0\n"
            "sync t=7000 dur=1000 res=0\n"
            "posix_fadvise t=9000 dur=1000 fd=5 path=/a off=0 size=0 a0=4 res=0\n"
            "pread t=11000 dur=1000 fd=6 path=/b off=0 size=4096\n"
            "pread t=13000 dur=1000 fd=5 path=/a off=0 size=4096\n");
    assert_int_equal(try.result.all.ops, 6);
    assert_us(try.ends_s[2] - try.ends_s[1], 1); /* asked for, not waited for */
    assert_true(try.ends_s[3] - try.ends_s[2] > 2 * 4e-3);
    assert_us(try.ends_s[4] - try.ends_s[3], 1 + 1 + 1 + 4096); /* in memory */
    assert_true(try.ends_s[5] - try.ends_s[4] > 2 * 4e-3);
}

/* Requests go on while the thread computes; it ends its wait when they have. */
static void requests_run_beside_their_thread(void **state)
{
    (void)state;
    predict("uring_write t=1000 dur=30000 fd=3 path=/a off=0 size=40 async\n"
            "io_uring_enter t=1000 dur=100 res=1\n"
            "io_uring_enter t=21000 dur=10000 res=0\n"
            "pread t=32000 dur=100 fd=3 path=/a off=0 size=1\n");
    assert_us(try.ends_s[0], 1 + 40);
    assert_us(try.ends_s[1], 41 + 1 + 1);
    predict("uring_write t=1000 dur=30000 fd=3 path=/a off=0 size=5 async\n"
            "io_uring_enter t=1000 dur=100 res=1\n"
            "io_uring_enter t=21000 dur=10000 res=0\n"
            "pread t=32000 dur=100 fd=3 path=/a off=0 size=1\n");
    assert_us(try.ends_s[0], 1 + 5);
    assert_us(try.ends_s[1], 21 + 1 + 1); /* there was nothing to wait for */
}

/* An operation begins where another one of the same model ends. */
static void requests_begin_and_end_at_one_moment(void **state)
{
    (void)state;
    predict("uring_fsync t=1000 dur=30000 fd=3 path=/a res=0 async\n"
            "uring_fsync t=1000 dur=30000 fd=3 path=/a res=0 async\n"
            "pread t=32000 dur=100 fd=3 path=/a off=0 size=1\n");
    assert_int_equal(try.result.all.ops, 3);
}

/* What no thread waits for is done, too. */
static void requests_end_behind_their_thread(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *copy;
    struct wio_cursor *cursor;
    const struct wio_event *event;
    try.params.keep_events = true;
    predict("uring_write t=2000 dur=30000 fd=3 path=/a off=0 size=40 async\n"
            "io_uring_enter t=2000 dur=100 res=1\n");
    assert_us(try.ends_s[0], 2 + 40);
    assert_int_equal(try.result.all.ops, 1);
    assert_int_equal(try.result.all.bytes_written, 40);
    assert_us(try.result.all.io_s, 40);
    assert_us(try.result.all.total_s, 40);
    assert_us(try.result.all.traced_s, 30);
    assert_ok(wio_trace_open(try.written, &copy, &err), &err);
    assert_ok(wio_cursor_create(copy, NULL, &cursor, &err), &err);
    assert_ok(wio_cursor_next(cursor, &event, &err), &err);
    assert_int_equal(event->t_ns / US, 2);
    assert_int_equal(event->dur_ns / US, 40);
    wio_cursor_destroy(cursor);
    wio_trace_close(copy);
}

/* A shorter wait polls for less long. */
static void no_call_computes_longer_than_it_lasts(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *copy;
    struct wio_cursor *cursor;
    const struct wio_event *event;
    try.params.keep_events = true;
    predict(TWO "pwrite stream=0 t=1000 dur=900000 fd=3 path=/a off=0 size=5\n"
                "MPI_Barrier stream=0 t=902000 dur=1000\n"
                "MPI_Barrier stream=1 t=1000 dur=902000 dur_cpu=900000\n"
                "collective 0:1 1:0\n");
    assert_ok(wio_trace_open(try.written, &copy, &err), &err);
    assert_ok(wio_cursor_create(copy, NULL, &cursor, &err), &err);
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(wio_cursor_next(cursor, &event, &err), &err);
        assert_true(event->dur_ns < 10 * US);
        assert_true(event->dur_cpu_ns <= event->dur_ns);
    }
    wio_cursor_destroy(cursor);
    wio_trace_close(copy);
}

/* The clock stops before it would begin anew. */
static void the_latest_moment_is_the_last(void **state)
{
    (void)state;
    try.params.host = try_host("slow.json", ", \"direct_table\": [[1, 1e9]]");
    try.params.model = WIO_MODEL_KERNEL;
    try.params.whatif.direct = WIO_PREDICT_ON;
    char script[512] = "";
    for (int i = 0; i < 6; i++) {
        (void)snprintf(script + strlen(script), sizeof(script) - strlen(script),
                       "pwrite t=%d dur=1000 fd=3 path=/a off=0 size=8\n", 2000 * i);
    }
    predict(script);
    assert_true(try.result.all.total_s > 4e9);
    assert_true(try.result.all.total_s < 5e9);
}

/* A poll for a file finds it when it is there, however often that was. */
static void looks_for_a_file_end_when_it_is_there(void **state)
{
    (void)state;
    predict(TWO "pwrite stream=0 t=1000 dur=80000 fd=3 path=/x off=0 size=5\n"
                "open stream=0 t=90000 dur=1000 path=/a a0=0x41 res=3\n"
                "access stream=1 t=1000 dur=1000 path=/a err=2\n"
                "nanosleep stream=1 t=2000 dur=48000\n"
                "access stream=1 t=50000 dur=1000 path=/a err=2\n"
                "nanosleep stream=1 t=51000 dur=48000\n"
                "access stream=1 t=99000 dur=1000 path=/a\n"
                "pwrite stream=1 t=101000 dur=1000 fd=4 path=/b off=0 size=7\n"
                "edge 0:1 1:4 evidence=poll\n"
                "poll-loop 1:0 4\n");
    /* made 10 us behind the write: found by the look that would begin at 50 us */
    assert_us(try.ends_s[1], 50 + 1 + 1 + 7);
}

/* Copies of the job have files of their own and meet in collectives. */
static void more_ranks_share_the_machine(void **state)
{
    (void)state;
    static const char script[] = TWO "pwrite stream=0 t=1000 dur=1000 fd=3 path=/a off=0 size=10\n"
                                     "MPI_Barrier stream=0 t=2000 dur=1000\n"
                                     "pwrite stream=0 t=3000 dur=1000 fd=3 path=/a off=10 size=1\n"
                                     "MPI_Barrier stream=1 t=500 dur=2500\n"
                                     "collective 0:1 1:0\n";
    try.params.whatif.ranks = 6;
    predict(script);
    assert_int_equal(try.result.all.ops, 6);
    assert_int_equal(try.result.rank_count, 3); /* 0, 2 and 4 do I/O */
    assert_int_equal(try.result.ranks[2].rank, 4);
    assert_us(try.ends_s[2], 1 + 3 * 10); /* naive: one after the other */
    assert_us(try.ends_s[3], 31 + 1 + 1); /* none goes on before the last is there */
    struct wio_error err = WIO_ERROR_INIT;
    try.params.whatif.ranks = 3;
    assert_status(try_predict(script, &err), WIO_ERR_USAGE, &err);
    assert_non_null(strstr(err.message, "multiple of the 2"));
}

/* The prediction as a trace: the same events when they would have been. */
static void a_prediction_is_a_trace(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *copy;
    struct wio_cursor *cursor;
    const struct wio_event *event;
    try.params.keep_events = true;
    predict(TWO "pwrite stream=0 t=1000 dur=9000 fd=3 path=/a off=0 size=100\n"
                "MPI_Send stream=0 t=12000 dur=500\n"
                "MPI_Recv stream=1 t=2000 dur=11000\n"
                "pwrite stream=1 t=18000 dur=100 fd=3 path=/b off=0 size=4\n"
                "edge 0:0 1:0\n");
    assert_ok(wio_trace_open(try.written, &copy, &err), &err);
    assert_ok(wio_cursor_create(copy, NULL, &cursor, &err), &err);
    static const struct {
        uint64_t t_us;
        uint64_t dur_us;
        const char *path;
    } want[] = {{1, 100, "/a"}, {2, 102, ""}, {103, 0, ""}, {109, 4, "/b"}};
    for (size_t i = 0; i < 4; i++) {
        assert_ok(wio_cursor_next(cursor, &event, &err), &err);
        assert_int_equal(event->t_ns / US, want[i].t_us);
        assert_int_equal(event->dur_ns / US, want[i].dur_us);
        assert_string_equal(wio_trace_string(copy, event->path, NULL), want[i].path);
    }
    assert_int_equal(wio_cursor_next(cursor, &event, &err), WIO_END);
    wio_cursor_destroy(cursor);
    wio_trace_close(copy);
}

static void a_trace_of_nothing_takes_no_time(void **state)
{
    (void)state;
    predict("process 10\nstream 0 10\nedges\n");
    assert_int_equal(try.result.all.ops, 0);
    assert_int_equal(try.result.rank_count, 0);
    assert_us(try.result.all.total_s, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRY(computing_stays_as_recorded),
        TRY(metadata_takes_its_recorded_time),
        TRY(a_message_is_waited_for),
        TRY(a_barrier_waits_for_the_last),
        TRY(a_lock_is_held_while_it_is_held),
        TRY(a_lock_goes_with_its_thread),
        TRY(a_waiter_in_vain_has_no_lock_meanwhile),
        TRY(a_waiter_for_the_lock_of_a_condition_has_it_when_it_is_free),
        TRY(a_wait_by_chance_lasts_as_long_as_it_did),
        TRY(a_knot_of_locks_is_untied),
        TRY(a_lock_is_taken_from_a_reader_once),
        TRY(a_child_begins_behind_its_fork),
        TRY(the_writes_of_stdio_count_once),
        TRY(what_mpi_does_on_files_counts),
        TRY(calls_can_be_synchronous_by_themselves),
        TRY(what_is_synced_and_forgotten_is_read_again),
        TRY(open_flags_and_what_ifs_decide_how_it_is_written),
        TRY(requests_run_beside_their_thread),
        TRY(requests_begin_and_end_at_one_moment),
        TRY(requests_end_behind_their_thread),
        TRY(no_call_computes_longer_than_it_lasts),
        TRY(the_latest_moment_is_the_last),
        TRY(looks_for_a_file_end_when_it_is_there),
        TRY(more_ranks_share_the_machine),
        TRY(a_prediction_is_a_trace),
        TRY(a_trace_of_nothing_takes_no_time),
    };
    return WIO_RUN(tests);
}
