/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <errno.h>

#include "store/wire/results.h"

/* What a catalogue's call returns arrives at the client. */
static void errors_of_the_catalogue_arrive(void **state)
{
    (void)state;
    static const int errors[] = {ENOENT, ENOTDIR, ELOOP,     ENAMETOOLONG, EACCES, EPERM,  EEXIST,
                                 EISDIR, EINVAL,  ENOTEMPTY, EBUSY,        EIO,    ENOSPC, EFBIG,
                                 ESTALE, 0};
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        assert_int_equal(wio_store_result_errno(wio_store_result_of(errors[i])), errors[i]);
    }
    assert_int_equal(wio_store_result_of(ENOTTY), WIO_STORE_IO);
}

static void each_result_has_a_meaning(void **state)
{
    (void)state;
    for (int result = 0; result <= WIO_STORE_IN_USE + 1; result++) {
        assert_non_null(wio_store_result_text((enum wio_store_result)result));
        assert_int_equal(wio_store_result_errno((enum wio_store_result)result) == 0,
                         result == WIO_STORE_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_the_catalogue_arrive),
        cmocka_unit_test(each_result_has_a_meaning),
    };
    return WIO_RUN(tests);
}
