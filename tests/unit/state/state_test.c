/* SPDX-License-Identifier: Apache-2.0 */
/* What one event after the other does to names, descriptors and processes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "support/stingy.h"
#include "unit/state/world.h"

static void do_open(struct world *w, uint32_t stream, const char *path, int flags, int fd)
{
    do_event(w, (struct wio_event){.stream = stream,
                                   .op = WIO_OP_open,
                                   .path = text(w, path),
                                   .arg = {flags},
                                   .result = fd});
}

static void do_rename(struct world *w, const char *from, const char *to, int flags)
{
    do_event(w,
             (struct wio_event){
                 .op = WIO_OP_rename, .path = text(w, from), .path2 = text(w, to), .arg = {flags}});
}

static void do_path(struct world *w, int op, const char *path)
{
    do_event(w, (struct wio_event){.op = (uint16_t)op, .path = text(w, path)});
}

static void a_file_stays_the_same_through_renames(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, NULL);
    do_open(&w, 0, "/d/a", O_RDONLY, 3);
    const uint32_t file = behind_fd(&w, 0, 3).file;
    assert_int_equal(named(&w, 0, "/d/a").file, file);
    assert_int_equal(named(&w, 0, "/d/a").origin, WIO_STATE_INITIAL);
    do_rename(&w, "/d/a", "/d/b", 0);
    assert_int_equal(named(&w, 0, "/d/b").file, file);
    assert_int_not_equal(named(&w, 0, "/d/a").file, file);
    assert_false(named(&w, 0, "/d/a").is_there);
    assert_int_equal(behind_fd(&w, 0, 3).file, file);
    world_end(&w);
}

static void a_renamed_directory_takes_its_files_along(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, NULL);
    do_open(&w, 0, "/d/sub/a", O_RDONLY, 3);
    do_open(&w, 0, "/d/a", O_RDONLY, 4);
    const uint32_t below = behind_fd(&w, 0, 3).file;
    const uint32_t direct = behind_fd(&w, 0, 4).file;
    do_rename(&w, "/d", "/e", 0);
    assert_int_equal(named(&w, 0, "/e/sub/a").file, below);
    assert_int_equal(named(&w, 0, "/e/a").file, direct);
    assert_int_not_equal(named(&w, 0, "/d/a").file, direct);
    do_path(&w, WIO_OP_mkdir, "/d");
    do_open(&w, 0, "/d/a", O_CREAT | O_WRONLY, 5);
    assert_int_equal(behind_fd(&w, 0, 5).origin, WIO_STATE_MADE); /* new directories are empty */
    assert_int_not_equal(behind_fd(&w, 0, 5).file, direct);
    do_rename(&w, "/d", "/e", RENAME_EXCHANGE);
    assert_int_equal(named(&w, 0, "/d/a").file, direct);
    assert_int_equal(named(&w, 0, "/e/a").file, behind_fd(&w, 0, 5).file);
    world_end(&w);
}

static void a_removed_file_is_another_one(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, NULL);
    do_open(&w, 0, "/a", O_RDWR, 3);
    const uint32_t first = behind_fd(&w, 0, 3).file;
    do_path(&w, WIO_OP_unlink, "/a");
    assert_false(named(&w, 0, "/a").is_there);
    assert_false(behind_fd(&w, 0, 3).has_name);
    do_open(&w, 0, "/a", O_CREAT | O_RDWR, 4);
    assert_int_not_equal(behind_fd(&w, 0, 4).file, first);
    assert_int_equal(behind_fd(&w, 0, 4).origin, WIO_STATE_MADE);
    assert_int_equal(behind_fd(&w, 0, 3).file, first);
    world_end(&w);
}

static void links_are_two_names_of_one_file(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, NULL);
    do_open(&w, 0, "/a", O_RDONLY, 3);
    do_event(
        &w, (struct wio_event){.op = WIO_OP_link, .path = text(&w, "/a"), .path2 = text(&w, "/b")});
    assert_int_equal(named(&w, 0, "/b").file, behind_fd(&w, 0, 3).file);
    do_path(&w, WIO_OP_unlink, "/a");
    assert_true(behind_fd(&w, 0, 3).has_name);
    do_rename(&w, "/b", "/c", 0);
    do_path(&w, WIO_OP_unlink, "/c");
    assert_false(behind_fd(&w, 0, 3).has_name);
    world_end(&w);
}

