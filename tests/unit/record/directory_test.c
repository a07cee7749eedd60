/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/directory.h"

#define LAUNCH "0123456789abcdef"
#define SEGMENT "\x89WIOSEG\n and more"

/* What a recorder does between claim and settle; a segment appears whole. */
static void write_begin(const struct wio_directory *dir)
{
    char path[2 * PATH_MAX];
    char unfinished[2 * PATH_MAX + 8];
    snprintf(path, sizeof(path), "%s/%s.begin.seg", dir->path, dir->name);
    snprintf(unfinished, sizeof(unfinished), "%s.tmp", path);
    wio_test_write(unfinished, SEGMENT, sizeof(SEGMENT));
    assert_int_equal(rename(unfinished, path), 0);
}

static unsigned count_entries(const char *path, const char *end)
{
    DIR *stream = opendir(path);
    assert_non_null(stream);
    unsigned count = 0;
    const struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        size_t size = strlen(entry->d_name);
        count += size > strlen(end) && strcmp(entry->d_name + size - strlen(end), end) == 0;
    }
    (void)closedir(stream);
    return count;
}

static void a_claim_makes_and_undo_removes(void **state)
{
    (void)state;
    char *path = wio_test_path("plain");
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_directory dir;
    assert_ok(wio_directory_claim(&dir, path, false, "host", "", &err), &err);
    assert_true(dir.is_made);
    write_begin(&dir);
    wio_directory_settle(&dir);
    assert_ok(wio_directory_make_rings(&dir, NULL, &err), &err);
    assert_int_equal(access(dir.rings, W_OK), 0);
    assert_false(dir.is_local);
    wio_directory_undo(&dir);
    assert_int_equal(access(path, F_OK), -1);
    free(path);
}

static void local_rings_are_linked_and_removed(void **state)
{
    (void)state;
    char *path = wio_test_path("linked");
    char *local = wio_test_path("local");
    char entry[2 * PATH_MAX];
    assert_int_equal(mkdir(local, 0777), 0);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_directory dir;
    assert_ok(wio_directory_claim(&dir, path, true, "host", "", &err), &err);
    wio_directory_settle(&dir);
    assert_ok(wio_directory_make_rings(&dir, local, &err), &err);
    assert_true(dir.is_local);
    snprintf(entry, sizeof(entry), "%s/raw/%s", dir.path, dir.name);
    struct stat linked;
    struct stat real;
    assert_int_equal(stat(entry, &linked), 0);
    assert_int_equal(stat(dir.rings, &real), 0);
    assert_int_equal(linked.st_ino, real.st_ino);
    wio_directory_remove_rings(&dir);
    assert_int_equal(access(dir.rings, F_OK), -1);
    assert_int_equal(count_entries(dir.path, "raw"), 0);
    free(path);
    free(local);
}

/* Rings that could not be sealed stay where later commands look for them. */
static void rings_that_are_there_stay(void **state)
{
    (void)state;
    char *path = wio_test_path("stay");
    char ring[2 * PATH_MAX];
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_directory dir;
    assert_ok(wio_directory_claim(&dir, path, false, "host", "", &err), &err);
    assert_ok(wio_directory_make_rings(&dir, NULL, &err), &err);
    snprintf(ring, sizeof(ring), "%s/a.ring", dir.rings);
    wio_test_write(ring, "x", 1);
    wio_directory_remove_rings(&dir);
    assert_int_equal(access(ring, F_OK), 0);
    free(path);
}

static void existing_ones_are_refused(void **state)
{
    (void)state;
    char *path = wio_test_path("existing");
    assert_int_equal(mkdir(path, 0777), 0);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_directory dir;
    assert_status(wio_directory_claim(&dir, path, false, "host", "", &err), WIO_ERR_USAGE, &err);
    assert_ok(wio_directory_claim(&dir, path, true, "host", "", &err), &err);
    write_begin(&dir);
    wio_directory_settle(&dir);
    /* Another launch is no sibling: it does not wait, and does not join. */
    assert_status(wio_directory_claim(&dir, path, false, "host", LAUNCH, &err), WIO_ERR_USAGE,
                  &err);
    free(path);
}

static _Noreturn void claim_in_child(const char *path, bool force, int start)
{
    char byte;
    struct wio_directory dir;
    (void)!read(start, &byte, 1);
    struct wio_error err = WIO_ERROR_INIT;
    if (wio_directory_claim(&dir, path, force, "host", LAUNCH, &err) != WIO_OK) {
        fprintf(stderr, "claim: %s: %s\n", err.file, err.message);
        _exit(1);
    }
    write_begin(&dir);
    wio_directory_settle(&dir);
    if (wio_directory_make_rings(&dir, NULL, &err) != WIO_OK) {
        fprintf(stderr, "rings: %s: %s\n", err.file, err.message);
        _exit(2);
    }
    wio_directory_remove_rings(&dir);
    _exit(0);
}

/* `count` recorders of one launch start at once. */
static void claim_at_once(const char *path, bool force, unsigned count)
{
    int start[2];
    assert_int_equal(pipe(start), 0);
    for (unsigned i = 0; i < count; i++) {
        if (fork() == 0) {
            (void)close(start[1]);
            claim_in_child(path, force, start[0]);
        }
    }
    (void)close(start[0]);
    (void)close(start[1]);
    for (unsigned i = 0; i < count; i++) {
        int status = 0;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
}

static void siblings_race_safely(void **state)
{
    (void)state;
    enum { ROUNDS = 20, RECORDERS = 8 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        char name[32];
        char old[PATH_MAX];
        snprintf(name, sizeof(name), "race%u", round);
        char *path = wio_test_path(name);
        bool force = round % 2 == 1;
        if (force) {
            assert_int_equal(mkdir(path, 0777), 0);
            snprintf(old, sizeof(old), "%s/old.1.2.seg", path);
            wio_test_write(old, SEGMENT, sizeof(SEGMENT));
        }
        claim_at_once(path, force, RECORDERS);
        assert_int_equal(count_entries(path, ".begin.seg"), RECORDERS);
        assert_int_equal(count_entries(path, ".seg"), RECORDERS);
        assert_int_equal(count_entries(path, "lock"), 0);
        assert_int_equal(count_entries(path, "raw"), 0);
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_makes_and_undo_removes),
        cmocka_unit_test(local_rings_are_linked_and_removed),
        cmocka_unit_test(rings_that_are_there_stay),
        cmocka_unit_test(existing_ones_are_refused),
        cmocka_unit_test(siblings_race_safely),
    };
    return WIO_RUN(tests);
}
