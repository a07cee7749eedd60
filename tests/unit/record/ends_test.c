/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "record/ends.h"

static void pids_used_again_are_told_apart(void **state)
{
    (void)state;
    struct wio_ends ends = {0};
    assert_ok(wio_ends_add(&ends, 7, 100, 1000), NULL);
    assert_ok(wio_ends_add(&ends, 5, 200, 1500), NULL);
    assert_ok(wio_ends_add(&ends, 7, 300, 2000), NULL);
    int status = 0;
    assert_true(wio_ends_find(&ends, 7, 10, &status));
    assert_int_equal(status, 100);
    assert_true(wio_ends_find(&ends, 7, 1000, &status));
    assert_int_equal(status, 100);
    assert_true(wio_ends_find(&ends, 7, 1001, &status));
    assert_int_equal(status, 300);
    assert_false(wio_ends_find(&ends, 7, 2001, &status));
    assert_false(wio_ends_find(&ends, 6, 0, &status));
    assert_false(wio_ends_find(&ends, 8, 0, &status));
    wio_ends_fini(&ends);
}

static void nothing_is_found_in_nothing(void **state)
{
    (void)state;
    struct wio_ends ends = {0};
    int status = 0;
    assert_false(wio_ends_find(&ends, 1, 0, &status));
    wio_ends_fini(&ends);
}

/* Against the obvious search through a list. */
static void finds_what_a_plain_search_finds(void **state)
{
    (void)state;
    enum { COUNT = 500, PIDS = 40 };
    struct wio_ends ends = {0};
    struct wio_end plain[COUNT];
    uint64_t seed = 1;
    for (unsigned i = 0; i < COUNT; i++) {
        plain[i] = (struct wio_end){(int32_t)(wio_test_random(&seed) % PIDS), (int)i, 10 * i};
        assert_ok(wio_ends_add(&ends, plain[i].pid, plain[i].wait_status, plain[i].mono_ns), NULL);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        int32_t pid = (int32_t)(wio_test_random(&seed) % PIDS);
        uint64_t start = wio_test_random(&seed) % (10 * COUNT);
        unsigned at = 0;
        while (at < COUNT && (plain[at].pid != pid || plain[at].mono_ns < start)) {
            at++;
        }
        int status = -1;
        assert_int_equal(wio_ends_find(&ends, pid, start, &status), at < COUNT);
        assert_int_equal(status, at < COUNT ? (int)at : -1);
    }
    wio_ends_fini(&ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pids_used_again_are_told_apart),
        cmocka_unit_test(nothing_is_found_in_nothing),
        cmocka_unit_test(finds_what_a_plain_search_finds),
    };
    return WIO_RUN(tests);
}