static void symbolic_links_are_followed(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, NULL);
    assert_int_equal(wio_state_initial_link(w.state, text(&w, "/old"), text(&w, "d/deep")), WIO_OK);
    do_open(&w, 0, "/d/deep/a", O_RDONLY, 3);
    assert_int_equal(named(&w, 0, "/old/a").file, behind_fd(&w, 0, 3).file);
    do_event(&w, (struct wio_event){.op = WIO_OP_symlink,
                                    .path = text(&w, "/s"),
                                    .path2 = text(&w, "old/../deep/a")});
    assert_int_equal(named(&w, 0, "/s").file, behind_fd(&w, 0, 3).file);
    do_event(&w, (struct wio_event){.op = WIO_OP_readlink,
                                    .path = text(&w, "/found"),
                                    .path2 = text(&w, "/d"),
                                    .result = 2});
    assert_int_equal(named(&w, 0, "/found/deep/a").file, behind_fd(&w, 0, 3).file);
    do_path(&w, WIO_OP_unlink, "/s");
    assert_int_not_equal(named(&w, 0, "/s").file, behind_fd(&w, 0, 3).file);
    do_event(&w, (struct wio_event){
                     .op = WIO_OP_symlink, .path = text(&w, "/ring"), .path2 = text(&w, "/ring")});
    assert_int_equal(named(&w, 0, "/ring/a").file, WIO_NO_INDEX);
    world_end(&w);
}

/* Each is a success at a link that leads nowhere: only what follows it says that the target is
 * there. */
static void what_acts_on_a_link_says_nothing_of_its_target(void **state)
{
    (void)state;
    static const struct {
        enum wio_op op;
        bool follows;
        int64_t arg[4];
        uint64_t size;
    } cases[] = {
        {WIO_OP_chmod, true, {0600}, WIO_NO_SIZE},
        {WIO_OP_chmod, false, {0600, AT_SYMLINK_NOFOLLOW}, WIO_NO_SIZE},
        {WIO_OP_lchmod, false, {0600}, WIO_NO_SIZE},
        {WIO_OP_chown, true, {1, AT_SYMLINK_NOFOLLOW}, WIO_NO_SIZE},
        {WIO_OP_chown, false, {1, 1, AT_SYMLINK_NOFOLLOW}, WIO_NO_SIZE},
        {WIO_OP_lchown, false, {1, 1}, WIO_NO_SIZE},
        {WIO_OP_access, true, {R_OK}, WIO_NO_SIZE},
        {WIO_OP_access, false, {R_OK, AT_SYMLINK_NOFOLLOW}, WIO_NO_SIZE},
        {WIO_OP_utimes, true, {1, 0, 2, 0}, WIO_NO_SIZE},
        {WIO_OP_lutimes, false, {1, 0, 2, 0}, WIO_NO_SIZE},
        {WIO_OP_utimens, true, {1, 0, 2, 0}, 0},
        {WIO_OP_utimens, false, {1, 0, 2, 0}, AT_SYMLINK_NOFOLLOW},
        {WIO_OP_utimens, false, {1, 0, 2, 0}, WIO_NO_SIZE},
        {WIO_OP_stat, true, {0, S_IFREG}, WIO_NO_SIZE},
        {WIO_OP_lstat, false, {0, S_IFLNK}, WIO_NO_SIZE},
        {WIO_OP_truncate, true, {0}, 0},
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(cases); i++) {
        struct world w;
        world_begin(&w, NULL);
        assert_int_equal(wio_state_initial_link(w.state, text(&w, "/link"), text(&w, "/far")),
                         WIO_OK);
        struct wio_event event = {
            .op = (uint16_t)cases[i].op, .path = text(&w, "/link"), .size = cases[i].size};
        memcpy(event.arg, cases[i].arg, sizeof(event.arg));
        do_event(&w, event);
        const bool is_there = named(&w, 0, "/far").is_there;
        if (is_there != cases[i].follows) {
            fail_msg("case %zu: %s", i, wio_op_name(cases[i].op));
        }
        world_end(&w);
    }
}

