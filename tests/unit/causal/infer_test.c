/* SPDX-License-Identifier: Apache-2.0 */
/* From events to edges, case by case: what real programs do too seldom, or cannot be made to do. */
#include "support/stingy.h"
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "infer_script.h"

/* Two receives from any source are posted; the second one is completed first. Messages of one
 * sender meet them in the order in which they were posted. */
static void receives_meet_as_they_were_posted(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    join_world(&s, 2);
    (void)add_args(&s, 1, WIO_OP_MPI_Irecv, 10, 11, (int64_t[4]){7, -1, -1, 1});
    (void)add_args(&s, 1, WIO_OP_MPI_Irecv, 12, 13, (int64_t[4]){7, -1, -1, 2});
    (void)add(&s, 0, WIO_OP_write, 15, 16);
    (void)add_args(&s, 0, WIO_OP_MPI_Send, 20, 21, (int64_t[4]){7, 1, 5, 0});
    (void)add(&s, 0, WIO_OP_write, 25, 26);
    (void)add_args(&s, 0, WIO_OP_MPI_Send, 30, 31, (int64_t[4]){7, 1, 5, 0});
    (void)add_args(&s, 1, WIO_OP_MPI_Wait, 40, 41, (int64_t[4]){0, 1, 1, 0});
    add_args(&s, 1, WIO_OP_mpi_done, 40, 41, (int64_t[4]){7, 0, 5, 2})->flags = WIO_EVENT_CAUSED;
    (void)add_args(&s, 1, WIO_OP_MPI_Wait, 50, 51, (int64_t[4]){0, 1, 1, 0});
    add_args(&s, 1, WIO_OP_mpi_done, 50, 51, (int64_t[4]){7, 0, 5, 1})->flags = WIO_EVENT_CAUSED;
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 0, 3, 1, 4, WIO_EDGE_HARD); /* the second send, before it the second write */
    assert_edge(&s, 0, 1, 1, 6, WIO_EDGE_HARD);
    assert_int_equal(wio_infer_left(s.infer).sends + wio_infer_left(s.infer).receives, 0);
    end(&s);
}

/* A receive that never ends (cancelled) does not keep those behind it for ever. */
static void a_cancelled_receive_is_left_out(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    join_world(&s, 2);
    (void)add_args(&s, 1, WIO_OP_MPI_Irecv, 10, 11, (int64_t[4]){7, 0, 9, 1});
    (void)add(&s, 0, WIO_OP_write, 15, 16);
    (void)add_args(&s, 0, WIO_OP_MPI_Send, 20, 21, (int64_t[4]){7, 1, 5, 0});
    (void)add_args(&s, 1, WIO_OP_MPI_Recv, 18, 25, (int64_t[4]){7, 0, 5, 0});
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 0, 1, 1, 2, WIO_EDGE_HARD);
    end(&s);
}

/* MPI_Issend waits for the receive too: a meeting of two, from post to completion. */
static void a_synchronous_send_is_a_meeting(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    join_world(&s, 2);
    (void)add_args(&s, 0, WIO_OP_MPI_Issend, 10, 11, (int64_t[4]){7, 1, 5, 1});
    (void)add_args(&s, 1, WIO_OP_MPI_Recv, 20, 25, (int64_t[4]){7, 0, 5, 0});
    (void)add_args(&s, 0, WIO_OP_MPI_Wait, 12, 26, (int64_t[4]){0, 1, 1, 0});
    add_args(&s, 0, WIO_OP_mpi_done, 12, 26, (int64_t[4]){7, -1, -1, 1})->flags = WIO_EVENT_CAUSED;
    finish(&s);
    assert_int_equal(s.edges.collective_count, 1);
    assert_int_equal(s.edges.members[0].enter_op, 1);
    assert_int_equal(s.edges.members[0].leave_op, 3);
    end(&s);
}

