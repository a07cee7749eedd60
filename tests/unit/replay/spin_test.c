/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that may spin instead of sleeping: not more than processors, none beside threads that
 * want them. */
#include "replay/wait/spin.h"

#include "support/unit.h"

#include "base/clock.h"

#define CPUS 2u

static struct rp_board *board;

static int make(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(rp_board_create(1, 1, 1, 0, &board, &err), &err);
    board->has_waits = true;
    board->processors = UINT32_MAX; /* whatever else runs: there is room */
    return 0;
}

static int drop(void **state)
{
    (void)state;
    rp_board_destroy(board);
    return 0;
}

/* As if time had passed. */
static bool try_later(void)
{
    atomic_store(&board->crowd->asked_ns, 0);
    bool may_look = rp_look_begin(board, CPUS);
    if (may_look) {
        rp_look_end(board);
    }
    return may_look;
}

static void no_more_look_than_there_are_processors(void **state)
{
    (void)state;
    atomic_store(&board->crowd->threads, 5);
    assert_true(rp_look_begin(board, CPUS));
    assert_true(rp_look_begin(board, CPUS));
    assert_false(rp_look_begin(board, CPUS));
    assert_true(rp_look_on(board, CPUS));
    rp_look_end(board);
    assert_true(rp_look_begin(board, CPUS));
    rp_look_end(board);
    rp_look_end(board);
    assert_int_equal(atomic_load(&board->crowd->looking), 0);
}

/* We run, and that is more than none. */
static void no_thread_looks_while_others_want_the_processors(void **state)
{
    (void)state;
    board->processors = 0;
    assert_true(try_later()); /* one that came for a moment */
    assert_false(try_later());
    assert_true(atomic_load(&board->crowd->pause_end_ns) > 0);
    atomic_store(&board->crowd->pause_end_ns, UINT64_MAX);
    assert_false(try_later());
    assert_int_equal(atomic_load(&board->crowd->asked_ns), 0); /* nor is it asked before that */
    atomic_store(&board->crowd->pause_end_ns, 0);
    uint64_t before_ns = wio_clock_mono_ns();
    assert_false(try_later());
    assert_true(atomic_load(&board->crowd->pause_end_ns) >= before_ns + 20000000); /* longer */
}

static void lookers_stop_then(void **state)
{
    (void)state;
    board->processors = 0;
    assert_true(rp_look_begin(board, CPUS));
    atomic_store(&board->crowd->asked_ns, 0);
    assert_false(rp_look_on(board, CPUS));
    rp_look_end(board);
}

static void a_performer_is_no_other(void **state)
{
    (void)state;
    board->processors = 0;
    atomic_store(&board->crowd->threads, 1000000);
    for (unsigned i = 0; i < 5; i++) {
        assert_true(try_later());
    }
    atomic_store(&board->crowd->asleep, 600000);
    atomic_store(&board->crowd->sleeping, 400000);
    (void)try_later();
    assert_false(try_later());
}

static void others_that_have_gone_are_forgotten(void **state)
{
    (void)state;
    board->processors = 0;
    assert_true(try_later());
    board->processors = UINT32_MAX;
    assert_true(try_later());
    board->processors = 0;
    assert_true(try_later());
}

int main(void)
{
#define LOOK_TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)
    const struct CMUnitTest tests[] = {
        LOOK_TEST(no_more_look_than_there_are_processors),
        LOOK_TEST(no_thread_looks_while_others_want_the_processors),
        LOOK_TEST(lookers_stop_then),
        LOOK_TEST(a_performer_is_no_other),
        LOOK_TEST(others_that_have_gone_are_forgotten),
    };
    return WIO_RUN(tests);
}
