/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of several changes beside each other. */
#include "support/unit.h"

#include "predict/edits.h"

static void add(struct wio_edits *edits, uint64_t seq, uint64_t last)
{
    assert_int_equal(
        wio_edits_add(edits, 0,
                      &(struct wio_edit){.kind = WIO_EDIT_DROP, .seq = seq, .last = last}),
        WIO_OK);
}

/* One change leaves out an event in the midst of those that another one leaves out. */
static void what_is_left_out_twice_is_left_out(void **state)
{
    (void)state;
    struct wio_edits edits;
    assert_int_equal(wio_edits_init(&edits, 1), WIO_OK);
    add(&edits, 20, 20);
    add(&edits, 10, 100);
    add(&edits, 30, 40);
    add(&edits, 200, 210);
    wio_edits_sort(&edits);
    assert_false(wio_edits_has_dropped(&edits, 0, 9));
    for (uint64_t seq = 10; seq <= 100; seq++) {
        assert_true(wio_edits_has_dropped(&edits, 0, seq));
    }
    assert_false(wio_edits_has_dropped(&edits, 0, 101));
    assert_false(wio_edits_has_dropped(&edits, 0, 199));
    assert_true(wio_edits_has_dropped(&edits, 0, 205));
    wio_edits_fini(&edits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_out_twice_is_left_out),
    };
    return WIO_RUN(tests);
}
