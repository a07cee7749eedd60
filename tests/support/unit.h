/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every unit test includes: cmocka with the headers it needs, output as TAP, a directory of
 * its own, skipping with a reason.
 *
 *     static void adds_two_numbers(void **state) { ... assert_int_equal(..); }
 *
 *     int main(void)
 *     {
 *         const struct CMUnitTest tests[] = {cmocka_unit_test(adds_two_numbers)};
 *         return WIO_RUN(tests);
 *     }
 *
 * One program per source file, small functions. Never cmocka's skip(): Meson would count it as a
 * failure. Skip the whole program by wio_test_skip("no ... here") before WIO_RUN.
 */
#ifndef WIO_TESTS_SUPPORT_UNIT_H
#define WIO_TESTS_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <whyio/status.h>

/* What a test does so many times with random numbers, it does this part of under a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WIO_TEST_SLOWER 4
#else
#define WIO_TEST_SLOWER 1
#endif

/* Run the group; gives the exit status for main. */
#define WIO_RUN(tests)                                                                             \
    (wio_test_begin(), cmocka_run_group_tests_name(wio_test_name(__FILE__), (tests), NULL, NULL))

void wio_test_begin(void);
const char *wio_test_name(const char *file);
/* End the program as skipped. */
_Noreturn void wio_test_skip(const char *reason);

/* The directory is to be in memory where the machine has a place for that: for tests that flush
 * many small files. Before the others. */
void wio_test_in_memory(void);
/* A fresh directory; removed when the program ends. The text is valid until then. */
const char *wio_test_dir(void);
/* "DIR/name" with DIR = wio_test_dir(); free() it. */
char *wio_test_path(const char *name);
/* Write a file below the directory. */
void wio_test_write(const char *path, const void *data, size_t bytes);

/* Seeded numbers (splitmix64), so that a failure can be repeated. */
uint64_t wio_test_random(uint64_t *state);

/* The call must succeed; shows the error's message where it does not. */
#define assert_ok(expr, err) wio_assert_status((expr), WIO_OK, (err), #expr, __FILE__, __LINE__)
#define assert_status(expr, status, err)                                                           \
    wio_assert_status((expr), (status), (err), #expr, __FILE__, __LINE__)
void wio_assert_status(enum wio_status got, enum wio_status want, const struct wio_error *err,
                       const char *expr, const char *file, int line);

#endif