static void events_tell_of_before_the_run(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, NULL);
    do_open(&w, 0, "/maybe", O_CREAT | O_WRONLY, 3);
    assert_int_equal(behind_fd(&w, 0, 3).origin, WIO_STATE_MAYBE);
    do_event(&w,
             (struct wio_event){
                 .op = WIO_OP_stat, .path = text(&w, "/missing"), .error = ENOENT, .result = -1});
    do_open(&w, 0, "/missing", O_CREAT | O_WRONLY, 4);
    assert_int_equal(behind_fd(&w, 0, 4).origin, WIO_STATE_MADE);
    do_open(&w, 0, "/exclusive", O_CREAT | O_EXCL | O_WRONLY, 5);
    assert_int_equal(behind_fd(&w, 0, 5).origin, WIO_STATE_MADE);
    do_event(&w, (struct wio_event){.op = WIO_OP_open,
                                    .path = text(&w, "/there"),
                                    .arg = {O_CREAT | O_EXCL},
                                    .error = EEXIST,
                                    .result = -1});
    assert_int_equal(named(&w, 0, "/there").origin, WIO_STATE_INITIAL);
    do_event(&w, (struct wio_event){
                     .op = WIO_OP_memfd_create, .path = text(&w, "memfd:x"), .result = 6});
    assert_int_equal(behind_fd(&w, 0, 6).origin, WIO_STATE_MADE);
    /* a descriptor that nothing in the trace opened */
    do_event(&w,
             (struct wio_event){
                 .op = WIO_OP_write, .fd = 9, .path = text(&w, "/log"), .size = 1, .result = 1});
    assert_int_equal(behind_fd(&w, 0, 9).origin, WIO_STATE_INITIAL);
    assert_int_equal(behind_fd(&w, 0, 9).file, named(&w, 0, "/log").file);
    world_end(&w);
}

static void descriptors_are_duplicated_and_closed(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, NULL);
    do_open(&w, 0, "/a", O_RDWR | O_CLOEXEC, 3);
    do_open(&w, 0, "/b", O_RDONLY, 4);
    const uint32_t a = behind_fd(&w, 0, 3).file;
    do_event(&w,
             (struct wio_event){.op = WIO_OP_dup2, .fd = 3, .path = text(&w, "/a"), .result = 4});
    assert_int_equal(behind_fd(&w, 0, 4).file, a);
    assert_true(behind_fd(&w, 0, 3).is_cloexec);
    assert_false(behind_fd(&w, 0, 4).is_cloexec);
    do_event(&w, (struct wio_event){.op = WIO_OP_fcntl,
                                    .fd = 4,
                                    .path = text(&w, "/a"),
                                    .arg = {F_SETFL, O_APPEND | O_SYNC}});
    assert_int_equal(behind_fd(&w, 0, 3).flags, O_RDWR | O_CLOEXEC | O_APPEND); /* not O_SYNC */
    do_event(&w, (struct wio_event){.op = WIO_OP_fcntl,
                                    .fd = 4,
                                    .path = text(&w, "/a"),
                                    .arg = {F_DUPFD_CLOEXEC, 10},
                                    .result = 12});
    assert_true(behind_fd(&w, 0, 12).is_cloexec);
    do_event(&w, (struct wio_event){.op = WIO_OP_close_range, .arg = {3, 4}});
    assert_int_equal(behind_fd(&w, 0, 3).file, WIO_NO_INDEX);
    assert_int_equal(behind_fd(&w, 0, 4).file, WIO_NO_INDEX);
    assert_int_equal(behind_fd(&w, 0, 12).file, a);
    do_event(&w, (struct wio_event){.op = WIO_OP_closefrom, .arg = {5}});
    assert_int_equal(behind_fd(&w, 0, 12).file, WIO_NO_INDEX);
    world_end(&w);
}

static void children_inherit_and_exec_closes(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, (const uint64_t[]){100, 1, 100, 100, 100});
    do_open(&w, 0, "/kept", O_RDONLY, 3);
    do_open(&w, 0, "/closed", O_RDONLY | O_CLOEXEC, 4);
    do_open(&w, 0, "/marked", O_RDONLY, 5);
    assert_false(wio_state_is_alive(w.state, 1));
    const struct wio_event fork = do_event(&w, (struct wio_event){.op = WIO_OP_fork, .result = 11});
    assert_int_equal(wio_state_made_by(w.state, &fork), 1);
    assert_int_equal(wio_state_process_of_pid(w.state, 3, 11), 1);
    assert_int_equal(wio_state_process_of_pid(w.state, 4, 11), WIO_NO_INDEX); /* another host */
    assert_int_equal(behind_fd(&w, 1, 4).file, behind_fd(&w, 0, 4).file);
    do_event(&w, (struct wio_event){.op = WIO_OP_close_range, .arg = {5, 5, CLOSE_RANGE_CLOEXEC}});
    assert_true(behind_fd(&w, 0, 5).is_cloexec);
    assert_false(behind_fd(&w, 1, 5).is_cloexec); /* a table of its own */
    const struct wio_event exec = do_event(
        &w, (struct wio_event){.stream = 1, .op = WIO_OP_execve, .path = text(&w, "/bin/x")});
    assert_int_equal(wio_state_made_by(w.state, &exec), 2);
    assert_false(wio_state_is_alive(w.state, 1));
    assert_true(wio_state_is_alive(w.state, 2));
    assert_int_equal(behind_fd(&w, 2, 3).file, behind_fd(&w, 0, 3).file);
    assert_int_equal(behind_fd(&w, 2, 4).file, WIO_NO_INDEX);
    assert_int_equal(behind_fd(&w, 2, 5).file, behind_fd(&w, 0, 5).file);
    const struct wio_event spawn =
        do_event(&w, (struct wio_event){.op = WIO_OP_posix_spawn, .result = 12});
    assert_int_equal(wio_state_made_by(w.state, &spawn), 3);
    assert_int_equal(behind_fd(&w, 3, 4).file, WIO_NO_INDEX);
    assert_int_equal(behind_fd(&w, 1, 3).file, WIO_NO_INDEX); /* its last event is past */
    world_end(&w);
}

