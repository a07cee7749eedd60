/* SPDX-License-Identifier: Apache-2.0 */
/* The real rig, on whatever file system tests run: times are times, and nothing is left. */
#include "support/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "calibrate/backend/files.h"
#include "calibrate/backend/many_files.h"
#include "calibrate/system/folio.h"

static off_t size_of(const char *name)
{
    struct stat st;
    char *path = wio_test_path(name);
    int result = stat(path, &st);
    free(path);
    return result == 0 ? st.st_size : -1;
}

static void reads_what_it_wrote(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_files files;
    double seconds;
    assert_ok(wio_files_init(&files, wio_test_dir(), NULL, &err), &err);
    struct wio_rig rig = wio_files_rig(&files);
    struct wio_rig_io io = {.file = WIO_RIG_BASE, .size = 1 << 20};
    for (int way = 0; way < WIO_RIG_DIRECT; way++) {
        io.way = (enum wio_rig_way)way;
        io.offset = (uint64_t)way << 20;
        assert_ok(rig.write(rig.context, &io, &seconds, &err), &err);
        assert_true(seconds > 0);
    }
    assert_int_equal(size_of("base"), 2 << 20);
    assert_ok(rig.fsync(rig.context, WIO_RIG_BASE, &seconds, &err), &err);
    assert_ok(rig.drop(rig.context, WIO_RIG_BASE, &seconds, &err), &err);
    assert_ok(rig.read(rig.context, &io, &seconds, &err), &err);
    assert_true(seconds > 0);
    assert_ok(rig.remove(rig.context, WIO_RIG_BASE, &err), &err);
    assert_int_equal(size_of("base"), -1);
    wio_files_fini(&files);
}

/* Where it is refused that is told as such, and nothing else. */
static void writes_directly_or_says_so(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_files files;
    double seconds;
    assert_ok(wio_files_init(&files, wio_test_dir(), NULL, &err), &err);
    struct wio_rig rig = wio_files_rig(&files);
    const struct wio_rig_io io = {.file = WIO_RIG_APPEND, .way = WIO_RIG_DIRECT, .size = 8192};
    enum wio_status status = rig.write(rig.context, &io, &seconds, &err);
    assert_true(status == WIO_OK || status == WIO_ERR_UNSUPPORTED);
    if (status == WIO_OK) {
        assert_int_equal(size_of("append"), 8192);
    }
    assert_ok(rig.remove(rig.context, WIO_RIG_APPEND, &err), &err);
    wio_files_fini(&files);
}

/* Where there are no huge pages ordinary ones do. */
static void writes_out_of_huge_pages(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_files files;
    double seconds;
    assert_ok(wio_files_init(&files, wio_test_dir(), NULL, &err), &err);
    struct wio_rig rig = wio_files_rig(&files);
    const struct wio_rig_io io = {.file = WIO_RIG_BASE, .size = 8192, .from_huge = true};
    assert_ok(rig.write(rig.context, &io, &seconds, &err), &err);
    assert_int_equal(size_of("base"), 8192);
    assert_memory_equal(files.buffers.huge, files.buffers.data, WIO_RIG_IO_MOST);
    assert_ok(rig.remove(rig.context, WIO_RIG_BASE, &err), &err);
    wio_files_fini(&files);
}

static void names_the_file_that_fails(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_files files;
    double seconds;
    assert_ok(wio_files_init(&files, "/nowhere", NULL, &err), &err);
    struct wio_rig rig = wio_files_rig(&files);
    const struct wio_rig_io io = {.file = WIO_RIG_FRESH, .size = 1};
    assert_status(rig.write(rig.context, &io, &seconds, &err), WIO_ERR_IO, &err);
    assert_string_equal(err.file, "/nowhere/fresh");
    assert_status(rig.read(rig.context, &io, &seconds, &err), WIO_ERR_IO, &err);
    wio_files_fini(&files);
}

/* Also where it is not read to its end. */
static void flushes_beside(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    double seconds;
    for (int ends = 0; ends < 2; ends++) {
        struct wio_files files;
        assert_ok(wio_files_init(&files, wio_test_dir(), NULL, &err), &err);
        struct wio_rig rig = wio_files_rig(&files);
        const struct wio_rig_io io = {.file = WIO_RIG_AHEAD, .size = 4 << 20};
        assert_ok(rig.write(rig.context, &io, &seconds, &err), &err);
        assert_ok(rig.flush_begin(rig.context, WIO_RIG_AHEAD, &err), &err);
        (void)rig.is_flushing(rig.context);
        if (ends == 1) {
            assert_ok(rig.flush_end(rig.context, WIO_RIG_AHEAD, &err), &err);
            assert_ok(rig.remove(rig.context, WIO_RIG_AHEAD, &err), &err);
        }
        wio_files_fini(&files);
    }
}