/* Sendrecv sends before it has received: what is before the call precedes the other's receive. */
static void a_call_that_causes_messages_releases_from_before(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    join_world(&s, 2);
    for (uint32_t r = 0; r < 2; r++) {
        (void)add(&s, r, WIO_OP_write, 5, 6);
        (void)add_args(&s, r, WIO_OP_MPI_Sendrecv, 10, 30, (int64_t[4]){7, 2, 2, 0});
        add_args(&s, r, WIO_OP_mpi_send, 10, 30, (int64_t[4]){7, 1 - r, 0, 0})->flags =
            WIO_EVENT_CAUSED;
        add_args(&s, r, WIO_OP_mpi_recv, 10, 30, (int64_t[4]){7, 1 - r, 0, 0})->flags =
            WIO_EVENT_CAUSED;
    }
    finish(&s);
    assert_edge(&s, 0, 1, 1, 4, WIO_EDGE_HARD);
    assert_edge(&s, 1, 1, 0, 4, WIO_EDGE_HARD);
    end(&s);
}

static void scans_wait_for_lower_ranks(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    join_world(&s, 3);
    for (uint32_t r = 0; r < 3; r++) {
        (void)add(&s, r, WIO_OP_write, 5, 6);
        (void)add_args(&s, r, WIO_OP_MPI_Scan, 10, 30, (int64_t[4]){7, 0, -1, 0});
    }
    finish(&s);
    assert_int_equal(s.edges.edge_count, 0);
    assert_int_equal(s.edges.collective_count, 2); /* 0 before 1; both before 2 */
    assert_int_equal(s.edges.member_count, 5);
    for (size_t i = 0; i < s.edges.member_count; i++) {
        const struct wio_member *member = &s.edges.members[i];
        assert_int_equal(member->enter_op, 2);
        assert_int_equal(member->leave_op, 2);
        assert_true(member->gives != member->takes);
        assert_true(member->gives ? member->thread < 2 : member->thread > 0);
    }
    end(&s);
}

/* MPI_LOOSE: a collective only if no rank left before the last one came. */
static void loose_collectives_are_judged_by_time(void **state)
{
    (void)state;
    for (unsigned early = 0; early < 2; early++) {
        struct script s;
        begin(&s, false);
        join_world(&s, 2);
        (void)add_args(&s, 0, WIO_OP_MPI_Init, 10, early ? 15 : 25, (int64_t[4]){7, 0, -1, 0});
        (void)add_args(&s, 1, WIO_OP_MPI_Init, 20, 30, (int64_t[4]){7, 0, -1, 0});
        finish(&s);
        assert_int_equal(s.edges.collective_count, early ? 0 : 1);
        assert_int_equal(wio_infer_left(s.infer).collectives, 0);
        end(&s);
    }
}

static void contradictions_are_counted(void **state)
{
    (void)state;
    struct script s;
    struct wio_error first = WIO_ERROR_INIT;
    begin(&s, false);
    join_world(&s, 2);
    (void)add_args(&s, 0, WIO_OP_MPI_Scan, 10, 25, (int64_t[4]){7, 0, -1, 0});
    (void)add_args(&s, 1, WIO_OP_MPI_Barrier, 20, 30, (int64_t[4]){7, 0, -1, 0});
    finish(&s);
    assert_int_equal(wio_infer_contradictions(s.infer, &first), 1);
    assert_non_null(strstr(first.message, "rank 1"));
    end(&s);
}

/* The unlock is noted after the next owner has the lock: it follows it all the same. */
static void a_late_release_is_followed(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    (void)add_args(&s, 0, WIO_OP_pthread_mutex_lock, 10, 10, (int64_t[4]){64});
    (void)add_args(&s, 1, WIO_OP_pthread_mutex_lock, 11, 20, (int64_t[4]){64});
    (void)add_args(&s, 0, WIO_OP_pthread_mutex_unlock, 22, 23, (int64_t[4]){64});
    (void)add_args(&s, 1, WIO_OP_pthread_mutex_unlock, 30, 31, (int64_t[4]){64});
    (void)add_args(&s, 2, WIO_OP_pthread_mutex_lock, 24, 35, (int64_t[4]){64});
    finish(&s);
    assert_int_equal(s.edges.edge_count, 2);
    assert_edge(&s, 0, 1, 1, 0, WIO_EDGE_MUTEX);
    assert_edge(&s, 1, 1, 2, 0, WIO_EDGE_MUTEX);
    assert_int_equal(wio_infer_object(s.infer, s.edges.edges[0].object).kind, WIO_INFER_LOCK);
    assert_int_equal(wio_infer_object(s.infer, s.edges.edges[0].object).id, 64);
    end(&s);
}

