/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "base/bisect.h"

static void an_empty_range_has_no_index(void **state)
{
    (void)state;
    unsigned asked = 0;
    assert_int_equal(WIO_FIRST(i, 0, 0, (asked++, i == i)), 0);
    assert_int_equal(WIO_FIRST(i, 7, 7, (asked++, i == i)), 7);
    assert_int_equal(asked, 0);
}

/* Each boundary in each range of up to 40: found, with each index asked at most once. */
static void the_boundary_is_found(void **state)
{
    (void)state;
    for (size_t to = 0; to <= 40; to++) {
        for (size_t from = 0; from <= to; from++) {
            for (size_t boundary = from; boundary <= to; boundary++) {
                unsigned asked[40] = {0};
                size_t found = WIO_FIRST(i, from, to, (asked[i]++, i >= boundary));
                assert_int_equal(found, boundary);
                for (size_t i = 0; i < to; i++) {
                    assert_true(asked[i] <= 1);
                }
            }
        }
    }
}

static void equal_keys_give_the_first(void **state)
{
    (void)state;
    static const int keys[] = {1, 3, 3, 3, 9};
    assert_int_equal(WIO_FIRST(i, 0, 5, keys[i] >= 3), 1);
    assert_int_equal(WIO_FIRST(i, 0, 5, keys[i] > 3), 4);
    assert_int_equal(WIO_FIRST(i, 0, 5, keys[i] >= 10), 5);
}

/* log2 of the range and one more; indices above 2^32 and near the largest do not overflow. */
static void few_indices_are_asked(void **state)
{
    (void)state;
    const size_t boundary = SIZE_MAX - 5;
    unsigned asked = 0;
    assert_true(WIO_FIRST(i, 1, SIZE_MAX, (asked++, i >= boundary)) == boundary);
    assert_true(asked <= 65);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_range_has_no_index),
        cmocka_unit_test(the_boundary_is_found),
        cmocka_unit_test(equal_keys_give_the_first),
        cmocka_unit_test(few_indices_are_asked),
    };
    return WIO_RUN(tests);
}
