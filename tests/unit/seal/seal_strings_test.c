/* SPDX-License-Identifier: Apache-2.0 */
/* Names in rings -> absolute paths, along directories and forks (FORMAT.md R-STRING). */
#include "seal/seal.h"

#include <stdio.h>
#include <unistd.h>

#include "sealed_fixture.h"

/* R-STRING-1 */
static void paths_are_composed(void **state)
{
    static const struct {
        uint32_t base;
        const char *text;
        const char *want;
    } cases[] = {
        {0, "/job", "/job"},
        {1, "a", "/job/a"},
        {1, "./a//b/.", "/job/a/b"},
        {1, "../x", "/x"},
        {1, "../../..", "/"},
        {1, "/abs/./y/../z", "/abs/z"},
        {0, "pipe:[123]", "pipe:[123]"},
        {2, "deep", "/job/a/deep"},
        {1, "", "/job"},
        {99, "lost", "lost"}, /* its directory is not defined */
    };
    struct ring_builder ring;
    begin_process(&ring);
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ring_string(&ring, 0, i + 1, cases[i].base, cases[i].text);
        ring_event(&ring, 0, "stat")->path = i + 1;
    }
    ring_save(&ring, raw_dir(*state), "a.ring");
    struct sealed sealed = open_all(((struct fixture *)*state)->dir);
    assert_int_equal(sealed.count, sizeof(cases) / sizeof(cases[0]));
    for (size_t i = 0; i < sealed.count; i++) {
        assert_string_equal(path_of(&sealed, i), cases[i].want);
    }
    close_all(&sealed);
}

/* Several writers define ids out of order; those of a damaged ring lie anywhere. The first
 * definition of an id holds. */
static void ids_come_in_any_order(void **state)
{
    static const uint32_t ids[] = {7, 2, 5000, 4000000000u, 1, UINT32_MAX, 6};
    const size_t count = sizeof(ids) / sizeof(ids[0]);
    struct ring_builder ring;
    char text[32];
    begin_process(&ring);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof(text), "/f%u", ids[i]);
        ring_string(&ring, 0, ids[i], 0, text);
        ring_string(&ring, 0, ids[i], 0, "/second");
        ring_event(&ring, 0, "stat")->path = ids[i];
    }
    ring_event(&ring, 0, "stat")->path = 3;
    ring_save(&ring, raw_dir(*state), "a.ring");
    struct sealed sealed = open_all(((struct fixture *)*state)->dir);
    assert_int_equal(sealed.count, count + 1);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof(text), "/f%u", ids[i]);
        assert_string_equal(path_of(&sealed, i), text);
    }
    assert_string_equal(path_of(&sealed, count), "");
    close_all(&sealed);
}

/* `..` behind a symbolic link does not lead back: R-STRING-1. */
static void link_keeps_its_dots(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    char link[300];
    char path[400];
    (void)snprintf(link, sizeof(link), "%s/link", fixture->dir);
    assert_int_equal(symlink("/usr", link), 0);
    begin_process(&ring);
    (void)snprintf(path, sizeof(path), "%s/../x", link);
    ring_string(&ring, 0, 1, 0, path);
    ring_event(&ring, 0, "stat")->path = 1;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_string_equal(path_of(&sealed, 0), path);
    close_all(&sealed);
}

/* A circle of directories, which no process can make, ends. */
static void circle_of_bases_ends(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring_string(&ring, 0, 1, 2, "a");
    ring_string(&ring, 0, 2, 1, "b");
    ring_event(&ring, 0, "stat")->path = 1;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_int_equal(sealed.count, 1);
    close_all(&sealed);
}

/* R-STRING-2: strings, and the parent, along two forks. */
static void strings_come_along_fork(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring_string(&ring, 0, 1, 0, "/job");
    ring_text(&ring, 0, WIO_SLOT_META, WIO_META_EXE, 0, "/bin/app", 8);
    ring_save(&ring, raw_dir(fixture), "a.ring");
    for (int32_t i = 1; i <= 2; i++) {
        ring_begin(&ring, 100 + i, 5000000000ull + (uint64_t)i * 1000);
        ring.header.ppid = 99 + i;
        ring.header.first_string = 1 + (uint32_t)i;
        (void)snprintf(ring.header.parent_ring, sizeof(ring.header.parent_ring), "%s",
                       i == 1 ? "a.ring" : "b.ring");
        ring_clock(&ring, 0, 100 + i, 100 + i);
        ring_string(&ring, 0, 1 + (uint32_t)i, 1, i == 1 ? "child" : "grandchild");
        ring_event(&ring, 0, "stat")->path = 1 + (uint32_t)i;
        ring_save(&ring, raw_dir(fixture), i == 1 ? "b.ring" : "c.ring");
    }
    struct sealed sealed = open_all(fixture->dir);
    assert_string_equal(path_of(&sealed, 0), "/job/child");
    assert_string_equal(path_of(&sealed, 1), "/job/grandchild");
    assert_int_equal(wio_trace_process(sealed.trace, 0)->parent, UINT32_MAX);
    assert_int_equal(wio_trace_process(sealed.trace, 1)->parent, 0);
    assert_int_equal(wio_trace_process(sealed.trace, 2)->parent, 1);
    assert_string_equal(wio_trace_process(sealed.trace, 2)->exe, "/bin/app");
    close_all(&sealed);
}

/* R-STRING-3 */
static void damaged_string_is_ignored(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    begin_process(&ring);
    ring_string(&ring, 0, 1, 0, "/torn");
    ring.chunks[0][2].text.lo ^= 1;
    ring_string(&ring, 0, 1, 0, "/whole");
    ring_string(&ring, 0, 1, 0, "/again");
    ring_event(&ring, 0, "stat")->path = 1;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_string_equal(path_of(&sealed, 0), "/whole");
    close_all(&sealed);
}

/* R-STRING-4 */
static void text_of_link_is_unchanged(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_slot_ext *ext = NULL;
    begin_process(&ring);
    ring_string(&ring, 0, 1, 0, "/job/./link");
    ring_string(&ring, 0, 2, 0, "/to/./it/../x");
    ring_event_ext(&ring, 0, "symlink", &ext)->path = 1;
    ext->path2 = 2;
    ring_event_ext(&ring, 0, "rename", &ext)->path = 1;
    ext->path2 = 2;
    ring_save(&ring, raw_dir(fixture), "a.ring");
    struct sealed sealed = open_all(fixture->dir);
    assert_string_equal(path_of(&sealed, 0), "/job/link");
    assert_string_equal(wio_trace_string(sealed.trace, sealed.events[0].path2, NULL),
                        "/to/./it/../x");
    assert_string_equal(wio_trace_string(sealed.trace, sealed.events[1].path2, NULL), "/to/x");
    close_all(&sealed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(paths_are_composed),        TEST(ids_come_in_any_order),
        TEST(link_keeps_its_dots),       TEST(circle_of_bases_ends),
        TEST(strings_come_along_fork),   TEST(damaged_string_is_ignored),
        TEST(text_of_link_is_unchanged),
    };
    return WIO_RUN(tests);
}