/* The same address in two processes is two locks; with bit 63 it is one. */
static void shared_objects_are_those_of_a_host(void **state)
{
    (void)state;
    for (unsigned shared = 0; shared < 2; shared++) {
        int64_t lock = shared ? INT64_MIN + 64 : 64;
        struct script s;
        begin(&s, false);
        (void)add_args(&s, 0, WIO_OP_pthread_mutex_lock, 10, 10, (int64_t[4]){lock});
        (void)add_args(&s, 0, WIO_OP_pthread_mutex_unlock, 15, 16, (int64_t[4]){lock});
        (void)add_args(&s, 1, WIO_OP_pthread_mutex_lock, 20, 21, (int64_t[4]){lock});
        finish(&s);
        assert_int_equal(s.edges.edge_count, shared ? 1 : 0);
        end(&s);
    }
}

/* Several take from one semaphore: any order is right. One gives and one takes: it is not. */
static void semaphores_of_many_are_queues(void **state)
{
    (void)state;
    for (unsigned many = 0; many < 2; many++) {
        struct script s;
        begin(&s, true);
        (void)add(&s, 0, WIO_OP_write, 5, 6);
        (void)add_args(&s, 0, WIO_OP_sem_post, 10, 11, (int64_t[4]){64});
        (void)add_args(&s, 0, WIO_OP_sem_post, 12, 13, (int64_t[4]){64});
        (void)add_args(&s, 1, WIO_OP_sem_wait, 8, 20, (int64_t[4]){64});
        (void)add_args(&s, many ? 2 : 1, WIO_OP_sem_wait, 21, 22, (int64_t[4]){64});
        finish(&s);
        assert_int_equal(s.edges.edge_count, 2);
        assert_edge(&s, 0, 0, 1, 0, many ? WIO_EDGE_QUEUE : WIO_EDGE_HARD);
        end(&s);
    }
}

/* A semaphore is gone, another one made at its place: no take waits for the posts of the old one.
 */
static void a_semaphore_made_anew_is_another_one(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    (void)add(&s, 0, WIO_OP_write, 5, 6);
    (void)add_args(&s, 0, WIO_OP_sem_init, 8, 9, (int64_t[4]){64, 0});
    (void)add_args(&s, 0, WIO_OP_sem_post, 10, 11, (int64_t[4]){64});
    (void)add_args(&s, 1, WIO_OP_sem_init, 20, 21, (int64_t[4]){64, 1});
    (void)add_args(&s, 1, WIO_OP_sem_wait, 22, 23, (int64_t[4]){64});
    finish(&s);
    assert_int_equal(s.edges.edge_count, 0);
    end(&s);
}

/* What it held at first is taken before what was posted: no take waited for these posts. */
static void a_semaphore_gives_what_it_held_first(void **state)
{
    (void)state;
    for (unsigned opened = 0; opened < 2; opened++) {
        struct script s;
        uint16_t make = opened != 0 ? WIO_OP_sem_open : WIO_OP_sem_init;
        begin(&s, true);
        (void)add_args(&s, 0, make, 5, 6, (int64_t[4]){64, 2, opened});
        (void)add_args(&s, 0, WIO_OP_sem_wait, 10, 11, (int64_t[4]){64});
        (void)add_args(&s, 0, WIO_OP_sem_post, 12, 13, (int64_t[4]){64});
        (void)add_args(&s, 1, WIO_OP_sem_wait, 20, 21, (int64_t[4]){64});
        finish(&s);
        assert_int_equal(s.edges.edge_count, 0);
        end(&s);
    }
}