static void system_makes_the_child_that_began_meanwhile(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, NULL);
    const struct wio_event none =
        do_event(&w, (struct wio_event){.op = WIO_OP_system, .t_ns = 4, .dur_ns = 100});
    assert_int_equal(wio_state_made_by(w.state, &none), WIO_NO_INDEX); /* two came */
    const struct wio_event one =
        do_event(&w, (struct wio_event){.op = WIO_OP_system, .t_ns = 6, .dur_ns = 100});
    assert_int_equal(wio_state_made_by(w.state, &one), 3);
    world_end(&w);
}

static void channels_are_files_of_their_own(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w, NULL);
    do_event(&w, (struct wio_event){
                     .op = WIO_OP_pipe, .path = text(&w, "pipe:[7]"), .arg = {3, 4, O_CLOEXEC}});
    assert_int_not_equal(behind_fd(&w, 0, 3).file, WIO_NO_INDEX);
    assert_true(behind_fd(&w, 0, 4).is_cloexec);
    do_event(&w, (struct wio_event){
                     .op = WIO_OP_accept, .fd = 5, .fd2 = 6, .path = text(&w, "socket:[9]")});
    assert_int_not_equal(behind_fd(&w, 0, 6).file, behind_fd(&w, 0, 3).file);
    world_end(&w);
}

static enum wio_status some_of_everything(struct world *w)
{
    struct wio_event events[] = {
        {.op = WIO_OP_open, .fd = WIO_NO_FD, .path = text(w, "/d/a"), .result = 3},
        {.op = WIO_OP_fork, .fd = WIO_NO_FD, .result = 11},
        {.op = WIO_OP_rename, .fd = WIO_NO_FD, .path = text(w, "/d"), .path2 = text(w, "/e")},
        {.op = WIO_OP_symlink, .fd = WIO_NO_FD, .path = text(w, "/s"), .path2 = text(w, "e/a")},
        {.op = WIO_OP_dup, .fd = 3, .path = text(w, "/d/a"), .result = 70},
    };
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        events[i].seq = i;
        const enum wio_status status = wio_state_event(w->state, &events[i]);
        if (status != WIO_OK) {
            return status;
        }
    }
    return WIO_OK;
}

static void memory_may_be_refused_at_any_time(void **state)
{
    (void)state;
    struct world w;
    enum wio_status status = WIO_ERR_NOMEM;
    for (unsigned n = 0; status != WIO_OK; n++) {
        struct wio_stingy stingy = {.left = n};
        const struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        status = world_create(&w, &alloc, NULL);
        if (status == WIO_OK) {
            status = some_of_everything(&w);
            world_end(&w);
        }
        assert_true(status == WIO_OK || status == WIO_ERR_NOMEM);
        assert_int_equal(stingy.out, 0);
        assert_true(n < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_stays_the_same_through_renames),
        cmocka_unit_test(a_renamed_directory_takes_its_files_along),
        cmocka_unit_test(a_removed_file_is_another_one),
        cmocka_unit_test(links_are_two_names_of_one_file),
        cmocka_unit_test(symbolic_links_are_followed),
        cmocka_unit_test(what_acts_on_a_link_says_nothing_of_its_target),
        cmocka_unit_test(events_tell_of_before_the_run),
        cmocka_unit_test(descriptors_are_duplicated_and_closed),
        cmocka_unit_test(children_inherit_and_exec_closes),
        cmocka_unit_test(system_makes_the_child_that_began_meanwhile),
        cmocka_unit_test(channels_are_files_of_their_own),
        cmocka_unit_test(memory_may_be_refused_at_any_time),
    };
    return WIO_RUN(tests);
}
