/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting until something is gone: a file that is a lock, the owner of a mutex, a process. */
#include "infer_script.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#define NAME 3u
#define OTHER 10u

static struct wio_event *attempt(struct script *script, uint32_t thread, enum wio_op op,
                                 uint64_t begin_ns, int error)
{
    struct wio_event *event = add_args(script, thread, op, begin_ns, begin_ns + 2,
                                       (int64_t[4]){op == WIO_OP_open ? O_CREAT | O_EXCL : 0});
    event->path = op == WIO_OP_link ? OTHER : NAME;
    event->path2 = op == WIO_OP_link ? NAME : WIO_NO_STRING;
    event->result = error != 0 ? -1 : 5;
    event->error = error;
    return event;
}

static void name_event(struct script *script, uint32_t thread, enum wio_op op, uint64_t begin_ns)
{
    add(script, thread, op, begin_ns, begin_ns + 1)->path = NAME;
}

/* The maker of the file has the lock; the others try again until it is removed. */
static void a_file_that_is_a_lock(void **state)
{
    static const enum wio_op ops[] = {WIO_OP_open, WIO_OP_mkdir, WIO_OP_link, WIO_OP_symlink,
                                      WIO_OP_mknod};
    (void)state;
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        struct script s;
        begin(&s, false);
        (void)attempt(&s, 0, ops[i], 1, 0);
        (void)attempt(&s, 1, ops[i], 10, EEXIST);
        (void)add(&s, 1, WIO_OP_usleep, 12, 14);
        (void)attempt(&s, 1, ops[i], 20, EEXIST); /* while it is being removed */
        name_event(&s, 0, WIO_OP_unlink, 21);
        (void)attempt(&s, 1, ops[i], 30, 0);
        finish(&s);
        assert_int_equal(s.edges.edge_count, 1);
        assert_edge(&s, 0, 1, 1, 3, WIO_EDGE_HARD);
        assert_int_equal(wio_infer_wait_count(s.infer), 1);
        const struct wio_infer_wait *wait = wio_infer_wait(s.infer, 0);
        assert_int_equal(wait->until.first_op, 0);
        assert_int_equal(wait->until.last_op, 3);
        assert_int_equal(wait->until.looks, 2);
        end(&s);
    }
}

/* It was removed before an unknown process made it anew; or no process tried while it was there. */
static void an_older_removal_is_not_waited_for(void **state)
{
    (void)state;
    for (unsigned has_tried = 0; has_tried < 2; has_tried++) {
        struct script s;
        begin(&s, false);
        (void)attempt(&s, 0, WIO_OP_open, 1, 0);
        name_event(&s, 0, WIO_OP_unlink, 5);
        if (has_tried != 0) {
            (void)attempt(&s, 1, WIO_OP_open, 10, EEXIST);
        }
        (void)attempt(&s, 1, WIO_OP_open, 20, 0);
        finish(&s);
        assert_int_equal(s.edges.edge_count, 0);
        end(&s);
    }
}

/* A robust mutex: its owner's end lets it go. */
static void a_dead_owner_lets_go(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    (void)add_args(&s, 0, WIO_OP_pthread_mutex_lock, 1, 1, (int64_t[4]){INT64_MIN + 8});
    (void)add(&s, 0, WIO_OP_write, 2, 3);
    (void)add_args(&s, 1, WIO_OP_pthread_mutex_lock, 2, 9, (int64_t[4]){INT64_MIN + 8});
    s.events[s.count - 1].error = EOWNERDEAD;
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 0, 1, 1, 0, WIO_EDGE_MUTEX);
    end(&s);
}

/* A wait for a process that was killed waits for its killer; not where it ended by
 * itself. */
static void a_killed_process_is_waited_for(void **state)
{
    (void)state;
    for (unsigned is_killed = 0; is_killed < 2; is_killed++) {
        struct script s;
        begin(&s, false);
        (void)add(&s, 2, WIO_OP_write, 1, 2);
        (void)add_args(&s, 2, WIO_OP_kill, 5, 6, (int64_t[4]){101, SIGTERM});
        add_args(&s, 0, WIO_OP_waitpid, 3, 9, (int64_t[4]){is_killed != 0 ? SIGTERM : 0})->result =
            101;
        finish(&s);
        assert_int_equal(s.edges.edge_count, is_killed);
        if (is_killed != 0) {
            assert_edge(&s, 2, 0, 0, 0, WIO_EDGE_HARD);
        }
        end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_a_lock),
        cmocka_unit_test(an_older_removal_is_not_waited_for),
        cmocka_unit_test(a_dead_owner_lets_go),
        cmocka_unit_test(a_killed_process_is_waited_for),
    };
    return WIO_RUN(tests);
}