/* To open one that is known begins nothing: its post is waited for. */
static void a_semaphore_opened_again_is_the_same(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    (void)add_args(&s, 0, WIO_OP_sem_open, 5, 6, (int64_t[4]){64, 0, 1});
    (void)add_args(&s, 0, WIO_OP_sem_post, 10, 11, (int64_t[4]){64});
    (void)add_args(&s, 1, WIO_OP_sem_open, 15, 16, (int64_t[4]){64, 1, 1});
    (void)add_args(&s, 1, WIO_OP_sem_wait, 20, 21, (int64_t[4]){64});
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 0, 0, 1, 1, WIO_EDGE_HARD);
    end(&s);
}

static struct wio_event *on_pipe(struct wio_event *event, int64_t bytes)
{
    event->path = 1;
    event->fd = 3;
    event->size = 4096;
    event->result = bytes;
    return event;
}

/* The first thing a child does releases its grandparent's reader: that waits for what precedes the
 * two forks. */
static void a_first_operation_stands_for_its_makers(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    s.processes[1].parent = 0;
    s.processes[2].parent = 1;
    (void)add(&s, 0, WIO_OP_write, 5, 6);
    add(&s, 0, WIO_OP_fork, 10, 40)->result = 101;
    add(&s, 1, WIO_OP_fork, 20, 40)->result = 102;
    (void)on_pipe(add(&s, 2, WIO_OP_write, 30, 31), 10);
    (void)on_pipe(add(&s, 3, WIO_OP_read, 7, 35), 10);
    finish(&s);
    assert_edge(&s, 0, 0, 1, 0, WIO_EDGE_HARD);
    assert_edge(&s, 0, 0, 2, 0, WIO_EDGE_HARD);
    assert_edge(&s, 0, 0, 3, 0, WIO_EDGE_HARD);
    assert_int_equal(s.edges.edge_count, 3);
    end(&s);
}

/* `until [ -e file ]; do sleep 1; done`: bash flushes its streams before it forks. A line that is
 * written between two looks is other work. */
static void flushing_nothing_is_no_other_work(void **state)
{
    (void)state;
    for (unsigned writes = 0; writes < 2; writes++) {
        struct script s;
        begin(&s, false);
        struct wio_event *look = add(&s, 0, WIO_OP_stat, 10, 11);
        look->path = 3;
        look->error = ENOENT;
        (void)add(&s, 0, WIO_OP_fflush, 12, 14);
        if (writes) {
            add(&s, 0, WIO_OP_write, 12, 13)->flags = WIO_EVENT_CAUSED;
        }
        add(&s, 1, WIO_OP_mkdir, 15, 16)->path = 3;
        add(&s, 0, WIO_OP_stat, 20, 21)->path = 3;
        finish(&s);
        assert_int_equal(wio_infer_wait_count(s.infer), writes ? 0 : 1);
        assert_int_equal(s.edges.edge_count, writes ? 0 : 1);
        end(&s);
    }
}

/* The end of a process closes its pipes behind all that it did. */
static void an_end_by_exit_comes_behind_everything(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    add_args(&s, 0, WIO_OP_open, 2, 3, (int64_t[4]){O_WRONLY})->path = 1;
    s.events[0].result = 3;
    (void)on_pipe(add(&s, 0, WIO_OP_write, 5, 6), 10);
    (void)add(&s, 0, WIO_OP_fsync, 10, 30);
    (void)on_pipe(add(&s, 1, WIO_OP_read, 7, 8), 10);
    (void)on_pipe(add(&s, 1, WIO_OP_read, 9, 35), 0);
    finish(&s);
    assert_edge(&s, 0, 0, 1, 0, WIO_EDGE_HARD);
    assert_edge(&s, 0, 2, 1, 1, WIO_EDGE_HARD);
    assert_int_equal(s.edges.edge_count, 2);
    end(&s);
}

