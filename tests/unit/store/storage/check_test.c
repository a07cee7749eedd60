/* SPDX-License-Identifier: Apache-2.0 */
/* The root, its version, and what wio_store_check finds in it. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/storage/check.h"
#include "support/store/disk.h"

struct place {
    struct disk *disk;
    struct wio_error last; /* fault */
};

static void make_store(struct place *place, enum wio_log_choice log)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io *io = disk_io(place->disk);
    struct wio_store_root root;
    struct wio_storage *storage = NULL;
    struct wio_stable *stable = NULL;
    struct wio_txn txn = {1, 1, 1, 1};
    struct wio_redo_change change = {WIO_CHANGE_WRITE, {5, 0}, 100, "abc", 3};
    assert_ok(wio_store_root_open(io, log, true, &root, &err), &err);
    assert_true(root.is_new);
    struct wio_storage_config files = {.io = io};
    assert_ok(wio_storage_open(&files, &storage, &err), &err);
    struct wio_stable_config config = {
        .io = io, .storage = storage, .log = log, .may_create = true, .segment_bytes = 64 << 10};
    assert_ok(wio_stable_open(&config, &stable, &err), &err);
    assert_ok(wio_store_root_finish(io, &root, &err), &err);
    assert_ok(wio_stable_commit(stable, &txn, &change, 1, NULL, NULL, &err), &err);
    assert_ok(wio_stable_kick(stable, &err), &err);
    disk_turn(place->disk);
    assert_true(wio_stable_is_idle(stable));
    wio_stable_close(stable);
    wio_storage_close(storage);
}

static void note(void *context, const struct wio_error *fault)
{
    struct place *place = context;
    place->last = *fault;
}

static struct wio_store_check check(struct place *place)
{
    struct wio_store_check found;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_store_check(disk_io(place->disk), note, place, &found, &err), &err);
    return found;
}

static void a_sound_store_has_no_faults(void **state)
{
    (void)state;
    for (int log = WIO_LOG_OWN; log <= WIO_LOG_SQLITE; log++) {
        struct place place = {.disk = disk_create(1)};
        make_store(&place, (enum wio_log_choice)log);
        struct wio_store_check found = check(&place);
        assert_int_equal(found.faults, 0);
        assert_int_equal(found.records, 1);
        assert_int_equal(found.files, 1);
        assert_int_equal(found.bytes, 103);
        disk_destroy(place.disk);
    }
}

/* R-LOG-5: named with file and offset. */
static void damage_of_the_log_is_named(void **state)
{
    struct place place = {.disk = disk_create(1)};
    size_t size = 0;
    (void)state;
    make_store(&place, WIO_LOG_OWN);
    disk_bytes(place.disk, "log/000000.redo", &size)[4096 + 70 - 40] ^=
        1; /* in the epoch's record */
    assert_int_equal(check(&place).faults, 1);
    assert_string_equal(place.last.file, "log/000000.redo");
    assert_int_equal(place.last.offset, 4096);
    disk_destroy(place.disk);
}

static void make_file(struct place *place, const char *name)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io *io = disk_io(place->disk);
    struct wio_io_file *file = NULL;
    assert_ok(io->ops->file_open(io, name, WIO_IO_CREATE, &file, &err), &err);
    io->ops->file_close(file);
}

/* R-DATA-1, R-ROOT-1 */
static void names_that_are_not_the_stores_are_named(void **state)
{
    static const char *const names[] = {"data/05/0000000000000006.000",
                                        "data/05/0000000000000005.0000",
                                        "data/05/000000000000000A.000",
                                        "data/06/x",
                                        "other",
                                        "log/1.redo",
                                        "log/000001.red"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct place place = {.disk = disk_create(1)};
        make_store(&place, WIO_LOG_OWN);
        make_file(&place, names[i]);
        assert_int_equal(check(&place).faults, 1);
        assert_string_equal(place.last.file, names[i]);
        disk_destroy(place.disk);
    }
}

static void what_is_no_store_is_a_fault(void **state)
{
    struct place place = {.disk = disk_create(1)};
    (void)state;
    assert_int_equal(check(&place).faults, 1);
    assert_string_equal(place.last.file, "VERSION");
    disk_destroy(place.disk);
}

/* R-ROOT-2 */
static void a_version_is_exactly_its_text(void **state)
{
    struct wio_store_root root = {.log = WIO_LOG_SQLITE};
    struct wio_store_root back;
    struct wio_error err = WIO_ERROR_INIT;
    char text[WIO_STORE_VERSION_MAX];
    (void)state;
    wio_store_version_encode(&root, text);
    assert_int_equal(strncmp(text, "whyio-store 1\nlog sqlite\ncrc32c ", 32), 0);
    size_t size = strlen(text);
    assert_ok(wio_store_version_decode(text, size, "VERSION", &back, &err), &err);
    assert_int_equal(back.log, WIO_LOG_SQLITE);
    for (size_t i = 0; i < size; i++) {
        text[i] ^= 1;
        assert_true(wio_store_version_decode(text, size, "VERSION", &back, &err) != WIO_OK);
        text[i] ^= 1;
        assert_true(wio_store_version_decode(text, i, "VERSION", &back, &err) != WIO_OK);
    }
    text[12] = '2';
    assert_status(wio_store_version_decode(text, size, "VERSION", &back, &err), WIO_ERR_UNSUPPORTED,
                  &err);
    assert_int_equal(err.offset, 12);
}

/* R-ROOT-1 */
static void a_store_is_made_in_an_empty_directory_only(void **state)
{
    struct place place = {.disk = disk_create(1)};
    struct wio_store_root root;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io *io = disk_io(place.disk);
    (void)state;
    assert_status(wio_store_root_open(io, WIO_LOG_OWN, false, &root, &err), WIO_ERR_FORMAT, &err);
    make_file(&place, "thesis.tex");
    assert_status(wio_store_root_open(io, WIO_LOG_OWN, true, &root, &err), WIO_ERR_FORMAT, &err);
    assert_string_equal(err.file, "thesis.tex");
    assert_ok(io->ops->remove(io, "thesis.tex", &err), &err);
    make_store(&place, WIO_LOG_OWN);
    assert_ok(wio_store_root_open(io, WIO_LOG_OWN, false, &root, &err), &err);
    assert_false(root.is_new);
    assert_status(wio_store_root_open(io, WIO_LOG_SQLITE, true, &root, &err), WIO_ERR_USAGE, &err);
    disk_destroy(place.disk);
}

/* R-ROOT-3 */
static void one_process_has_the_root(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    int first = -1;
    int second = -1;
    char *link = wio_test_path("link");
    (void)state;
    assert_ok(wio_store_root_lock(wio_test_dir(), &first, &err), &err);
    assert_status(wio_store_root_lock(wio_test_dir(), &second, &err), WIO_ERR_BUSY, &err);
    close(first);
    assert_ok(wio_store_root_lock(wio_test_dir(), &second, &err), &err);
    close(second);
    assert_int_equal(symlink(wio_test_dir(), link), 0);
    assert_status(wio_store_root_lock(link, &second, &err), WIO_ERR_IO, &err);
    free(link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_store_has_no_faults),
        cmocka_unit_test(damage_of_the_log_is_named),
        cmocka_unit_test(names_that_are_not_the_stores_are_named),
        cmocka_unit_test(what_is_no_store_is_a_fault),
        cmocka_unit_test(a_version_is_exactly_its_text),
        cmocka_unit_test(a_store_is_made_in_an_empty_directory_only),
        cmocka_unit_test(one_process_has_the_root),
    };
    return WIO_RUN(tests);
}
