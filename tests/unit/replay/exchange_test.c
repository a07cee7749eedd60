/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank does with the news of the others: knots that are untied, mail that is lost. */
#include "replay/launcher/exchange.h"

#include "support/unit.h"

#include <pthread.h>
#include <string.h>

#include <whyio/trace.h>

#include "base/clock.h"
#include "replay/initial/plan.h"
#include "replay/wait/sync_table.h"
#include "support/script_open.h"

/* Thread 1 waits for a lock that thread 0 has, at 1.5 us of the trace. */
#define LOCKS                                                                                      \
    "process 10 rank=0\nprocess 20 rank=1\nstream 0 10\nstream 0 11\nstream 1 20\n"                \
    "pthread_mutex_lock stream=0 t=1000 a0=0x7000\n"                                               \
    "pthread_mutex_unlock stream=0 t=2000 a0=0x7000\n"                                             \
    "pthread_mutex_lock stream=1 t=1500 dur=600 a0=0x7000\n"                                       \
    "close stream=2 t=3000 fd=3\n"                                                                 \
    "edge 0:0 1:0 class=mutex evidence=thread object=1\n"

static struct wio_trace *trace;
static struct rp_plan *plan;
static struct rp_board *board;
static struct rp_gate gate;
static struct rp_run run;
static struct rp_exchange exchange;

/* ---- a link to one other rank, which says what a test wants -------------------------------------
 */

static const uint32_t machines[] = {0, 1};
static struct wio_replay_news told;
static struct wio_replay_news other;

static enum wio_status tell(void *self, const struct wio_replay_news *mine, struct wio_error *err)
{
    (void)self;
    (void)err;
    told = *mine;
    return WIO_OK;
}

static enum wio_status hear(void *self, struct wio_replay_news *all_out, bool *is_done_out,
                            struct wio_error *err)
{
    (void)self;
    (void)err;
    for (unsigned i = 0; i < 2; i++) {
        all_out->least[i] = told.least[i] < other.least[i] ? told.least[i] : other.least[i];
    }
    for (unsigned i = 0; i < 6; i++) {
        all_out->sums[i] = told.sums[i] + other.sums[i];
    }
    *is_done_out = true;
    return WIO_OK;
}

static struct wio_replay_link link = {.ranks = 2,
                                      .machine_of = machines,
                                      .machines = 2,
                                      .silence_ns = 3600 * UINT64_C(1000000000),
                                      .tell = tell,
                                      .told = hear};

static int make(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    trace = script_open(LOCKS);
    assert_ok(rp_plan_create(trace, true, &plan, &err), &err);
    assert_ok(rp_board_create(2, 2, wio_trace_stream_count(trace), 0, &board, &err), &err);
    assert_ok(rp_gate_init(&gate, &plan->waits, board, NULL, &err), &err);
    run =
        (struct rp_run){.trace = trace, .plan = plan, .board = board, .gate = &gate, .link = &link};
    exchange = (struct rp_exchange){.run = &run};
    exchange.told_ns = exchange.looked_ns = exchange.stuck_since_ns = wio_clock_mono_ns();
    other =
        (struct wio_replay_news){.least = {UINT64_MAX, UINT64_MAX}, .sums = {[RP_SUM_STILL] = 1}};
    return 0;
}

static int drop(void **state)
{
    (void)state;
    rp_gate_fini(&gate);
    rp_board_destroy(board);
    rp_plan_destroy(plan);
    wio_trace_close(trace);
    return 0;
}

/* Bring news together once. */
static void turn(void)
{
    exchange.told_ns = 0;
    assert_true(rp_exchange_turn(&exchange, false));
    assert_true(exchange.is_telling);
    assert_true(rp_exchange_turn(&exchange, false));
    assert_false(exchange.is_telling);
}

static void pass_time(uint64_t ns)
{
    exchange.stuck_since_ns -= ns;
}

/* ---- mail ---- */

static void lost_mail_ends_the_replay(void **state)
{
    (void)state;
    other.sums[RP_SUM_SENT] = 3;
    other.sums[RP_SUM_GOT] = 1;
    turn();
    pass_time(2 * RP_STUCK_NS); /* it may be on its way */
    turn();
    assert_false(rp_board_is_aborted(board));
    pass_time(link.silence_ns);
    turn();
    assert_true(rp_board_is_aborted(board));
    assert_non_null(strstr(exchange.error.message, "2 messages between its machines"));
}

static void mail_that_comes_late_is_no_fault(void **state)
{
    (void)state;
    other.sums[RP_SUM_SENT] = 3;
    turn();
    pass_time(link.silence_ns);
    other.sums[RP_SUM_GOT] = 3;
    turn();
    turn();
    assert_false(rp_board_is_aborted(board));
}

/* ---- knots ---- */

static void *lock_one(void *arg)
{
    uint64_t waited;
    return rp_gate_lock(&gate, 0, 1, false, &waited) ? arg : NULL;
}

/* Stream 1 waits for the lock that stream 0 has, and no stream goes on. */
static pthread_t wait_for_lock(void)
{
    pthread_t thread;
    uint64_t waited;
    assert_true(rp_gate_lock(&gate, 0, 0, false, &waited));
    atomic_store(&board->crowd->threads, 1);
    atomic_store(&board->progress[0].begin_ns, 2000);
    atomic_store(&board->progress[1].begin_ns, 1500);
    assert_int_equal(pthread_create(&thread, NULL, lock_one, board), 0);
    while (atomic_load(&gate.streams[1].act) == 0) {
        wio_clock_sleep_ns(1000000);
    }
    turn();
    assert_int_equal(told.least[RP_LEAST_FIRST], 1500);
    pass_time(2 * RP_KNOT_NS);
    return thread;
}

static void the_first_of_all_is_let_go(void **state)
{
    (void)state;
    void *result;
    other.least[RP_LEAST_FIRST] = 1501;
    pthread_t thread = wait_for_lock();
    assert_int_equal(atomic_load(&board->untied), 0);
    turn();
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, board);
    assert_int_equal(atomic_load(&board->untied), 1);
}

static void another_one_waits_on(void **state)
{
    (void)state;
    other.least[RP_LEAST_FIRST] = 1499;
    pthread_t thread = wait_for_lock();
    turn();
    turn();
    assert_int_equal(atomic_load(&gate.streams[1].pass), 0);
    rp_gate_unlock(&gate, 0, 0, false);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&board->untied), 0);
}

static void a_knot_that_nothing_unties_is_named(void **state)
{
    (void)state;
    other.least[RP_LEAST_FIRST] = 1499;
    pthread_t thread = wait_for_lock();
    pass_time(RP_STUCK_NS);
    turn();
    assert_true(rp_board_is_aborted(board));
    assert_non_null(strstr(exchange.error.message, "waits for a lock that"));
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
#define EXCHANGE_TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)
    const struct CMUnitTest tests[] = {
        EXCHANGE_TEST(lost_mail_ends_the_replay),
        EXCHANGE_TEST(mail_that_comes_late_is_no_fault),
        EXCHANGE_TEST(the_first_of_all_is_let_go),
        EXCHANGE_TEST(another_one_waits_on),
        EXCHANGE_TEST(a_knot_that_nothing_unties_is_named),
    };
    return WIO_RUN(tests);
}