/* What comes after the pipe of that number was made again is another pipe. */
static void a_name_that_comes_again_is_another_pipe(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)add(&s, 0, WIO_OP_fsync, 5, 6);
    (void)on_pipe(add(&s, 0, WIO_OP_write, 10, 11), 10);
    (void)on_pipe(add(&s, 1, WIO_OP_pipe, 20, 21), 0);
    (void)on_pipe(add(&s, 2, WIO_OP_read, 25, 26), 10);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 0);
    assert_int_equal(wio_infer_left(s.infer).read_bytes, 10);
    end(&s);
}

static void the_count_of_an_eventfd_is_taken_first(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    struct wio_event *made = add_args(&s, 0, WIO_OP_eventfd, 5, 6, (int64_t[4]){1});
    made->path = 2;
    made->result = 3;
    for (uint64_t i = 0; i < 2; i++) {
        struct wio_event *write = add(&s, 0, WIO_OP_write, 10 + 20 * i, 11 + 20 * i);
        struct wio_event *read = add(&s, 1, WIO_OP_read, 15 + 20 * i, 20 + 20 * i);
        write->path = read->path = 2;
        write->result = read->result = 8;
    }
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1); /* the first read found 1, and more */
    assert_edge(&s, 0, 1, 1, 1, WIO_EDGE_HARD);
    end(&s);
}

/* libc gives the handle of a thread that was joined to the next one. */
static void handles_that_come_again_are_other_threads(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    for (uint32_t t = 1; t < 4; t++) { /* streams need not stand in the order of time */
        uint32_t thread = 4 - t;
        uint64_t at = 100 * t;
        s.streams[thread].token = 77;
        s.streams[thread].first_ns = at + 10;
        (void)add_args(&s, 0, WIO_OP_pthread_create, at, at + 5, (int64_t[4]){77});
        (void)add(&s, thread, WIO_OP_write, at + 10, at + 20);
        (void)add_args(&s, 0, WIO_OP_pthread_join, at + 15, at + 30, (int64_t[4]){77});
    }
    finish(&s);
    assert_int_equal(s.edges.edge_count, 5); /* nothing is before the first create */
    assert_edge(&s, 3, 0, 0, 1, WIO_EDGE_HARD);
    assert_edge(&s, 0, 1, 2, 0, WIO_EDGE_HARD);
    assert_edge(&s, 2, 0, 0, 3, WIO_EDGE_HARD);
    assert_edge(&s, 0, 3, 1, 0, WIO_EDGE_HARD);
    assert_edge(&s, 1, 0, 0, 5, WIO_EDGE_HARD);
    end(&s);
}

/* fcntl(2) on bytes [from, to) of the file. */
static struct wio_event *lock_range(struct script *s, uint32_t thread, uint64_t at, int command,
                                    int type, uint64_t from, uint64_t to)
{
    struct wio_event *event =
        add_args(s, thread, WIO_OP_fcntl, at, at + 1, (int64_t[4]){command, 0, type, SEEK_SET});
    event->path = 3;
    event->fd = 5 + (int32_t)thread;
    event->offset = (int64_t)from;
    event->size = to - from;
    return event;
}

static void what_is_left_of_a_range_stays_locked(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)lock_range(&s, 0, 10, F_SETLKW, F_WRLCK, 0, 100);
    (void)lock_range(&s, 0, 20, F_SETLKW, F_UNLCK, 40, 60);
    (void)lock_range(&s, 0, 30, F_SETLKW, F_UNLCK, 0, 100);
    (void)lock_range(&s, 1, 25, F_SETLKW, F_WRLCK, 50, 60);
    (void)lock_range(&s, 2, 35, F_SETLKW, F_WRLCK, 60, 61);
    (void)lock_range(&s, 3, 36, F_SETLKW, F_RDLCK, 0, 60);
    finish(&s);
    assert_edge(&s, 0, 1, 1, 0, WIO_EDGE_MUTEX);
    assert_edge(&s, 0, 2, 2, 0, WIO_EDGE_MUTEX);
    assert_edge(&s, 0, 2, 3, 0, WIO_EDGE_MUTEX); /* once, though it lies in pieces */
    assert_int_equal(s.edges.edge_count, 3);
    end(&s);
}

