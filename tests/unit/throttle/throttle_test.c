/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "throttle/rules/throttle_internal.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)

/* Before each I/O of the others a node that computes or naps is watched for twice as long as its
 * way took in the first run. */
static void the_last_may_wait_until_all_others_are_through(void **state)
{
    (void)state;
    assert_int_equal(wio_throttle_limit_ns(0, 0), 30 * S);
    assert_true(wio_throttle_limit_ns(60, 600 * MS) >= 60 * 1200 * MS);
}

static void no_hold_lasts_for_days_because_of_that(void **state)
{
    (void)state;
    uint64_t without_ns = 30 * S + 10000 * 50 * MS + 10 * 60 * S;
    assert_true(wio_throttle_limit_ns(10000, 60 * S) <= without_ns + 3600 * S);
    assert_true(wio_throttle_limit_ns(10, 100000 * S) <= 31 * S + 1000000 * S + 3600 * S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_may_wait_until_all_others_are_through),
        cmocka_unit_test(no_hold_lasts_for_days_because_of_that),
    };
    return WIO_RUN(tests);
}
