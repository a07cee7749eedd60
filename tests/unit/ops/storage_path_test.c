/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/storage_path.h"
#include "support/unit.h"

static void files_keep_data(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool is_storage;
        bool is_special;
    } cases[] = {
        {"/home/u/x", true, false},        {"/dev/shm/x", true, false},
        {"/devel/x", true, false},         {"/system/x", true, false},
        {"/dev/null", false, true},        {"/dev/pts/1", false, true},
        {"/sys/kernel", false, true},      {"/proc/self/maps", false, true},
        {"pipe:[4711]", false, false},     {"", false, false},
        {"relative/proc/x", false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(wio_path_is_storage(cases[i].path), cases[i].is_storage);
        assert_int_equal(wio_path_is_special(cases[i].path), cases[i].is_special);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_keep_data),
    };
    return WIO_RUN(tests);
}