/* Locks of open files exclude threads of one process, those of a process do not. */
static void open_files_have_locks_of_their_own(void **state)
{
    (void)state;
    for (unsigned of_file = 0; of_file < 2; of_file++) {
        int command = of_file ? F_OFD_SETLKW : F_SETLKW;
        struct script s;
        begin(&s, true);
        (void)lock_range(&s, 0, 10, command, F_WRLCK, 0, 0);
        lock_range(&s, 1, 12, command, F_WRLCK, 0, 0)->dur_ns = 20;
        (void)lock_range(&s, 0, 30, command, F_UNLCK, 0, 0);
        finish(&s);
        assert_int_equal(s.edges.edge_count, of_file ? 1 : 0);
        if (of_file) {
            assert_edge(&s, 0, 1, 1, 0, WIO_EDGE_MUTEX);
        }
        end(&s);
    }
}

/* exec keeps the locks of a process, unless it closes the file. */
static void locks_outlive_exec(void **state)
{
    (void)state;
    for (unsigned closes = 0; closes < 2; closes++) {
        struct script s;
        begin(&s, false);
        s.processes[1] = (struct wio_infer_process){.pid = 100, .parent = 0};
        s.streams[1].tid = 100;
        s.streams[1].thread = 0;
        struct wio_event *open =
            add_args(&s, 0, WIO_OP_open, 5, 6, (int64_t[4]){O_RDWR | (closes ? O_CLOEXEC : 0)});
        open->path = 3;
        open->result = 5;
        (void)lock_range(&s, 0, 10, F_SETLKW, F_WRLCK, 0, 0);
        (void)add(&s, 0, WIO_OP_execve, 20, 21);
        s.streams[1].first_seq = s.streams[1].events = 3;
        struct wio_event *work = add(&s, 1, WIO_OP_write, 30, 31);
        struct wio_event *unlock = lock_range(&s, 1, 40, F_SETLKW, F_UNLCK, 0, 0);
        unlock->fd = 5;
        s.streams[1].events -= 3;
        assert_int_equal(work->seq, 3);
        lock_range(&s, 2, 25, F_SETLKW, F_WRLCK, 0, 0)->dur_ns = closes ? 1 : 20;
        finish(&s);
        assert_edge(&s, 0, closes ? 2 : 4, 2, 0, WIO_EDGE_MUTEX);
        end(&s);
    }
}

/* A stream of popen() that fclose() closed: the next one of its number is another program's. */
static void a_stream_that_comes_again_is_another_programs(void **state)
{
    (void)state;
    for (unsigned comes_again = 0; comes_again < 2; comes_again++) {
        struct script s;
        begin(&s, false);
        s.processes[1].parent = 0;
        add_args(&s, 0, WIO_OP_popen, 10, 11, (int64_t[4]){0, 0, 101})->result = 5;
        (void)add(&s, 1, WIO_OP_chmod, 12, 13);
        if (comes_again) { /* by a child that was not recorded */
            add(&s, 0, WIO_OP_fclose, 15, 16)->fd = 5;
            add_args(&s, 0, WIO_OP_popen, 20, 21, (int64_t[4]){0, 0, 999})->result = 5;
        }
        add(&s, 0, WIO_OP_pclose, 30, 40)->fd = 5;
        finish(&s);
        unsigned found = 0;
        for (size_t i = 0; i < s.edges.edge_count; i++) {
            found += s.edges.edges[i].from_thread == 1 ? 1 : 0;
        }
        assert_int_equal(found, comes_again ? 0 : 1);
        end(&s);
    }
}