/* Nothing depends on lowered limits: in a container root may not lower them. */
static void flushes_without_lowered_limits(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_limits refused = {.dir = "/nowhere", .may_lower = true};
    const struct wio_rig_io io = {.file = WIO_RIG_AHEAD, .size = 4 << 20};
    struct wio_files files;
    double seconds;
    assert_ok(wio_files_init(&files, wio_test_dir(), &refused, &err), &err);
    struct wio_rig rig = wio_files_rig(&files);
    assert_ok(rig.write(rig.context, &io, &seconds, &err), &err);
    assert_ok(rig.flush_begin(rig.context, WIO_RIG_AHEAD, &err), &err);
    assert_ok(rig.flush_end(rig.context, WIO_RIG_AHEAD, &err), &err);
    assert_null(files.flush.limits);
    assert_ok(rig.remove(rig.context, WIO_RIG_AHEAD, &err), &err);
    wio_files_fini(&files);
}

static void times_memory_and_stdio(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_files files;
    double once;
    assert_ok(wio_files_init(&files, wio_test_dir(), NULL, &err), &err);
    struct wio_rig rig = wio_files_rig(&files);
    assert_true(rig.copy(rig.context, 1 << 20) > 0);
    for (int i = 0; i < 3; i++) {
        assert_ok(rig.fwrite(rig.context, 10000, &once, &err), &err);
        assert_true(once > 0);
    }
    wio_files_fini(&files);
}

static void times_metadata_and_tidies_up(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_files files;
    double seconds[WIO_RIG_META_COUNT];
    assert_ok(wio_files_init(&files, wio_test_dir(), NULL, &err), &err);
    struct wio_rig rig = wio_files_rig(&files);
    for (int pass = 0; pass < 3; pass++) {
        assert_ok(rig.meta(rig.context, seconds, &err), &err);
        for (size_t i = 0; i < WIO_RIG_META_COUNT; i++) {
            if (!(seconds[i] > 0 && seconds[i] < 10)) {
                fail_msg("%s: %g s", wio_rig_meta_name((enum wio_rig_meta)i), seconds[i]);
            }
        }
        assert_int_equal(size_of("meta"), -1);
    }
    wio_files_fini(&files);
}

static void finds_the_largest_folio(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_calibrate_value value = {.value = 0};
    char *path = wio_test_path("folio");
    long page = sysconf(_SC_PAGESIZE);
    assert_ok(wio_folio_measure(path, &value, &err), &err);
    assert_true(value.value >= (double)page && value.value <= (double)WIO_FOLIO_BYTES);
    assert_true(fmod(value.value, (double)page) == 0);
    assert_true(value.how == WIO_CALIBRATE_MEASURED || value.is_better_with_root);
    free(path);
}

/* As on FUSE without a page cache. */
static void needs_no_maps_of_files(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_calibrate_value value = {.value = (double)NAN};
    assert_ok(wio_folio_measure("/dev/null", &value, &err), &err);
    assert_true(value.value == (double)sysconf(_SC_PAGESIZE));
    assert_false(value.is_better_with_root);
}

/* Of many files the one that fails, which is a device here that takes nothing. */
static void names_the_one_of_many_that_fails(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char page[4096] = {0};
    double seconds[6];
    const struct wio_rig_many many = {.files = 3, .writes = 2};
    char *path = wio_test_path("many1");
    assert_return_code(symlink("/dev/full", path), errno);
    assert_status(wio_many_files(wio_test_dir(), page, &many, seconds, &err), WIO_ERR_IO, &err);
    assert_string_equal(err.file, path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_it_wrote),
        cmocka_unit_test(writes_directly_or_says_so),
        cmocka_unit_test(writes_out_of_huge_pages),
        cmocka_unit_test(names_the_file_that_fails),
        cmocka_unit_test(names_the_one_of_many_that_fails),
        cmocka_unit_test(flushes_beside),
        cmocka_unit_test(flushes_without_lowered_limits),
        cmocka_unit_test(times_memory_and_stdio),
        cmocka_unit_test(times_metadata_and_tidies_up),
        cmocka_unit_test(finds_the_largest_folio),
        cmocka_unit_test(needs_no_maps_of_files),
    };
    return WIO_RUN(tests);
}
