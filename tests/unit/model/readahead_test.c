/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of 128 KiB at most, 32 pages: sizes worked out by hand from docs/MODEL.md#kernel. */
#include "support/unit.h"

#include "model/kernel/readahead.h"

#define MOST 32

/* One page after the other: 4 pages, 8, 16, 32, 32 .. each begun at its marker. */
static void windows_double(void **state)
{
    (void)state;
    struct wio_readahead ahead = {0};
    assert_int_equal(wio_readahead_miss(&ahead, 0, 1, MOST), 4);
    assert_int_equal(wio_readahead_marker(&ahead), 1);
    static const uint64_t sizes[] = {8, 16, 32, 32, 32};
    uint64_t start = 4;
    for (unsigned i = 0; i < 5; i++) {
        wio_readahead_go_on(&ahead, 1, MOST);
        assert_int_equal(ahead.start, start);
        assert_int_equal(ahead.size, sizes[i]);
        assert_int_equal(wio_readahead_marker(&ahead), start);
        start += sizes[i];
    }
}

static void first_windows_depend_on_what_is_wanted(void **state)
{
    (void)state;
    static const struct {
        uint64_t wanted;
        uint64_t size;
    } cases[] = {{1, 4}, {2, 4}, {3, 8}, {4, 8}, {8, 16}, {9, 32}, {32, 32}};
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wio_readahead ahead = {0};
        assert_int_equal(wio_readahead_miss(&ahead, 0, cases[i].wanted, MOST), cases[i].size);
    }
}

/* A read of more than a window gets requests of up to 1280 KiB. */
static void large_reads_have_large_windows(void **state)
{
    (void)state;
    struct wio_readahead ahead = {0};
    assert_int_equal(wio_readahead_miss(&ahead, 5000, 100000, MOST), 320);
    assert_int_equal(wio_readahead_marker(&ahead), 5160);
    wio_readahead_go_on(&ahead, 100000 - 160, MOST);
    assert_int_equal(ahead.start, 5320);
    assert_int_equal(ahead.size, 320);
    wio_readahead_go_on(&ahead, 10, MOST); /* the end of it */
    assert_int_equal(ahead.size, MOST);
}

static void jumps_get_what_they_want(void **state)
{
    (void)state;
    struct wio_readahead ahead = {0};
    assert_int_equal(wio_readahead_miss(&ahead, 1000, 2, MOST), 2);
    assert_int_equal(wio_readahead_marker(&ahead), UINT64_MAX);
    ahead.next = 1002;
    assert_int_equal(wio_readahead_miss(&ahead, 2000, 3, MOST), 3);
    assert_int_equal(wio_readahead_miss(&ahead, 1002, 2, MOST), 4); /* goes on */
    assert_int_equal(wio_readahead_marker(&ahead), 1004);
}

static void without_windows_nothing_is_read_ahead(void **state)
{
    (void)state;
    struct wio_readahead ahead = {0};
    assert_int_equal(wio_readahead_miss(&ahead, 0, 7, 0), 7);
    assert_int_equal(wio_readahead_marker(&ahead), UINT64_MAX);
}

/* Where the next page is missing after all, the window goes on there, and larger. */
static void a_missing_next_page_goes_on(void **state)
{
    (void)state;
    struct wio_readahead ahead = {.start = 4, .size = 8, .async = 0, .next = 12};
    assert_true(wio_readahead_is_at(&ahead, 12));
    assert_true(wio_readahead_is_at(&ahead, 5));
    assert_false(wio_readahead_is_at(&ahead, 13));
    assert_int_equal(wio_readahead_miss(&ahead, 12, 1, MOST), 32); /* 16 more are too many */
    assert_int_equal(wio_readahead_marker(&ahead), 28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_double),
        cmocka_unit_test(first_windows_depend_on_what_is_wanted),
        cmocka_unit_test(large_reads_have_large_windows),
        cmocka_unit_test(jumps_get_what_they_want),
        cmocka_unit_test(without_windows_nothing_is_read_ahead),
        cmocka_unit_test(a_missing_next_page_goes_on),
    };
    return WIO_RUN(tests);
}
