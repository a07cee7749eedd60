/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a moment: by looking where sleeping would take longer, by sleeping else. */
#include "replay/wait/pace.h"

#include "support/unit.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/clock.h"

#define CPUS 2u
#define TIMES 50

/* How often a thread among many gives its processor away, waiting so long again and again. */
static long sleeps_of(bool has_waits, uint64_t wait_ns)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct rp_board *board;
    struct rusage before;
    struct rusage after;
    assert_ok(rp_board_create(1, 1, 1, 0, &board, &err), &err);
    board->has_waits = has_waits;
    board->processors = CPUS;
    atomic_store(&board->crowd->threads, has_waits ? 1 : 10 * CPUS);
    assert_return_code(getrusage(RUSAGE_THREAD, &before), errno);
    for (unsigned i = 0; i < TIMES; i++) {
        uint64_t at_ns = wio_clock_mono_ns() + wait_ns;
        assert_true(rp_pace_wait(board, CPUS, at_ns) >= at_ns);
    }
    assert_return_code(getrusage(RUSAGE_THREAD, &after), errno);
    rp_board_destroy(board);
    return after.ru_nvcsw - before.ru_nvcsw;
}

static void computing_for_a_moment_is_no_sleep_however_many_do(void **state)
{
    (void)state;
    assert_in_range(sleeps_of(false, 20000), 0, TIMES / 5);
    assert_in_range(sleeps_of(true, 20000), 0, TIMES / 5);
}

/* Not all: a thread that loses its processor before it sleeps may be late already. */
static void longer_waits_sleep(void **state)
{
    (void)state;
    assert_true(sleeps_of(false, 300000) >= TIMES / 2);
    assert_true(sleeps_of(true, 300000) >= TIMES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computing_for_a_moment_is_no_sleep_however_many_do),
        cmocka_unit_test(longer_waits_sleep),
    };
    return WIO_RUN(tests);
}
