/* SPDX-License-Identifier: Apache-2.0 */
/* Files that have several names, and names that stand for one file after the other. */
#include "feed_script.h"

#include <fcntl.h>
#include <sys/file.h>

#define NAME 3u
#define OTHER 10u

/* By which path a descriptor is opened; it is 5 in all processes. */
static struct wio_event *open_name(struct script *script, uint32_t thread, uint32_t path,
                                   uint64_t begin_ns, int64_t flags)
{
    struct wio_event *event =
        add_args(script, thread, WIO_OP_open, begin_ns, begin_ns + 1, (int64_t[4]){flags});
    event->path = path;
    event->result = 5;
    return event;
}

static struct wio_event *use(struct script *script, uint32_t thread, enum wio_op op, uint32_t path,
                             uint64_t begin_ns)
{
    struct wio_event *event = add(script, thread, op, begin_ns, begin_ns + 1);
    event->path = path;
    event->fd = 5;
    event->result = 8;
    return event;
}

static void change(struct script *script, enum wio_op op, uint64_t at_ns, uint32_t path,
                   uint32_t path2)
{
    struct wio_event *event = add(script, 0, op, at_ns, at_ns + 1);
    event->path = path;
    event->path2 = path2;
}

/* Its two sides are opened without waiting. */
static void open_sides(struct script *script, uint32_t write_path, uint32_t read_path,
                       uint64_t begin_ns)
{
    (void)add(script, 1, WIO_OP_fsync, begin_ns, begin_ns + 1);
    (void)open_name(script, 2, read_path, begin_ns + 2, O_RDONLY | O_NONBLOCK);
    (void)open_name(script, 1, write_path, begin_ns + 4, O_WRONLY | O_NONBLOCK);
}

static void pass_bytes(struct script *script, uint32_t write_path, uint32_t read_path,
                       uint64_t begin_ns)
{
    (void)use(script, 1, WIO_OP_write, write_path, begin_ns);
    (void)use(script, 2, WIO_OP_read, read_path, begin_ns + 2);
    (void)add(script, 2, WIO_OP_fsync, begin_ns + 4, begin_ns + 5); /* it lives on */
}

/* mkfifo x; rm x; > x: nobody waits for a file. */
static void a_name_of_a_fifo_becomes_that_of_a_file(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    change(&s, WIO_OP_mkfifo, 1, NAME, 0);
    change(&s, WIO_OP_unlink, 3, NAME, 0);
    (void)open_name(&s, 1, NAME, 10, O_WRONLY | O_CREAT);
    (void)open_name(&s, 2, NAME, 12, O_RDONLY);
    pass_bytes(&s, NAME, NAME, 14);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 0);
    end(&s);
}

/* The name is gone, who has opened it goes on; a file that gets the name is not the FIFO. */
static void a_fifo_without_a_name_goes_on(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    change(&s, WIO_OP_mkfifo, 1, NAME, 0);
    open_sides(&s, NAME, NAME, 3);
    change(&s, WIO_OP_unlink, 10, NAME, 0);
    pass_bytes(&s, NAME, NAME, 12);
    (void)open_name(&s, 3, NAME, 20, O_RDWR | O_CREAT);
    (void)use(&s, 3, WIO_OP_read, NAME, 22);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 1, 2, 1, WIO_EDGE_HARD);
    end(&s);
}

static void two_names_are_one_fifo(void **state)
{
    static const enum wio_op ops[] = {WIO_OP_link, WIO_OP_rename};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct script s;
        begin(&s, false);
        change(&s, WIO_OP_mkfifo, 1, NAME, 0);
        (void)add(&s, 1, WIO_OP_fsync, 1, 2);
        (void)open_name(&s, 2, NAME, 4, O_RDONLY | O_NONBLOCK);
        change(&s, ops[i], 6, NAME, OTHER);
        (void)open_name(&s, 1, OTHER, 8, O_WRONLY | O_NONBLOCK);
        pass_bytes(&s, OTHER, NAME, 12);
        finish(&s);
        assert_int_equal(s.edges.edge_count, 1);
        assert_edge(&s, 1, 1, 2, 1, WIO_EDGE_HARD);
        end(&s);
    }
}

