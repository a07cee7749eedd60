/* SPDX-License-Identifier: Apache-2.0 */
/* Names and times of copies. */
#include "support/unit.h"

#include "store/stage/stage_internal.h"

static void assert_time(int64_t ns, int64_t seconds, long rest_ns)
{
    const struct timespec time = stage_time(ns);
    assert_int_equal(time.tv_sec, seconds);
    assert_int_equal(time.tv_nsec, rest_ns);
}

static void times_before_1970_have_a_rest_too(void **state)
{
    (void)state;
    assert_time(0, 0, 0);
    assert_time(1, 0, 1);
    assert_time(-1, -1, 999999999);
    assert_time(-1000000000, -1, 0);
    assert_time(-1000000001, -2, 999999999);
    assert_time(INT64_MAX, 9223372036, 854775807);
    assert_time(INT64_MIN, -9223372037, 145224192);
    assert_time(INT64_MIN + 1, -9223372037, 145224193);
}

static void assert_last(const char *path, const char *last, bool is_content)
{
    char found[STAGE_PATH_MAX];
    stage_last(found, path);
    assert_string_equal(found, last);
    assert_int_equal(stage_is_content(found), is_content);
}

static void the_last_name_may_be_none(void **state)
{
    (void)state;
    assert_last("/", "", true);
    assert_last("..", "..", true);
    assert_last("a/..//", "..", true);
    assert_last("a/.", ".", true);
    assert_last("a/b/", "b", false);
    assert_last(".a", ".a", false);
    assert_last("...", "...", false);
}

static void other_bits_of_a_directory_stay(void **state)
{
    (void)state;
    assert_int_equal(stage_dir_mode(02775, 0755), 02755);
    assert_int_equal(stage_dir_mode(01777, 04700), 01700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_before_1970_have_a_rest_too),
        cmocka_unit_test(the_last_name_may_be_none),
        cmocka_unit_test(other_bits_of_a_directory_stay),
    };
    return WIO_RUN(tests);
}
