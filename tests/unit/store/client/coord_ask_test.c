/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller of a coordinator is told, and requests outside transactions. */
#include "coord_stage.h"

static void the_caller_hears_what_ended_an_attempt(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(issue(1), WIO_OK);
    answer(1, expect(1, WIO_STORE_WRITE), WIO_STORE_REFUSED, WIO_STORE_OUTCOME_UNKNOWN);
    assert_int_equal(stage.refusals, 1);
    assert_int_equal(stage.told_target, 1);
    ok(1, expect(1, WIO_STORE_ABORT));
    wio_coord_tick(stage.coord, wio_coord_deadline_ns(stage.coord));
    assert_int_equal(issue(0), WIO_OK);
    ok(0, expect(0, WIO_STORE_WRITE));
    struct wio_store_push push = {
        .op = WIO_STORE_WOUND, .txn = *wio_coord_name(stage.txn), .because = {.txn.client = 99}};
    wio_coord_push(stage.coord, 2, &push, stage.now_ns);
    assert_int_equal(stage.wounds, 1);
    assert_int_equal(stage.told_target, 2);
    assert_int_equal(stage.told_client, 99);
}

static struct wio_coord_ask ask_of(enum wio_store_op op)
{
    return (struct wio_coord_ask){.request = {.op = op}, .answered = on_answered, .owner = &stage};
}

static void asks_are_answered_once(void **state)
{
    (void)state;
    struct wio_coord_ask lock = ask_of(WIO_STORE_LOCK);
    assert_int_equal(wio_coord_ask(stage.coord, 3, &lock), WIO_ERR_USAGE);
    assert_int_equal(wio_coord_ask(stage.coord, 2, &lock), WIO_OK);
    const struct wio_store_request *sent = expect(2, WIO_STORE_LOCK);
    assert_int_equal(sent->txn.number, 0);
    wio_coord_back(stage.coord, 2, false, stage.now_ns); /* sent again with its number */
    assert_int_equal(expect(2, WIO_STORE_LOCK)->number, sent->number);
    answer(2, sent, WIO_STORE_REFUSED, WIO_STORE_OUTCOME_UNKNOWN);
    answer(2, sent, WIO_STORE_OK, WIO_STORE_OUTCOME_UNKNOWN);
    assert_int_equal(stage.answers, 1);
    assert_int_equal(stage.answered, WIO_STORE_REFUSED);
    assert_int_equal(stage.refusals, 0);
}

/* The target has forgotten the client: what changes something may have been done, the rest is asked
 * again. */
static void a_lost_ask_is_not_known(void **state)
{
    (void)state;
    struct wio_coord_ask change = ask_of(WIO_STORE_MKDIR);
    struct wio_coord_ask look = ask_of(WIO_STORE_STATFS);
    assert_int_equal(wio_coord_ask(stage.coord, 0, &change), WIO_OK);
    assert_int_equal(wio_coord_ask(stage.coord, 0, &look), WIO_OK);
    (void)expect(0, WIO_STORE_MKDIR);
    const struct wio_store_request *sent = expect(0, WIO_STORE_STATFS);
    answer(0, sent, WIO_STORE_NO_LEASE, WIO_STORE_OUTCOME_UNKNOWN);
    assert_int_equal(stage.answers, 0);
    wio_coord_back(stage.coord, 0, true, stage.now_ns);
    assert_int_equal(stage.answers, 1);
    assert_int_equal(stage.answered, WIO_STORE_NO_LEASE);
    ok(0, expect(0, WIO_STORE_STATFS));
    assert_int_equal(stage.answers, 2);
    assert_int_equal(stage.answered, WIO_STORE_OK);
    expect_silence();
}

static void asks_find_no_slot_when_all_are_taken(void **state)
{
    (void)state;
    static struct wio_coord_ask asks[WIO_COORD_WINDOW];
    uint32_t taken = 0;
    do {
        asks[taken] = ask_of(WIO_STORE_STATFS);
    } while (wio_coord_ask(stage.coord, 0, &asks[taken++]) == WIO_OK);
    assert_in_range(taken, 2, WIO_COORD_WINDOW - 1);
    ok(0, expect(0, WIO_STORE_STATFS));
    assert_int_equal(wio_coord_ask(stage.coord, 0, &asks[taken - 1]), WIO_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_caller_hears_what_ended_an_attempt),
        TEST(asks_are_answered_once),
        TEST(a_lost_ask_is_not_known),
        TEST(asks_find_no_slot_when_all_are_taken),
    };
    return WIO_RUN(tests);
}
