/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that are closed in other ways than by close, and those that cannot be known. */
#include "infer_script.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/eventfd.h>
#include <sys/file.h>

#define FILE_NAME 3u
#define OTHER_NAME 10u

static struct wio_event *open_as(struct script *s, uint32_t thread, uint64_t at, int32_t fd,
                                 uint32_t path)
{
    struct wio_event *event =
        add_args(s, thread, WIO_OP_open, at, at + 1, (int64_t[4]){O_RDWR | O_CREAT});
    event->path = path;
    event->result = fd;
    return event;
}

static struct wio_event *lock(struct script *s, uint32_t thread, uint64_t at, int32_t fd,
                              enum wio_op op, int command)
{
    struct wio_event *event =
        add_args(s, thread, op, at, at + 1,
                 (int64_t[4]){command, 0, op == WIO_OP_fcntl ? F_WRLCK : 0, SEEK_SET});
    event->path = FILE_NAME;
    event->fd = fd;
    event->offset = 0;
    return event;
}

/* dup2 over a descriptor closes it, and so do close_range and closefrom: a process that has locked
 * ranges of the file has given them back. */
static void locks_go_with_any_close(void **state)
{
    static const enum wio_op ops[] = {WIO_OP_dup2, WIO_OP_close_range, WIO_OP_closefrom};
    (void)state;
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        struct script s;
        begin(&s, false);
        (void)open_as(&s, 0, 1, 5, FILE_NAME);
        (void)open_as(&s, 0, 3, 6, OTHER_NAME);
        (void)lock(&s, 0, 5, 5, WIO_OP_fcntl, F_SETLKW);
        struct wio_event *event = add_args(&s, 0, ops[i], 10, 11, (int64_t[4]){5, 5});
        event->fd = 6;
        event->path = OTHER_NAME;
        event->result = ops[i] == WIO_OP_dup2 ? 5 : 0;
        (void)add(&s, 0, WIO_OP_fsync, 50, 51);
        (void)open_as(&s, 1, 12, 5, FILE_NAME);
        (void)lock(&s, 1, 14, 5, WIO_OP_fcntl, F_SETLKW);
        finish(&s);
        assert_int_equal(s.edges.edge_count, 1);
        assert_edge(&s, 0, 3, 1, 1, WIO_EDGE_MUTEX);
        end(&s);
    }
}

/* What another descriptor has locked stays: stdio's open tells of one file twice. */
static void opening_once_more_lets_nothing_go(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)open_as(&s, 0, 1, 5, FILE_NAME);
    (void)lock(&s, 0, 3, 5, WIO_OP_fcntl, F_SETLKW);
    open_as(&s, 0, 5, 6, FILE_NAME)->op = WIO_OP_fopen;
    open_as(&s, 0, 5, 6, FILE_NAME)->flags = WIO_EVENT_CAUSED;
    (void)add(&s, 0, WIO_OP_fsync, 50, 51);
    (void)lock(&s, 1, 10, 5, WIO_OP_fcntl, F_SETLK);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 0);
    end(&s);
}

/* CLOSE_RANGE_CLOEXEC closes nothing: a wait for the lock waits for the close. */
static void a_range_that_exec_closes_stays_open(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)open_as(&s, 0, 1, 5, FILE_NAME);
    (void)lock(&s, 0, 3, 5, WIO_OP_flock, LOCK_EX);
    (void)add_args(&s, 0, WIO_OP_close_range, 5, 6,
                   (int64_t[4]){3, UINT32_MAX, CLOSE_RANGE_CLOEXEC});
    struct wio_event *close = add(&s, 0, WIO_OP_close, 30, 31);
    close->fd = 5;
    close->path = FILE_NAME;
    (void)add(&s, 0, WIO_OP_fsync, 60, 61);
    (void)open_as(&s, 1, 10, 5, FILE_NAME);
    lock(&s, 1, 12, 5, WIO_OP_flock, LOCK_EX)->dur_ns = 30;
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 0, 3, 1, 1, WIO_EDGE_MUTEX);
    end(&s);
}

/* Descriptors that are none, as a broken trace may have them: F_OFD_SETLK, and an open whose result
 * is another descriptor's number and more. */
static void descriptors_that_are_none_are_left_out(void **state)
{
    static const int32_t fds[] = {WIO_NO_FD, -1, 1 << 16, INT32_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        struct script s;
        begin(&s, false);
        (void)lock(&s, 3, 1, fds[i], WIO_OP_fcntl, F_OFD_SETLKW);
        (void)add(&s, 3, WIO_OP_fsync, 5, 6);
        (void)lock(&s, 2, 10, fds[i], WIO_OP_fcntl, F_OFD_SETLKW);
        finish(&s);
        assert_edge(&s, 3, 1, 2, 0, WIO_EDGE_MUTEX); /* its process has ended */
        end(&s);
    }
    struct script s;
    begin(&s, false);
    add(&s, 0, WIO_OP_mkfifo, 1, 2)->path = FILE_NAME;
    (void)open_as(&s, 0, 3, 5, OTHER_NAME);
    open_as(&s, 0, 5, 0, FILE_NAME)->result = (INT64_C(1) << 32) + 5;
    struct wio_event *close = add(&s, 0, WIO_OP_close, 10, 11);
    close->fd = 5;
    close->path = OTHER_NAME;
    finish(&s);
    assert_int_equal(s.edges.edge_count, 0);
    end(&s);
}

/* What a semaphore held at first is taken first; what was written meanwhile is there for the next
 * one. */
static void units_of_an_eventfd_are_taken_one_by_one(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    struct wio_event *made = add_args(&s, 0, WIO_OP_eventfd, 1, 2, (int64_t[4]){1, EFD_SEMAPHORE});
    made->path = 2;
    made->result = 4;
    (void)add(&s, 1, WIO_OP_fsync, 3, 4);
    const struct {
        uint32_t thread;
        enum wio_op op;
        uint64_t at;
    } uses[] = {{1, WIO_OP_write, 5}, {2, WIO_OP_read, 10}, {3, WIO_OP_read, 20}};
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        struct wio_event *use = add(&s, uses[i].thread, uses[i].op, uses[i].at, uses[i].at + 1);
        use->path = 2;
        use->fd = 4;
        use->result = 8;
    }
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 0, 3, 0, WIO_EDGE_QUEUE);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_go_with_any_close),
        cmocka_unit_test(opening_once_more_lets_nothing_go),
        cmocka_unit_test(a_range_that_exec_closes_stays_open),
        cmocka_unit_test(descriptors_that_are_none_are_left_out),
        cmocka_unit_test(units_of_an_eventfd_are_taken_one_by_one),
    };
    return WIO_RUN(tests);
}
