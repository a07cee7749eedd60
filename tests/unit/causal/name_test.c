/* SPDX-License-Identifier: Apache-2.0 */
/* Files that have several names, and names that stand for one file after the other. */
#include "infer_script.h"

#include <fcntl.h>
#include <sys/file.h>

#include "base/cleanup.h"

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

/* mkfifo x; rm x; > x: no process waits for a file. */
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

/* The name is gone, the process that has opened it goes on; a file that gets the name is not the
 * FIFO. */
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

/* A file of locks that is removed, and another one of its name: the lock of the first one is not
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

static uint32_t as_it_is(void *context, uint32_t string, bool follows)
{
    (void)context;
    (void)follows;
    return string;
}

/* OTHER is a symbolic link to NAME. */
static uint32_t by_a_link(void *context, uint32_t string, bool follows)
{
    (void)context;
    return string == OTHER && follows ? NAME : string;
}

static uint32_t nothing_below(void *context, uint32_t directory, uint32_t to, size_t i,
                              uint32_t *moved_out)
{
    (void)context;
    (void)directory;
    (void)to;
    (void)i;
    *moved_out = WIO_NO_STRING;
    return WIO_NO_STRING;
}

/* NAME lies below the directory that has the string 1, and would be OTHER below that of 2. */
static uint32_t one_below(void *context, uint32_t directory, uint32_t to, size_t i,
                          uint32_t *moved_out)
{
    (void)context;
    *moved_out = to == 2 ? OTHER : WIO_NO_STRING;
    return directory == 1 && i == 0 ? NAME : WIO_NO_STRING;
}

/* NAME is on the hosts' own file systems, of which two hosts share one. */
static uint32_t own_system(void *context, uint32_t host, uint32_t string)
{
    (void)context;
    return string == NAME ? 7 + host / 2 : 0;
}

/* Hosts 0 and 1 are one machine, host 2 is another: a lock of NAME there is one of another file. */
static void hosts_have_files_of_their_own(void **state)
{
    static const struct wio_infer_names names = {as_it_is, own_system, nothing_below};
    (void)state;
    struct script s;
    begin(&s, false);
    s.names = &names;
    for (uint32_t i = 0; i < 3; i++) {
        s.processes[i + 1].host = i;
    }
    lock(&s, 1, NAME, 10);
    lock(&s, 3, NAME, 20);
    s.processes[0].host = 2;
    change(&s, WIO_OP_unlink, 30, NAME, 0); /* on host 2 */
    lock(&s, 2, NAME, 40);
    lock(&s, 3, NAME, 50);
    lock(&s, 1, OTHER, 60);
    lock(&s, 3, OTHER, 70);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 4); /* by flock and by fcntl */
    assert_edge(&s, 1, 3, 2, 1, WIO_EDGE_MUTEX);
    assert_edge(&s, 1, 7, 3, 9, WIO_EDGE_MUTEX);
    for (uint32_t object = 1; object <= wio_infer_object_count(s.infer); object++) {
        uint64_t id = wio_infer_object(s.infer, object).id;
        assert_true(id == NAME || id == OTHER);
    }
    end(&s);
}

/* The maker of a file there is not waited for. */
static void hosts_look_for_their_own_files(void **state)
{
    static const struct wio_infer_names names = {as_it_is, own_system, nothing_below};
    (void)state;
    for (uint32_t host = 0; host < 3; host++) {
        struct script s;
        begin(&s, false);
        s.names = &names;
        s.processes[1].host = host;
        struct wio_event *look = add(&s, 1, WIO_OP_stat, 5, 6);
        look->path = NAME;
        look->error = 2;
        look->result = -1;
        (void)open_name(&s, 0, NAME, 10, O_WRONLY | O_CREAT);
        add(&s, 1, WIO_OP_stat, 20, 21)->path = NAME;
        finish(&s);
        assert_int_equal(s.edges.edge_count, host < 2 ? 1 : 0);
        end(&s);
    }
}

static void look_at(struct script *script, uint64_t at_ns, bool finds)
{
    struct wio_event *event = add(script, 1, WIO_OP_stat, at_ns, at_ns + 1);
    event->path = NAME;
    event->error = finds ? 0 : 2;
    event->result = finds ? 0 : -1;
}

/* A look that fails behind the making says that the file went again; not on another host, which may
 * not have heard of the file yet, unless that was long ago or the file is one machine's own. */
