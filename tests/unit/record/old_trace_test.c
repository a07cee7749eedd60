/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/old_trace.h"
#include "seal/rings/raw.h"
#include "trace/format/trust.h"

#define SEGMENT "\x89WIOSEG\n and more"
#define RING "WIORING\n and more"

static void make_dir(const char *name)
{
    char *path = wio_test_path(name);
    assert_int_equal(mkdir(path, 0777), 0);
    free(path);
}

static void make_file(const char *name, const char *text, size_t bytes)
{
    char *path = wio_test_path(name);
    wio_test_write(path, text, bytes);
    free(path);
}

static struct wio_old_trace scan(const char *name, const char *launch)
{
    char *path = wio_test_path(name);
    struct wio_old_trace found;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_old_trace_scan(path, launch, &found, &err), &err);
    free(path);
    return found;
}

static bool exists(const char *name)
{
    char *path = wio_test_path(name);
    bool is_there = access(path, F_OK) == 0;
    free(path);
    return is_there;
}

static void an_empty_directory_holds_nothing(void **state)
{
    (void)state;
    make_dir("empty");
    make_file("empty/lock", "", 0);
    make_file("empty/a.seg.tmp", "", 0);
    make_file("empty/trace.edges.7-1.tmp", "", 0);
    struct wio_old_trace found = scan("empty", "");
    assert_false(found.has_trace || found.has_siblings || found.has_other);
}

static void segments_and_rings_are_told_by_their_magic(void **state)
{
    (void)state;
    make_dir("seg");
    make_file("seg/a.seg", SEGMENT, sizeof(SEGMENT));
    assert_true(scan("seg", "").has_trace);
    assert_false(scan("seg", "").has_other);
    make_dir("fake");
    make_file("fake/a.seg", "no segment at all", 17);
    assert_false(scan("fake", "").has_trace);
    assert_true(scan("fake", "").has_other);
    make_dir("ring");
    make_dir("ring/raw");
    assert_false(scan("ring", "").has_trace);
    make_dir("ring/raw/host.1.2");
    make_file("ring/raw/host.1.2/b.ring", RING, sizeof(RING));
    assert_true(scan("ring", "").has_trace);
}

static void siblings_are_told_by_the_launch_in_the_name(void **state)
{
    (void)state;
    make_dir("join");
    make_file("join/h.1.2.0123456789abcdef.begin.seg", SEGMENT, sizeof(SEGMENT));
    assert_true(scan("join", "0123456789abcdef").has_siblings);
    assert_false(scan("join", "123456789abcdef0").has_siblings);
    assert_false(scan("join", "").has_siblings);
    make_dir("joined");
    make_file("joined/h.1.2.0123456789abcdef.seg", SEGMENT, sizeof(SEGMENT));
    assert_true(scan("joined", "0123456789abcdef").has_siblings);
}

static void a_recorder_at_work_is_known_by_its_lock(void **state)
{
    (void)state;
    make_dir("busy");
    make_dir("busy/raw");
    make_dir("busy/raw/h.1.2");
    char *path = wio_test_path("busy");
    char *rings = wio_test_path("busy/raw/h.1.2");
    assert_false(wio_old_trace_is_held(path));
    int fd = open(rings, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_true(wio_old_trace_is_held(path));
    assert_int_equal(close(fd), 0);
    assert_false(wio_old_trace_is_held(path));
    free(rings);
    free(path);
}

static void finished_recorders_are_counted(void **state)
{
    (void)state;
    make_dir("done");
    make_file("done/h.1.2.0123456789abcdef.seg", SEGMENT, sizeof(SEGMENT));
    make_file("done/h.1.3.0123456789abcdef.seg", SEGMENT, sizeof(SEGMENT));
    make_file("done/h.1.4.0123456789abcdef.begin.seg", SEGMENT, sizeof(SEGMENT));
    make_file("done/h.1.5.00000000000000aa.seg", SEGMENT, sizeof(SEGMENT));
    char *path = wio_test_path("done");
    assert_int_equal(wio_old_trace_finished(path, "0123456789abcdef"), 2);
    assert_int_equal(wio_old_trace_finished(path, ""), 0);
    free(path);
}

static void only_the_trace_is_removed(void **state)
{
    (void)state;
    make_dir("full");
    make_dir("full/raw");
    make_dir("full/raw/h.1.2");
    make_dir("full/precious");
    make_file("full/raw/h.1.2/b.ring", RING, sizeof(RING));
    make_file("full/a.seg", SEGMENT, sizeof(SEGMENT));
    make_file("full/b.seg.tmp", SEGMENT, sizeof(SEGMENT));
    make_file("full/c.seg", "not ours", 8);
    make_file("full/trace.edges", "\x89WIOEDG\n and more", 17);
    make_file("full/precious/d.seg", SEGMENT, sizeof(SEGMENT));
    char *path = wio_test_path("full");
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_old_trace_remove(path, &err), &err);
    free(path);
    assert_false(exists("full/trace.edges"));
    assert_false(exists("full/raw"));
    assert_false(exists("full/a.seg"));
    assert_false(exists("full/b.seg.tmp"));
    assert_true(exists("full/c.seg"));
    assert_true(exists("full/precious/d.seg"));
}

