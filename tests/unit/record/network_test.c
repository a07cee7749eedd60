/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "record/network.h"

static void kernel_file_systems_are_local(void **state)
{
    (void)state;
    assert_false(wio_is_on_network("/proc"));
    assert_false(wio_is_on_network("/dev"));
}

static void what_is_not_there_is_not_on_a_network(void **state)
{
    (void)state;
    assert_false(wio_is_on_network("/no/such/path"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_file_systems_are_local),
        cmocka_unit_test(what_is_not_there_is_not_on_a_network),
    };
    return WIO_RUN(tests);
}
