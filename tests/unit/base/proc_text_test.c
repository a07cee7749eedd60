/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "base/system/proc_text.h"

static bool start_of(const char *text, uint64_t *start)
{
    return wio_proc_stat_start(text, strlen(text), start);
}

static void start_is_field_22(void **state)
{
    (void)state;
    uint64_t start;
    assert_true(
        start_of("7 (sh) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 2 3\n", &start));
    assert_int_equal(start, 987654);
    /* a name may look like the fields behind it */
    assert_true(
        start_of("7 (a) S 1 2 3) R 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 55 2 3\n", &start));
    assert_int_equal(start, 55);
}

static void no_start_is_said(void **state)
{
    (void)state;
    uint64_t start;
    static const char *const texts[] = {
        "",
        "7 sh S 1",
        "7 (sh) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0",
        "7 (sh) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 ",
        "7 (sh) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 x",
        "7 (sh) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 99999999999999999999 1"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_false(start_of(texts[i], &start));
    }
}

static void other_fields_are_counted_too(void **state)
{
    (void)state;
    static const char text[] = "7 (a) S 1) S 42 7 -1 0";
    uint64_t value = 9;
    assert_true(wio_proc_stat_number(text, sizeof(text) - 1, WIO_PROC_STAT_PPID, &value));
    assert_int_equal(value, 42);
    assert_true(wio_proc_stat_number(text, sizeof(text) - 1, 5, &value));
    assert_int_equal(value, 7);
    assert_false(wio_proc_stat_number(text, sizeof(text) - 1, 3, &value)); /* a letter */
    assert_false(wio_proc_stat_number(text, sizeof(text) - 1, 6, &value)); /* negative */
}

static void status_has_lines(void **state)
{
    (void)state;
    static const char text[] = "Name:\tTgid:\t9\nTgid:\t42\nUid:\t1000\t1001\t1002\t1003\nGid:\t7";
    uint64_t value;
    assert_true(wio_proc_status_number(text, sizeof(text) - 1, "Tgid:", &value));
    assert_int_equal(value, 42);
    assert_true(wio_proc_status_number(text, sizeof(text) - 1, "Uid:", &value));
    assert_int_equal(value, 1000);
    assert_true(wio_proc_status_number(text, sizeof(text) - 1, "Gid:", &value));
    assert_int_equal(value, 7);
    assert_false(wio_proc_status_number(text, sizeof(text) - 1, "Pid:", &value));
    assert_false(wio_proc_status_number(text, sizeof(text) - 1, "Name:", &value));
    assert_false(wio_proc_status_number("Uid:", 4, "Uid:", &value));
    assert_false(wio_proc_status_number("", 0, "Uid:", &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_is_field_22),
        cmocka_unit_test(no_start_is_said),
        cmocka_unit_test(other_fields_are_counted_too),
        cmocka_unit_test(status_has_lines),
    };
    return WIO_RUN(tests);
}