static void fill(struct script *script)
{
    begin(script, false);
    join_world(script, 3);
    (void)add_args(script, 1, WIO_OP_MPI_Irecv, 10, 11, (int64_t[4]){7, 0, 5, 1});
    (void)add_args(script, 0, WIO_OP_MPI_Send, 20, 21, (int64_t[4]){7, 1, 5, 0});
    add_args(script, 1, WIO_OP_mpi_done, 22, 23, (int64_t[4]){7, 0, 5, 1})->flags = 1;
    for (uint32_t r = 0; r < 3; r++) {
        (void)add_args(script, r, WIO_OP_MPI_Barrier, 30, 31, (int64_t[4]){7, 0, -1, 0});
        (void)add_args(script, r, WIO_OP_sem_post, 32, 33, (int64_t[4]){INT64_MIN + 8});
        (void)add_args(script, r, WIO_OP_sem_wait, 34, 36, (int64_t[4]){INT64_MIN + 8});
        (void)on_pipe(add(script, r, WIO_OP_write, 40 + r, 41 + r), 10);
        (void)on_pipe(add(script, r, WIO_OP_read, 50 + r, 51 + r), 10);
        add(script, r, WIO_OP_stat, 60, 61)->path = 3;
        script->events[script->count - 1].error = 2;
        add(script, r, WIO_OP_stat, 62, 63)->path = 3;
        add_args(script, r, WIO_OP_flock, 70 + 2 * r, 71 + 2 * r, (int64_t[4]){2})->path = 3;
        script->events[script->count - 1].fd = 4;
        (void)lock_range(script, r, 76 + 2 * r, F_SETLKW, F_RDLCK, 10 * r, 10 * r + 20);
        (void)lock_range(script, r, 77 + 2 * r, F_SETLKW, F_UNLCK, 10 * r + 5, 10 * r + 9);
        (void)add_args(script, r, WIO_OP_kill, 90, 91, (int64_t[4]){100, 10});
    }
}

/* Each request for memory is refused in turn. */
static void short_memory_is_survived(void **state)
{
    (void)state;
    enum wio_status status = WIO_ERR_NOMEM;
    unsigned rounds = 0;
    for (unsigned n = 0; status != WIO_OK; n++, rounds++) {
        struct wio_stingy stingy = {.left = n};
        const struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        struct script s;
        fill(&s);
        status = run(&s, &alloc);
        assert_true(status == WIO_OK || status == WIO_ERR_NOMEM);
        end(&s);
        assert_int_equal(stingy.out, 0);
    }
    assert_true(rounds > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receives_meet_as_they_were_posted),
        cmocka_unit_test(a_cancelled_receive_is_left_out),
        cmocka_unit_test(a_synchronous_send_is_a_meeting),
        cmocka_unit_test(a_call_that_causes_messages_releases_from_before),
        cmocka_unit_test(scans_wait_for_lower_ranks),
        cmocka_unit_test(loose_collectives_are_judged_by_time),
        cmocka_unit_test(contradictions_are_counted),
        cmocka_unit_test(a_late_release_is_followed),
        cmocka_unit_test(shared_objects_are_those_of_a_host),
        cmocka_unit_test(semaphores_of_many_are_queues),
        cmocka_unit_test(a_semaphore_made_anew_is_another_one),
        cmocka_unit_test(a_semaphore_gives_what_it_held_first),
        cmocka_unit_test(a_semaphore_opened_again_is_the_same),
        cmocka_unit_test(a_first_operation_stands_for_its_makers),
        cmocka_unit_test(flushing_nothing_is_no_other_work),
        cmocka_unit_test(an_end_by_exit_comes_behind_everything),
        cmocka_unit_test(a_name_that_comes_again_is_another_pipe),
        cmocka_unit_test(the_count_of_an_eventfd_is_taken_first),
        cmocka_unit_test(handles_that_come_again_are_other_threads),
        cmocka_unit_test(what_is_left_of_a_range_stays_locked),
        cmocka_unit_test(open_files_have_locks_of_their_own),
        cmocka_unit_test(locks_outlive_exec),
        cmocka_unit_test(a_stream_that_comes_again_is_another_programs),
        cmocka_unit_test(short_memory_is_survived),
    };
    return WIO_RUN(tests);
}
