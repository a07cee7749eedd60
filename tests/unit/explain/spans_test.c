/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "explain/accounts/spans.h"

static void what_was_added_is_covered_once(void **state)
{
    struct wio_spans spans = {0};

    (void)state;
    wio_spans_add(&spans, 0, 100);
    wio_spans_add(&spans, 50, 150);
    wio_spans_add(&spans, 200, 300);
    assert_int_equal(wio_spans_covered(&spans, 0, 400), 250);
    assert_int_equal(wio_spans_covered(&spans, 140, 210), 20);
    wio_spans_add(&spans, 150, 200);
    assert_int_equal(wio_spans_covered(&spans, 0, 400), 300);
}

static void what_is_forgotten_is_not_said_to_be_covered(void **state)
{
    struct wio_spans spans = {0};
    uint64_t sum = 0;

    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        wio_spans_add(&spans, 1000 * i, 1000 * i + 10 + i);
        sum += 10 + i;
        assert_true(wio_spans_covered(&spans, 0, UINT64_MAX) <= sum);
    }
    assert_int_equal(wio_spans_covered(&spans, 99000, 99109), 109);
    assert_int_equal(wio_spans_covered(&spans, 0, 10), 0);
}

static void what_was_removed_is_not_covered(void **state)
{
    struct wio_spans spans = {0};

    (void)state;
    wio_spans_add(&spans, 0, 100);
    wio_spans_add(&spans, 200, 300);
    wio_spans_remove(&spans, 90, 210);
    assert_int_equal(wio_spans_covered(&spans, 0, 400), 180);
    wio_spans_remove(&spans, 10, 20); /* the longer side stays */
    assert_int_equal(wio_spans_covered(&spans, 0, 100), 70);
    wio_spans_remove(&spans, 0, UINT64_MAX);
    assert_int_equal(wio_spans_covered(&spans, 0, 400), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_covered_once),
        cmocka_unit_test(what_was_removed_is_not_covered),
        cmocka_unit_test(what_is_forgotten_is_not_said_to_be_covered),
    };
    return WIO_RUN(tests);
}
