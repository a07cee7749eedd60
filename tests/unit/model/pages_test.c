/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdbool.h>
#include <string.h>

#include "model/kernel/pages.h"

#define PAGES 3000u

struct fixture {
    struct wio_pages pages;
    struct wio_chunk_pool pool;
    bool is_dirty[PAGES]; /* the same, plainly */
};

static void open_fixture(struct fixture *fixture)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    *fixture = (struct fixture){0};
    wio_chunk_pool_init(&fixture->pool, &heap);
}

static void close_fixture(struct fixture *fixture)
{
    wio_pages_clear(&fixture->pages, &fixture->pool);
    assert_int_equal(fixture->pages.count, 0);
    wio_chunk_pool_fini(&fixture->pool);
}

static uint64_t add(struct fixture *fixture, uint64_t first, uint64_t end)
{
    uint64_t added;
    assert_int_equal(wio_pages_add(&fixture->pages, &fixture->pool, first, end, &added), WIO_OK);
    return added;
}

static uint64_t set_plainly(struct fixture *fixture, uint64_t first, uint64_t end, bool value)
{
    uint64_t changed = 0;
    for (uint64_t i = first; i < end; i++) {
        changed += fixture->is_dirty[i] != value;
        fixture->is_dirty[i] = value;
    }
    return changed;
}

static void a_run_crosses_chunks(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t first;
    uint64_t count;
    open_fixture(&fixture);
    assert_int_equal(add(&fixture, 500, 1600), 1100);
    assert_int_equal(add(&fixture, 1500, 1601), 1);
    assert_true(wio_pages_take_run(&fixture.pages, &fixture.pool, 0, 5000, &first, &count));
    assert_int_equal(first, 500);
    assert_int_equal(count, 1101);
    assert_false(wio_pages_take_run(&fixture.pages, &fixture.pool, 0, 1, &first, &count));
    close_fixture(&fixture);
}

static void a_run_ends_where_it_is_told(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t first;
    uint64_t count;
    open_fixture(&fixture);
    (void)add(&fixture, 10, 20);
    (void)add(&fixture, 511, 513);
    assert_true(wio_pages_take_run(&fixture.pages, &fixture.pool, 12, 5, &first, &count));
    assert_int_equal(first, 12);
    assert_int_equal(count, 5);
    assert_true(wio_pages_take_run(&fixture.pages, &fixture.pool, 20, 5, &first, &count));
    assert_int_equal(first, 511);
    assert_int_equal(count, 2);
    assert_int_equal(fixture.pages.count, 5);
    close_fixture(&fixture);
}

static void take_as_told(struct fixture *fixture, uint64_t from, uint64_t most)
{
    uint64_t first;
    uint64_t count;
    uint64_t expected = from;
    bool found = wio_pages_take_run(&fixture->pages, &fixture->pool, from, most, &first, &count);
    while (expected < PAGES && !fixture->is_dirty[expected]) {
        expected++;
    }
    assert_int_equal(found, expected < PAGES);
    if (found) {
        assert_int_equal(first, expected);
        assert_in_range(count, 1, most);
        assert_int_equal(set_plainly(fixture, first, first + count, false), count);
        assert_true(count == most || first + count == PAGES || !fixture->is_dirty[first + count]);
    }
}

/* Random ranges agree with a plain array. */
static void agrees_with_an_array(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t seed = 42;
    uint64_t dirty = 0;
    open_fixture(&fixture);
    for (int i = 0; i < 20000; i++) {
        uint64_t random = wio_test_random(&seed);
        uint64_t first = random % PAGES;
        uint64_t end = first + (random >> 16) % (PAGES - first + 1);
        end = (random >> 40) % 2 == 0 ? end : first + (end - first) % 40;
        switch ((random >> 50) % 3) {
        case 0:
            assert_int_equal(add(&fixture, first, end), set_plainly(&fixture, first, end, true));
            break;
        case 1:
            assert_int_equal(wio_pages_remove(&fixture.pages, &fixture.pool, first, end),
                             set_plainly(&fixture, first, end, false));
            break;
        default:
            take_as_told(&fixture, first, end - first + 1);
            break;
        }
        dirty = 0;
        for (uint64_t k = 0; k < PAGES; k++) {
            dirty += fixture.is_dirty[k];
        }
        assert_int_equal(fixture.pages.count, dirty);
    }
    close_fixture(&fixture);
}

/* Thousands of scattered pages, more than a tree alone is used for: each is found, and they come
 * out in order. */
static void scattered_pages_come_out_in_order(void **state)
{
    (void)state;
    struct fixture fixture;
    const uint64_t places = 5003; /* a prime: i * 2000 % places visits all */
    uint64_t first = 0;
    uint64_t count;
    open_fixture(&fixture);
    for (uint64_t i = 0; i < places; i++) {
        uint64_t page = i * 2000 % places * 1000;
        assert_int_equal(add(&fixture, page, page + 1), 1);
        assert_int_equal(add(&fixture, page, page + 1), 0);
    }
    for (uint64_t i = 0; i < places; i++) {
        assert_true(wio_pages_take_run(&fixture.pages, &fixture.pool, first, 9, &first, &count));
        assert_int_equal(first, i * 1000);
        assert_int_equal(count, 1);
    }
    assert_int_equal(fixture.pages.count, 0);
    assert_int_equal(fixture.pages.chunk_count, 0);
    (void)add(&fixture, 0, PAGES);
    close_fixture(&fixture);
}

/* How far the set reaches from a page on, and where it begins again. */
static void runs_are_found(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t at = 0;
    open_fixture(&fixture);
    assert_false(wio_pages_find(&fixture.pages, &at));
    assert_int_equal(wio_pages_run(&fixture.pages, 0, 10), 0);
    (void)add(&fixture, 500, 1600);
    (void)add(&fixture, 1601, 1700);
    assert_int_equal(wio_pages_run(&fixture.pages, 499, 5000), 0);
    assert_int_equal(wio_pages_run(&fixture.pages, 500, 5000), 1100);
    assert_int_equal(wio_pages_run(&fixture.pages, 1599, 5000), 1);
    assert_int_equal(wio_pages_run(&fixture.pages, 700, 1100), 400);
    assert_int_equal(wio_pages_run(&fixture.pages, 1600, 5000), 0);
    at = 0;
    assert_true(wio_pages_find(&fixture.pages, &at));
    assert_int_equal(at, 500);
    at = 1600;
    assert_true(wio_pages_find(&fixture.pages, &at));
    assert_int_equal(at, 1601);
    at = 1700;
    assert_false(wio_pages_find(&fixture.pages, &at));
    close_fixture(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_crosses_chunks),
        cmocka_unit_test(runs_are_found),
        cmocka_unit_test(a_run_ends_where_it_is_told),
        cmocka_unit_test(scattered_pages_come_out_in_order),
        cmocka_unit_test(agrees_with_an_array),
    };
    return WIO_RUN(tests);
}
