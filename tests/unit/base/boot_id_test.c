/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/boot_id.h"

#include <string.h>

#include "support/unit.h"

static void it_is_a_uuid_and_stays(void **state)
{
    (void)state;
    char id[WIO_BOOT_ID_ROOM];
    char again[WIO_BOOT_ID_ROOM];
    wio_boot_id(id);
    wio_boot_id(again);
    assert_int_equal(strlen(id), 36);
    assert_int_equal(strspn(id, "0123456789abcdef-"), 36);
    assert_string_equal(id, again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_a_uuid_and_stays),
    };
    return WIO_RUN(tests);
}
