/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/library.h"

static void a_given_library_is_made_absolute(void **state)
{
    (void)state;
    char *path = wio_test_path("given.so");
    wio_test_write(path, "x", 1);
    assert_int_equal(chdir(wio_test_dir()), 0);
    char found[PATH_MAX];
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_library_find("./given.so", found, &err), &err);
    assert_int_equal(found[0], '/');
    assert_string_equal(strrchr(found, '/'), "/given.so");
    free(path);
}

static void a_missing_library_is_an_error(void **state)
{
    (void)state;
    char found[PATH_MAX];
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(wio_library_find("/no/such.so", found, &err), WIO_ERR_IO, &err);
    assert_string_equal(err.file, "/no/such.so");
}

static void names_that_the_loader_splits_are_refused(void **state)
{
    (void)state;
    char *path = wio_test_path("a b.so");
    wio_test_write(path, "x", 1);
    char found[PATH_MAX];
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(wio_library_find(path, found, &err), WIO_ERR_UNSUPPORTED, &err);
    assert_non_null(strstr(err.message, "WHYIO_CAPTURE_LIB"));
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_given_library_is_made_absolute),
        cmocka_unit_test(a_missing_library_is_an_error),
        cmocka_unit_test(names_that_the_loader_splits_are_refused),
    };
    return WIO_RUN(tests);
}
