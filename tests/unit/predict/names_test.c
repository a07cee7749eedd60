/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "predict/names.h"

static void a_removed_file_is_another_one(void **state)
{
    (void)state;
    struct wio_names names = {0};
    assert_int_equal(wio_names_file(&names, 7), 7);
    assert_false(wio_names_is_there(&names, 7));
    assert_int_equal(wio_names_use(&names, 7), WIO_OK);
    assert_true(wio_names_is_there(&names, 7));
    assert_int_equal(wio_names_file(&names, 7), 7);
    assert_int_equal(wio_names_remove(&names, 7), WIO_OK);
    assert_false(wio_names_is_there(&names, 7));
    uint64_t second = wio_names_file(&names, 7);
    assert_true(second != 7);
    assert_int_equal(wio_names_use(&names, 7), WIO_OK);
    assert_int_equal(wio_names_file(&names, 7), second);
    assert_int_equal(wio_names_remove(&names, 7), WIO_OK);
    assert_true(wio_names_file(&names, 7) != second);
    wio_names_fini(&names);
}

static void a_renamed_file_stays_the_same(void **state)
{
    (void)state;
    struct wio_names names = {0};
    assert_int_equal(wio_names_rename(&names, 1, 2), WIO_OK);
    assert_int_equal(wio_names_file(&names, 2), 1);
    assert_true(wio_names_is_there(&names, 2));
    assert_false(wio_names_is_there(&names, 1));
    assert_true(wio_names_file(&names, 1) > 2);
    assert_int_equal(wio_names_rename(&names, 2, 2), WIO_OK);
    assert_int_equal(wio_names_file(&names, 2), 1);
    assert_int_equal(wio_names_rename(&names, 2, 1), WIO_OK); /* and back */
    assert_int_equal(wio_names_file(&names, 1), 1);
    wio_names_fini(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_removed_file_is_another_one),
        cmocka_unit_test(a_renamed_file_stays_the_same),
    };
    return WIO_RUN(tests);
}