/* The reader has opened it when the name is gone already; the writer does by another one. */
static void an_opening_outlives_its_name(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    change(&s, WIO_OP_mkfifo, 1, NAME, 0);
    change(&s, WIO_OP_link, 3, NAME, OTHER);
    (void)add(&s, 1, WIO_OP_fsync, 5, 6);
    open_name(&s, 2, NAME, 7, O_RDONLY)->dur_ns = 30;
    change(&s, WIO_OP_unlink, 10, NAME, 0);
    (void)open_name(&s, 1, OTHER, 20, O_WRONLY | O_NONBLOCK);
    pass_bytes(&s, OTHER, NAME, 40);
    finish(&s);
    assert_edge(&s, 1, 0, 2, 0, WIO_EDGE_HARD);
    assert_edge(&s, 1, 1, 2, 1, WIO_EDGE_HARD);
    end(&s);
}

static void lock(struct script *script, uint32_t thread, uint32_t path, uint64_t begin_ns)
{
    (void)open_name(script, thread, path, begin_ns, O_RDWR | O_CREAT);
    add_args(script, thread, WIO_OP_flock, begin_ns + 2, begin_ns + 3, (int64_t[4]){LOCK_EX})
        ->path = path;
    script->events[script->count - 1].fd = 5;
    add_args(script, thread, WIO_OP_fcntl, begin_ns + 4, begin_ns + 5,
             (int64_t[4]){F_SETLKW, 0, F_WRLCK, 0})
        ->path = path;
    script->events[script->count - 1].fd = 5;
    script->events[script->count - 1].offset = 0;
    (void)use(script, thread, WIO_OP_close, path, begin_ns + 6);
}

/* A file of locks that is removed, and another one of its name: who has locked the first one is not
 * waited for. Two names of one file are one lock. */
static void locks_are_of_files(void **state)
{
    (void)state;
    for (unsigned is_same = 0; is_same < 2; is_same++) {
        struct script s;
        begin(&s, false);
        lock(&s, 1, NAME, 10);
        change(&s, is_same != 0 ? WIO_OP_link : WIO_OP_unlink, 20, NAME, OTHER);
        lock(&s, 2, is_same != 0 ? OTHER : NAME, 30);
        finish(&s);
        assert_int_equal(s.edges.edge_count, is_same != 0 ? 2 : 0);
        end(&s);
    }
}

/* Names change places. */
static void names_are_exchanged(void **state)
{
    (void)state;
    struct script s;
    begin(&s, false);
    change(&s, WIO_OP_mkfifo, 1, NAME, 0);
    open_sides(&s, NAME, NAME, 3);
    change(&s, WIO_OP_rename, 10, NAME, OTHER);
    s.events[s.count - 1].arg[0] = 2; /* RENAME_EXCHANGE */
    (void)open_name(&s, 3, NAME, 12, O_RDWR | O_CREAT);
    (void)open_name(&s, 0, OTHER, 12, O_RDWR);
    (void)use(&s, 1, WIO_OP_write, NAME, 14);
    (void)use(&s, 3, WIO_OP_read, NAME, 16);
    (void)use(&s, 0, WIO_OP_read, OTHER, 18);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 1, 0, 3, WIO_EDGE_HARD);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_of_a_fifo_becomes_that_of_a_file),
        cmocka_unit_test(a_fifo_without_a_name_goes_on),
        cmocka_unit_test(two_names_are_one_fifo),
        cmocka_unit_test(an_opening_outlives_its_name),
        cmocka_unit_test(locks_are_of_files),
        cmocka_unit_test(names_are_exchanged),
    };
    return WIO_RUN(tests);
}
