/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are hidden while sealing, alike in all segments (FORMAT.md R-RING-7). */
#include "seal/anonymize.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "seal/seal.h"
#include "sealed_fixture.h"

static void names_are_hidden(void **state)
{
    struct fixture *fixture = *state;
    struct ring_builder ring;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_seal_params params = {.struct_size = sizeof(params), .anonymize = true};
    begin_process(&ring);
    ring_text(&ring, 0, WIO_SLOT_META, WIO_META_ARGV, 0, "app\0--secret=1", 15);
    ring_string(&ring, 0, 1, 0, "/home/alice/data.h5");
    ring_string(&ring, 0, 2, 0, "/home/alice/other.h5");
    ring_string(&ring, 0, 3, 0, "/dev/null");
    for (uint32_t i = 1; i <= 3; i++) {
        ring_event(&ring, 0, "stat")->path = i;
    }
    ring_save(&ring, raw_dir(fixture), "a.ring");
    assert_ok(wio_seal(fixture->dir, NULL, "sealed", &params, &err), &err);
    struct sealed sealed = open_all(fixture->dir);
    const char *first = path_of(&sealed, 0);
    const char *second = path_of(&sealed, 1);
    assert_null(strstr(first, "alice"));
    assert_non_null(strstr(first, ".h5"));
    /* "/" 12 "/" 12 "/" 12 ".h5": the same directories, different files */
    assert_int_equal(strlen(first), 3 * 13 + 3);
    assert_memory_equal(first, second, 26);
    assert_string_not_equal(first, second);
    assert_string_equal(path_of(&sealed, 2), "/dev/null");
    assert_null(strstr(wio_trace_process(sealed.trace, 0)->argv, "secret"));
    close_all(&sealed);

    /* Nowhere in the file either. */
    struct wio_blob bytes = {0};
    (void)snprintf(fixture->segment, sizeof(fixture->segment), "%s/sealed.seg", fixture->dir);
    assert_ok(wio_io_read_file(fixture->segment, 1 << 20, &bytes, &err), &err);
    assert_null(memmem(bytes.data, bytes.size, "alice", 5));
    wio_blob_fini(&bytes);
}

static void add_stat(struct fixture *fixture, const char *path)
{
    struct ring_builder ring;
    begin_process(&ring);
    ring_string(&ring, 0, 1, 0, path);
    ring_event(&ring, 0, "stat")->path = 1;
    ring_save(&ring, raw_dir(fixture), "a.ring");
}

/* R-RING-7 */
static void a_key_hides_names_alike_in_all_segments(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_seal_params params = {.struct_size = sizeof(params), .anonymize = true};
    add_stat(fixture, "/home/alice/data.h5");
    assert_ok(wio_hide_begin(fixture->dir, &err), &err);
    assert_ok(wio_hide_begin(fixture->dir, &err), &err); /* a sibling: it is there */
    assert_ok(wio_seal(fixture->dir, NULL, "first", &params, &err), &err);
    add_stat(fixture, "/home/alice/data.h5");
    struct sealed sealed = open_all(fixture->dir); /* a later command, which is not asked to hide */
    assert_int_equal(sealed.count, 2);
    assert_null(strstr(path_of(&sealed, 0), "alice"));
    assert_string_equal(path_of(&sealed, 0), path_of(&sealed, 1));
    close_all(&sealed);
    assert_int_equal(access(raw_dir(fixture), F_OK), -1); /* the key is forgotten */
}

/* R-RING-7: a key that cannot be used is no reason to show names. */
static void a_damaged_key_hides_names_too(void **state)
{
    struct fixture *fixture = *state;
    char path[400];
    add_stat(fixture, "/home/alice/data.h5");
    (void)snprintf(path, sizeof(path), "%s/" WIO_HIDE_KEY_NAME, raw_dir(fixture));
    wio_test_write(path, "short", 5);
    struct sealed sealed = open_all(fixture->dir);
    assert_null(strstr(path_of(&sealed, 0), "alice"));
    close_all(&sealed);
}

static void find_text(void *arg, const struct wio_error *fault)
{
    unsigned *found = arg;
    assert_null(strstr(fault->message, "/raw/"));
    *found += strstr(fault->message, "broken.ring") != NULL;
}

/* A note of a damaged ring names it, but not the directory, which is below a home directory. */
static void faults_tell_no_directory_when_names_are_hidden(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    char path[400];
    unsigned found = 0;
    add_stat(fixture, "/home/alice/data.h5");
    (void)snprintf(path, sizeof(path), "%s/broken.ring", raw_dir(fixture));
    wio_test_write(path, "no ring at all, but long enough to say so", 41);
    assert_ok(wio_hide_begin(fixture->dir, &err), &err);
    assert_status(wio_trace_check(fixture->dir, find_text, &found, &err), WIO_END, &err);
    assert_int_equal(found, 1);
}

static void find_link(void *arg, const struct wio_error *fault)
{
    unsigned *found = arg;
    assert_null(strstr(fault->message, "alice"));
    *found += strstr(fault->message, "found a link") != NULL;
}

/* Nor where a link leads that is not followed. */
static void faults_tell_no_target_when_names_are_hidden(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    char path[400];
    unsigned found = 0;
    add_stat(fixture, "/home/alice/data.h5");
    (void)snprintf(path, sizeof(path), "%s/elsewhere", raw_dir(fixture));
    assert_int_equal(symlink("/home/alice/rings", path), 0);
    assert_ok(wio_hide_begin(fixture->dir, &err), &err);
    assert_status(wio_trace_check(fixture->dir, find_link, &found, &err), WIO_END, &err);
    assert_int_equal(found, 1);
}

static void a_key_stays_while_there_are_rings(void **state)
{
    struct fixture *fixture = *state;
    struct wio_error err = WIO_ERROR_INIT;
    add_stat(fixture, "/home/alice/data.h5");
    assert_ok(wio_hide_begin(fixture->dir, &err), &err);
    wio_hide_forget(fixture->dir);
    uint8_t key[WIO_HIDE_KEY_BYTES];
    bool is_there = false;
    int raw = open(raw_dir(fixture), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_ok(wio_hide_load(raw, key, &is_there, &err), &err);
    assert_int_equal(close(raw), 0);
    assert_true(is_there);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(names_are_hidden),
        TEST(a_key_hides_names_alike_in_all_segments),
        TEST(a_damaged_key_hides_names_too),
        TEST(faults_tell_no_directory_when_names_are_hidden),
        TEST(faults_tell_no_target_when_names_are_hidden),
        TEST(a_key_stays_while_there_are_rings),
    };
    return WIO_RUN(tests);
}
