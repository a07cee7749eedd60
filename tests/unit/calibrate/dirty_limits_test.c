/* SPDX-License-Identifier: Apache-2.0 */
/* With files instead of the kernel: nothing here touches the machine's limits. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/system/dirty_limits.h"

static void set(const char *name, const char *text)
{
    char *path = wio_test_path(name);
    wio_test_write(path, text, strlen(text));
    free(path);
}

static uint64_t get(const char *name)
{
    uint64_t value;
    assert_true(wio_limits_read(wio_test_dir(), name, &value));
    return value;
}

static void restores_bytes(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    set("dirty_background_bytes", "33554432\n");
    set("dirty_background_ratio", "0\n");
    struct wio_limits limits = wio_limits_of(wio_test_dir());
    assert_true(limits.may_lower);
    assert_ok(wio_limits_lower(&limits, &err), &err);
    assert_int_equal(get("dirty_background_bytes"), WIO_LIMITS_LOWERED);
    assert_ok(wio_limits_restore(&limits, &err), &err);
    assert_int_equal(get("dirty_background_bytes"), 33554432);
    assert_int_equal(get("dirty_background_ratio"), 0);
}

/* The kernel takes the bytes out of force when the ratio is set; files do not, so one looks at the
 * ratio, which nothing but the restoring can have written again. */
static void restores_a_ratio(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    set("dirty_background_bytes", "0\n");
    set("dirty_background_ratio", "10\n");
    struct wio_limits limits = wio_limits_of(wio_test_dir());
    assert_ok(wio_limits_lower(&limits, &err), &err);
    set("dirty_background_ratio", "0\n"); /* as the kernel does */
    assert_ok(wio_limits_restore(&limits, &err), &err);
    assert_int_equal(get("dirty_background_ratio"), 10);
}

/* What was not lowered, or what was set since by another process, stays. */
static void leaves_other_values(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    set("dirty_background_bytes", "5000000\n");
    set("dirty_background_ratio", "0\n");
    struct wio_limits limits = wio_limits_of(wio_test_dir());
    assert_ok(wio_limits_lower(&limits, &err), &err);
    set("dirty_background_bytes", "7000000\n");
    assert_ok(wio_limits_restore(&limits, &err), &err);
    assert_int_equal(get("dirty_background_bytes"), 7000000);
}

static void may_not_lower_what_is_not_there(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_limits limits = wio_limits_of("/nowhere");
    assert_false(limits.may_lower);
    assert_status(wio_limits_lower(&limits, &err), WIO_ERR_IO, &err);
    assert_ok(wio_limits_restore(&limits, &err), &err);
}

/* Another one has lowered them: restoring to that would lower them for good. */
static void may_not_lower_twice(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    set("dirty_background_bytes", "5000000\n");
    set("dirty_background_ratio", "0\n");
    struct wio_limits first = wio_limits_of(wio_test_dir());
    assert_ok(wio_limits_lower(&first, &err), &err);
    assert_false(wio_limits_of(wio_test_dir()).may_lower);
    assert_ok(wio_limits_restore(&first, &err), &err);
    assert_int_equal(get("dirty_background_bytes"), 5000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restores_bytes),      cmocka_unit_test(restores_a_ratio),
        cmocka_unit_test(leaves_other_values), cmocka_unit_test(may_not_lower_what_is_not_there),
        cmocka_unit_test(may_not_lower_twice),
    };
    return WIO_RUN(tests);
}