/* As a recorder does that has its rings elsewhere: R-RING-8. */
static void link_rings(const char *trace, const char *rings)
{
    struct wio_error err = WIO_ERROR_INIT;
    char *raw = wio_test_path(trace);
    char *local = wio_test_path(rings);
    int from = open(raw, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int to = open(local, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(fchmod(to, 0700), 0);
    assert_ok(wio_trust_bind(from, raw, to, &err), &err);
    assert_int_equal(close(from), 0);
    assert_int_equal(close(to), 0);
    free(raw);
    free(local);
}

static void make_link(const char *to, const char *name)
{
    char *target = wio_test_path(to);
    char *link = wio_test_path(name);
    assert_int_equal(symlink(target, link), 0);
    free(target);
    free(link);
}

/* raw/<name> of a node-local recording is a link to a directory made for it: that goes too, but
 * no other that a link leads to. */
static void local_rings_go_with_the_trace(void **state)
{
    (void)state;
    make_dir("net");
    make_dir("net/raw");
    make_dir("other");
    make_dir("other/raw");
    make_dir(WIO_LOCAL_RINGS_PREFIX "0-abc");
    make_dir(WIO_LOCAL_RINGS_PREFIX "0-def");
    make_dir("elsewhere");
    make_file(WIO_LOCAL_RINGS_PREFIX "0-abc/a.ring", RING, sizeof(RING));
    make_file(WIO_LOCAL_RINGS_PREFIX "0-def/a.ring", RING, sizeof(RING));
    link_rings("net/raw", WIO_LOCAL_RINGS_PREFIX "0-abc");
    link_rings("other/raw", WIO_LOCAL_RINGS_PREFIX "0-def");
    make_link(WIO_LOCAL_RINGS_PREFIX "0-abc", "net/raw/h.1.2");
    make_link(WIO_LOCAL_RINGS_PREFIX "0-def", "net/raw/h.1.3"); /* rings of another trace */
    make_link("elsewhere", "net/raw/h.1.4");
    char *path = wio_test_path("net");
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_old_trace_remove(path, &err), &err);
    assert_false(exists("net/raw"));
    assert_false(exists(WIO_LOCAL_RINGS_PREFIX "0-abc"));
    assert_true(exists(WIO_LOCAL_RINGS_PREFIX "0-def/a.ring"));
    assert_true(exists(WIO_LOCAL_RINGS_PREFIX "0-def/" WIO_RINGS_OF));
    assert_true(exists("elsewhere"));
    free(path);
}

/* raw itself is a link: nothing behind it is looked at or removed. */
static void a_link_as_raw_goes_alone(void **state)
{
    (void)state;
    make_dir("linked");
    make_dir("behind");
    make_dir("behind/h.1.2");
    make_file("behind/h.1.2/b.ring", RING, sizeof(RING));
    make_file("linked/a.seg", SEGMENT, sizeof(SEGMENT));
    make_link("behind", "linked/raw");
    char *path = wio_test_path("linked");
    struct wio_error err = WIO_ERROR_INIT;
    assert_false(wio_old_trace_is_held(path));
    assert_ok(wio_old_trace_remove(path, &err), &err);
    assert_false(exists("linked/raw"));
    assert_false(exists("linked/a.seg"));
    assert_true(exists("behind/h.1.2/b.ring"));
    free(path);
}

static void what_is_no_directory_is_an_error(void **state)
{
    (void)state;
    struct wio_old_trace found;
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(wio_old_trace_scan("/no/such", "", &found, &err), WIO_ERR_IO, &err);
    assert_status(wio_old_trace_remove("/no/such", &err), WIO_ERR_IO, &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_directory_holds_nothing),
        cmocka_unit_test(segments_and_rings_are_told_by_their_magic),
        cmocka_unit_test(siblings_are_told_by_the_launch_in_the_name),
        cmocka_unit_test(a_recorder_at_work_is_known_by_its_lock),
        cmocka_unit_test(finished_recorders_are_counted),
        cmocka_unit_test(only_the_trace_is_removed),
        cmocka_unit_test(local_rings_go_with_the_trace),
        cmocka_unit_test(a_link_as_raw_goes_alone),
        cmocka_unit_test(what_is_no_directory_is_an_error),
    };
    return WIO_RUN(tests);
}