static void another_host_may_see_a_file_later(void **state)
{
    static const struct wio_infer_names own = {as_it_is, own_system, nothing_below};
    static const struct {
        uint32_t host;
        const struct wio_infer_names *names;
        uint64_t fails_ns;
        unsigned edges;
    } cases[] = {
        {0, NULL, 20, 0},
        {1, NULL, 20, 1},
        {1, NULL, UINT64_C(59000000000), 1},
        {1, NULL, UINT64_C(61000000000), 0},
        {1, &own, 20, 0},
    };
    (void)state;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(cases); i++) {
        struct script s;
        begin(&s, false);
        s.names = cases[i].names;
        s.processes[1].host = cases[i].host;
        look_at(&s, 5, false);
        (void)open_name(&s, 0, NAME, 10, O_WRONLY | O_CREAT);
        look_at(&s, cases[i].fails_ns, false);
        look_at(&s, cases[i].fails_ns + 10, true);
        finish(&s);
        assert_int_equal(s.edges.edge_count, cases[i].edges);
        if (cases[i].edges != 0) {
            assert_edge(&s, 0, 0, 1, 2, WIO_EDGE_HARD);
        }
        end(&s);
    }
}

/* The writer opens the FIFO, the reader a link to it; the link itself can be removed. */
static void a_link_leads_to_a_fifo(void **state)
{
    static const struct wio_infer_names names = {by_a_link, NULL, nothing_below};
    (void)state;
    struct script s;
    begin(&s, false);
    s.names = &names;
    change(&s, WIO_OP_mkfifo, 1, NAME, 0);
    open_sides(&s, NAME, OTHER, 3);
    change(&s, WIO_OP_unlink, 10, OTHER, 0);
    pass_bytes(&s, NAME, OTHER, 12);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 1, 2, 1, WIO_EDGE_HARD);
    end(&s);
}

/* What is below a directory is called otherwise when the directory is: the reader has opened the
 * FIFO by its old name. A wait for a file finds it by its new one. */
static void what_is_below_moves_with_a_directory(void **state)
{
    static const struct wio_infer_names names = {as_it_is, NULL, one_below};
    (void)state;
    struct script s;
    begin(&s, false);
    s.names = &names;
    change(&s, WIO_OP_mkfifo, 1, NAME, 0);
    (void)add(&s, 1, WIO_OP_fsync, 1, 2);
    (void)open_name(&s, 2, NAME, 4, O_RDONLY | O_NONBLOCK);
    struct wio_event *look = add(&s, 3, WIO_OP_stat, 5, 6);
    look->path = OTHER;
    look->error = 2;
    look->result = -1;
    change(&s, WIO_OP_rename, 7, 1, 2);
    (void)open_name(&s, 1, OTHER, 8, O_WRONLY | O_NONBLOCK);
    pass_bytes(&s, OTHER, NAME, 12);
    add(&s, 3, WIO_OP_stat, 20, 21)->path = OTHER;
    finish(&s);
    assert_edge(&s, 1, 1, 2, 1, WIO_EDGE_HARD);
    assert_edge(&s, 0, 1, 3, 1, WIO_EDGE_HARD);
    end(&s);
}

/* Directories change places: what was below the second one only has gone from there, too. */
static void what_is_below_goes_where_directories_are_exchanged(void **state)
{
    static const struct wio_infer_names names = {as_it_is, NULL, one_below};
    (void)state;
    for (unsigned is_first = 0; is_first < 2; is_first++) {
        struct script s;
        begin(&s, false);
        s.names = &names;
        lock(&s, 1, NAME, 10);
        change(&s, WIO_OP_rename, 20, is_first != 0 ? 1 : 4, is_first != 0 ? 4 : 1);
        s.events[s.count - 1].arg[0] = 2; /* RENAME_EXCHANGE */
        lock(&s, 2, NAME, 30);
        finish(&s);
        assert_int_equal(s.edges.edge_count, 0);
        end(&s);
    }
}

static uint64_t looked_below;

static uint32_t many_below(void *context, uint32_t directory, uint32_t to, size_t i,
                           uint32_t *moved_out)
{
    (void)context;
    (void)directory;
    (void)to;
    looked_below++;
    *moved_out = WIO_NO_STRING;
    return i < 1000000 ? NAME : WIO_NO_STRING;
}

/* A hostile trace renames a directory with many names below it again and again: the names are not
 * all looked at each time, and it is said. */
static void names_below_have_an_end(void **state)
{
    static const struct wio_infer_names names = {as_it_is, NULL, many_below};
    (void)state;
    struct script s;
    begin(&s, false);
    s.names = &names;
    for (uint64_t i = 0; i < 40; i++) {
        change(&s, WIO_OP_rename, 10 * i + 1, 1, 2);
    }
    looked_below = 0;
    finish(&s);
    assert_in_range(looked_below, 4000000, 5000000);
    assert_int_equal(wio_infer_unfollowed(s.infer), 40 - 2);
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
        cmocka_unit_test(hosts_have_files_of_their_own),
        cmocka_unit_test(hosts_look_for_their_own_files),
        cmocka_unit_test(another_host_may_see_a_file_later),
        cmocka_unit_test(a_link_leads_to_a_fifo),
        cmocka_unit_test(what_is_below_moves_with_a_directory),
        cmocka_unit_test(what_is_below_goes_where_directories_are_exchanged),
        cmocka_unit_test(names_below_have_an_end),
    };
    return WIO_RUN(tests);
}
