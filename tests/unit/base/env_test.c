/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/env.h"

static void the_table_is_complete_and_unique(void **state)
{
    (void)state;
    const struct wio_env_var *table = wio_env_table();
    for (size_t i = 0; i < WIO_ENV_COUNT; i++) {
        assert_int_equal(strncmp(table[i].name, "WHYIO_", 6), 0);
        assert_true(strlen(table[i].fallback) > 0);
        assert_true(strlen(table[i].meaning) > 10);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(table[i].name, table[k].name);
        }
    }
}

static void values_come_from_the_environment(void **state)
{
    (void)state;
    assert_int_equal(setenv("WHYIO_JOB", "job-17", 1), 0);
    assert_string_equal(wio_env_get(WIO_ENV_JOB), "job-17");
    assert_int_equal(unsetenv("WHYIO_JOB"), 0);
    assert_null(wio_env_get(WIO_ENV_JOB));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_complete_and_unique),
        cmocka_unit_test(values_come_from_the_environment),
    };
    return WIO_RUN(tests);
}
