/* SPDX-License-Identifier: Apache-2.0 */
/* The rules one by one. All of them at random: property_test.c. */
#include "support/stingy.h"
#include "support/unit.h"

#include <string.h>

#include "lock/lock.h"

static struct wio_locks *make(enum wio_lock_policy policy, uint64_t timeout_ns)
{
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    struct wio_locks_config config = {policy, timeout_ns, 64, 64};
    struct wio_locks *locks = NULL;
    assert_int_equal(wio_locks_create(&alloc, &config, &locks), WIO_OK);
    return locks;
}

/* Client and birth are the same number: 1 is the oldest. */
static struct wio_lock_owner *begin(struct wio_locks *locks, uint64_t age)
{
    struct wio_txn txn = {.client = age, .number = 7, .birth_ns = age, .attempt = 3};
    struct wio_lock_owner *owner = NULL;
    assert_int_equal(wio_locks_begin(locks, &txn, (uint32_t)age * 100, NULL, &owner), WIO_OK);
    return owner;
}

static struct wio_lock_answer ask_at(struct wio_locks *locks, struct wio_lock_owner *owner,
                                     const struct wio_lock_request *request, uint64_t now_ns)
{
    struct wio_lock_answer answer;
    assert_int_equal(wio_locks_acquire(locks, owner, request, now_ns, &answer), WIO_OK);
    return answer;
}

static struct wio_lock_answer ask(struct wio_locks *locks, struct wio_lock_owner *owner,
                                  uint64_t from, uint64_t to, enum wio_lock_mode mode)
{
    struct wio_lock_request request = {
        .range = {1, 0, from, to}, .mode = mode, .tag = from * 1000 + to, .source = 9};
    return ask_at(locks, owner, &request, 0);
}

#define assert_outcome(answer, wanted) assert_int_equal((answer).outcome, wanted)

static void expect(struct wio_locks *locks, enum wio_lock_event_kind kind,
                   const struct wio_lock_owner *owner)
{
    struct wio_lock_event event;
    assert_true(wio_locks_next(locks, 0, &event));
    assert_int_equal(event.kind, kind);
    assert_ptr_equal(event.owner, owner);
}

static void expect_none(struct wio_locks *locks)
{
    struct wio_lock_event event;
    assert_false(wio_locks_next(locks, 0, &event));
}

static void modes_conflict_as_the_table_says(void **state)
{
    (void)state;
    static const bool is_free[WIO_LOCK_MODES][WIO_LOCK_MODES] = {
        {true, false, false}, {false, false, false}, {false, false, true}};
    for (unsigned held = 0; held < WIO_LOCK_MODES; held++) {
        for (unsigned asked = 0; asked < WIO_LOCK_MODES; asked++) {
            struct wio_locks *locks = make(WIO_LOCK_NO_WAIT, 0);
            ask(locks, begin(locks, 1), 0, 10, (enum wio_lock_mode)held);
            struct wio_lock_answer answer =
                ask(locks, begin(locks, 2), 9, 11, (enum wio_lock_mode)asked);
            assert_outcome(answer, is_free[held][asked] ? WIO_LOCK_GRANTED : WIO_LOCK_REFUSED);
            wio_locks_destroy(locks);
        }
    }
}

static void ranges_are_half_open_and_of_one_segment(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_NO_WAIT, 0);
    struct wio_lock_owner *other = begin(locks, 2);
    struct wio_lock_request elsewhere = {.range = {1, 1, 10, 20}, .mode = WIO_LOCK_EXCLUSIVE};
    ask(locks, begin(locks, 1), 10, 20, WIO_LOCK_EXCLUSIVE);
    assert_outcome(ask(locks, other, 0, 10, WIO_LOCK_EXCLUSIVE), WIO_LOCK_GRANTED);
    assert_outcome(ask(locks, other, 20, UINT64_MAX, WIO_LOCK_EXCLUSIVE), WIO_LOCK_GRANTED);
    assert_outcome(ask_at(locks, other, &elsewhere, 0), WIO_LOCK_GRANTED);
    assert_outcome(ask(locks, other, 19, 20, WIO_LOCK_SHARED), WIO_LOCK_REFUSED);
    wio_locks_destroy(locks);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_NO_WAIT, 0);
    struct wio_lock_request request = {.range = {1, 0, 5, 5}};
    struct wio_lock_answer answer;
    struct wio_lock_owner *owner = begin(locks, 1);
    assert_int_equal(wio_locks_acquire(locks, owner, &request, 0, &answer), WIO_ERR_USAGE);
    request.range.to = 6;
    request.mode = WIO_LOCK_MODES;
    assert_int_equal(wio_locks_acquire(locks, owner, &request, 0, &answer), WIO_ERR_USAGE);
    wio_locks_destroy(locks);
    static const struct wio_locks_config wrong[] = {{WIO_LOCK_POLICIES, 1, 1, 1},
                                                    {WIO_LOCK_TIMEOUT, 0, 1, 1},
                                                    {WIO_LOCK_NO_WAIT, 0, 0, 1},
                                                    {WIO_LOCK_NO_WAIT, 0, 1, 0}};
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(wio_locks_create(&alloc, &wrong[i], &locks), WIO_ERR_USAGE);
    }
}

static void the_blocker_is_told_whole(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_WOUND_WAIT, 0);
    ask(locks, begin(locks, 1), 10, 20, WIO_LOCK_EXCLUSIVE);
    struct wio_lock_answer answer = ask(locks, begin(locks, 2), 15, 16, WIO_LOCK_SHARED);
    assert_outcome(answer, WIO_LOCK_WAITING);
    assert_int_equal(answer.blockers.count, 1);
    const struct wio_lock_blocker *blocker = &answer.blockers.list[0];
    assert_int_equal(blocker->txn.client, 1);
    assert_int_equal(blocker->txn.number, 7);
    assert_int_equal(blocker->txn.attempt, 3);
    assert_int_equal(blocker->job, 100);
    assert_int_equal(blocker->source, 9);
    assert_int_equal(blocker->range.file, 1);
    assert_int_equal(blocker->range.from, 10);
    assert_int_equal(blocker->range.to, 20);
    assert_int_equal(blocker->mode, WIO_LOCK_EXCLUSIVE);
    assert_int_equal(blocker->role, WIO_LOCK_ROLE_HOLDER);
    wio_locks_destroy(locks);
}

static void eight_blockers_are_listed_and_all_counted(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_WOUND_WAIT, 0);
    for (uint64_t age = 20; age > 8; age--) {
        ask(locks, begin(locks, age), 0, 10, WIO_LOCK_SHARED);
    }
    ask(locks, begin(locks, 5), 0, 10, WIO_LOCK_EXCLUSIVE);
    struct wio_lock_answer answer = ask(locks, begin(locks, 30), 0, 10, WIO_LOCK_EXCLUSIVE);
    assert_int_equal(answer.blockers.count, 13);
    assert_int_equal(answer.blockers.listed, WIO_LOCK_BLOCKERS);
    for (uint64_t i = 0; i < WIO_LOCK_BLOCKERS; i++) {
        assert_int_equal(answer.blockers.list[i].txn.client, 9 + i);
    }
    wio_locks_destroy(locks);
}

static void the_oldest_waiting_request_is_next(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_TIMEOUT, 1000);
    struct wio_lock_owner *holder = begin(locks, 9);
    struct wio_lock_owner *young = begin(locks, 5);
    struct wio_lock_owner *old = begin(locks, 4);
    ask(locks, holder, 0, 10, WIO_LOCK_EXCLUSIVE);
    ask(locks, young, 0, 10, WIO_LOCK_EXCLUSIVE);
    ask(locks, old, 0, 10, WIO_LOCK_EXCLUSIVE);
    wio_locks_release(locks, holder);
    expect(locks, WIO_LOCK_EVENT_GRANTED, old);
    expect_none(locks);
    wio_locks_release(locks, old);
    expect(locks, WIO_LOCK_EVENT_GRANTED, young);
    wio_locks_destroy(locks);
}

static void a_stream_of_readers_does_not_pass_an_older_writer(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_TIMEOUT, 1000);
    struct wio_lock_owner *reader = begin(locks, 1);
    struct wio_lock_owner *writer = begin(locks, 2);
    ask(locks, reader, 0, 10, WIO_LOCK_SHARED);
    ask(locks, writer, 0, 10, WIO_LOCK_EXCLUSIVE);
    struct wio_lock_answer answer = ask(locks, begin(locks, 3), 0, 10, WIO_LOCK_SHARED);
    assert_outcome(answer, WIO_LOCK_WAITING);
    assert_int_equal(answer.blockers.count, 1);
    assert_int_equal(answer.blockers.list[0].role, WIO_LOCK_ROLE_QUEUED);
    wio_locks_release(locks, reader);
    expect(locks, WIO_LOCK_EVENT_GRANTED, writer);
    expect_none(locks);
    wio_locks_destroy(locks);
}

/* The older one waits for the reader's lock: were the upgrade queued behind it, both would wait. */
static void an_upgrade_passes_what_waits_for_it(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_TIMEOUT, 1000);
    struct wio_lock_owner *old = begin(locks, 1);
    struct wio_lock_owner *reader = begin(locks, 2);
    ask(locks, reader, 0, 10, WIO_LOCK_SHARED);
    assert_outcome(ask(locks, old, 0, 10, WIO_LOCK_EXCLUSIVE), WIO_LOCK_WAITING);
    assert_outcome(ask(locks, reader, 0, 10, WIO_LOCK_EXCLUSIVE), WIO_LOCK_GRANTED);
    wio_locks_release(locks, reader);
    expect(locks, WIO_LOCK_EVENT_GRANTED, old);
    wio_locks_destroy(locks);
}

static void two_upgrades_wound_the_younger(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_WOUND_WAIT, 0);
    struct wio_lock_owner *old = begin(locks, 1);
    struct wio_lock_owner *young = begin(locks, 2);
    ask(locks, old, 0, 10, WIO_LOCK_SHARED);
    ask(locks, young, 0, 10, WIO_LOCK_SHARED);
    assert_outcome(ask(locks, young, 0, 10, WIO_LOCK_EXCLUSIVE), WIO_LOCK_WAITING);
    expect_none(locks);
    assert_outcome(ask(locks, old, 0, 10, WIO_LOCK_EXCLUSIVE), WIO_LOCK_WAITING);
    expect(locks, WIO_LOCK_EVENT_WOUND, young);
    wio_locks_release(locks, young);
    expect(locks, WIO_LOCK_EVENT_GRANTED, old);
    wio_locks_destroy(locks);
}

static void a_transaction_is_wounded_once_an_attempt(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_WOUND_WAIT, 0);
    struct wio_lock_owner *young = begin(locks, 9);
    struct wio_lock_event event;
    ask(locks, young, 0, 10, WIO_LOCK_EXCLUSIVE);
    ask(locks, begin(locks, 2), 0, 10, WIO_LOCK_EXCLUSIVE);
    ask(locks, begin(locks, 1), 0, 10, WIO_LOCK_EXCLUSIVE);
    assert_true(wio_locks_next(locks, 0, &event));
    assert_int_equal(event.kind, WIO_LOCK_EVENT_WOUND);
    assert_int_equal(event.txn.attempt, 3);
    assert_int_equal(event.blockers.list[0].txn.client, 2);
    expect_none(locks);
    /* the next attempt holds nothing, and is wounded anew where it stands in the way again */
    wio_locks_release(locks, young);
    young = begin(locks, 9);
    ask(locks, young, 50, 60, WIO_LOCK_EXCLUSIVE);
    ask(locks, begin(locks, 3), 50, 60, WIO_LOCK_EXCLUSIVE);
    expect(locks, WIO_LOCK_EVENT_WOUND, young);
    wio_locks_destroy(locks);
}

static void what_is_prepared_is_not_wounded(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_WOUND_WAIT, 0);
    struct wio_lock_owner *young = begin(locks, 9);
    struct wio_lock_owner *old = begin(locks, 1);
    ask(locks, young, 0, 10, WIO_LOCK_EXCLUSIVE);
    wio_locks_set_prepared(young);
    struct wio_lock_answer answer = ask(locks, old, 0, 10, WIO_LOCK_EXCLUSIVE);
    assert_int_equal(answer.blockers.list[0].role, WIO_LOCK_ROLE_PREPARED);
    expect_none(locks);
    assert_int_equal(wio_locks_release_client(locks, 9), 0);
    wio_locks_explain(locks, old, &answer.blockers.list[0].range, WIO_LOCK_SHARED,
                      &answer.blockers);
    assert_int_equal(answer.blockers.list[0].role, WIO_LOCK_ROLE_DEAD);
    wio_locks_release(locks, young);
    expect(locks, WIO_LOCK_EVENT_GRANTED, old);
    wio_locks_destroy(locks);
}

/* First come, first served would leave the middle one behind the oldest: wait-die does not. */
static void wait_die_looks_again_at_each_grant(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_WAIT_DIE, 0);
    struct wio_lock_owner *young = begin(locks, 9);
    struct wio_lock_owner *middle = begin(locks, 5);
    struct wio_lock_owner *old = begin(locks, 1);
    ask(locks, young, 0, 10, WIO_LOCK_EXCLUSIVE);
    assert_outcome(ask(locks, middle, 0, 10, WIO_LOCK_EXCLUSIVE), WIO_LOCK_WAITING);
    assert_outcome(ask(locks, old, 0, 10, WIO_LOCK_EXCLUSIVE), WIO_LOCK_WAITING);
    expect_none(locks);
    wio_locks_release(locks, young);
    struct wio_lock_event event;
    assert_true(wio_locks_next(locks, 0, &event));
    assert_int_equal(event.kind, WIO_LOCK_EVENT_REFUSED);
    assert_int_equal(event.reason, WIO_LOCK_REASON_DIED);
    assert_ptr_equal(event.owner, middle);
    assert_int_equal(event.tag, 10);
    assert_int_equal(event.blockers.count, 1);
    assert_int_equal(event.blockers.list[0].txn.client, 1);
    expect(locks, WIO_LOCK_EVENT_GRANTED, old);
    assert_outcome(ask(locks, middle, 0, 10, WIO_LOCK_SHARED), WIO_LOCK_REFUSED);
    wio_locks_destroy(locks);
}

static void time_is_out_in_order_whatever_the_clock_says(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_TIMEOUT, 100);
    struct wio_lock_owner *second = begin(locks, 2);
    struct wio_lock_owner *third = begin(locks, 3);
    struct wio_lock_request request = {.range = {1, 0, 0, 10}, .mode = WIO_LOCK_EXCLUSIVE};
    struct wio_lock_event event;
    ask(locks, begin(locks, 1), 0, 10, WIO_LOCK_EXCLUSIVE);
    assert_int_equal(wio_locks_deadline_ns(locks), UINT64_MAX);
    ask_at(locks, second, &request, 1000);
    ask_at(locks, third, &request, 500);
    assert_int_equal(wio_locks_deadline_ns(locks), 1100);
    assert_false(wio_locks_next(locks, 1099, &event));
    assert_true(wio_locks_next(locks, 1100, &event));
    assert_int_equal(event.reason, WIO_LOCK_REASON_TIMEOUT);
    assert_ptr_equal(event.owner, second);
    assert_int_equal(event.blockers.count, 1);
    assert_true(wio_locks_next(locks, 1100, &event));
    assert_ptr_equal(event.owner, third);
    assert_false(wio_locks_next(locks, UINT64_MAX, &event));
    wio_locks_destroy(locks);
}

static void a_try_never_waits(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_WOUND_WAIT, 0);
    struct wio_lock_request request = {
        .range = {1, 0, 0, 10}, .mode = WIO_LOCK_EXCLUSIVE, .is_try = true};
    ask(locks, begin(locks, 9), 0, 10, WIO_LOCK_SHARED);
    struct wio_lock_answer answer = ask_at(locks, begin(locks, 1), &request, 0);
    assert_outcome(answer, WIO_LOCK_REFUSED);
    assert_int_equal(answer.reason, WIO_LOCK_REASON_CONFLICT);
    assert_int_equal(answer.blockers.count, 1);
    expect_none(locks);
    wio_locks_destroy(locks);
}

static void a_stream_of_one_source_is_one_lock(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_WOUND_WAIT, 0);
    struct wio_lock_owner *owner = begin(locks, 1);
    for (uint64_t at = 0; at < 1000; at += 10) {
        ask(locks, owner, at, at + 10, WIO_LOCK_SHARED);
    }
    assert_int_equal(wio_locks_count(locks).held, 1);
    ask(locks, owner, 20, 30, WIO_LOCK_EXCLUSIVE);
    ask(locks, owner, 25, 30, WIO_LOCK_SHARED);
    ask(locks, owner, 25, 30, WIO_LOCK_EXCLUSIVE);
    assert_int_equal(wio_locks_count(locks).held, 2);
    wio_locks_destroy(locks);
}

static void a_full_manager_says_so(void **state)
{
    (void)state;
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    struct wio_locks_config config = {WIO_LOCK_WOUND_WAIT, 0, 1, 2};
    struct wio_locks *locks = NULL;
    struct wio_lock_owner *owner;
    struct wio_lock_owner *other;
    assert_int_equal(wio_locks_create(&alloc, &config, &locks), WIO_OK);
    owner = begin(locks, 1);
    struct wio_txn txn = {2, 2, 2, 1};
    assert_int_equal(wio_locks_begin(locks, &txn, 0, NULL, &other), WIO_ERR_BUSY);
    ask(locks, owner, 0, 1, WIO_LOCK_SHARED);
    ask(locks, owner, 5, 6, WIO_LOCK_SHARED);
    struct wio_lock_answer answer = ask(locks, owner, 8, 9, WIO_LOCK_SHARED);
    assert_outcome(answer, WIO_LOCK_REFUSED);
    assert_int_equal(answer.reason, WIO_LOCK_REASON_LIMIT);
    assert_int_equal(answer.blockers.count, 0);
    wio_locks_release(locks, owner);
    assert_outcome(ask(locks, begin(locks, 1), 8, 9, WIO_LOCK_SHARED), WIO_LOCK_GRANTED);
    wio_locks_destroy(locks);
}

static void a_released_owner_has_no_events(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_WOUND_WAIT, 0);
    struct wio_lock_owner *young = begin(locks, 9);
    struct wio_lock_owner *old = begin(locks, 1);
    ask(locks, young, 0, 10, WIO_LOCK_EXCLUSIVE);
    ask(locks, old, 0, 10, WIO_LOCK_EXCLUSIVE);
    wio_locks_release(locks, young); /* its wound goes */
    wio_locks_release(locks, old);   /* and the grant */
    expect_none(locks);
    assert_int_equal(wio_locks_count(locks).files, 0);
    /* and the queues of events are whole */
    young = begin(locks, 9);
    old = begin(locks, 1);
    ask(locks, young, 0, 10, WIO_LOCK_EXCLUSIVE);
    ask(locks, old, 0, 10, WIO_LOCK_EXCLUSIVE);
    expect(locks, WIO_LOCK_EVENT_WOUND, young);
    wio_locks_release(locks, young);
    expect(locks, WIO_LOCK_EVENT_GRANTED, old);
    expect_none(locks);
    wio_locks_destroy(locks);
}

static void unlocking_cuts_a_lock_in_two(void **state)
{
    (void)state;
    struct wio_locks *locks = make(WIO_LOCK_TIMEOUT, 1000);
    struct wio_lock_owner *owner = begin(locks, 1);
    struct wio_lock_owner *other = begin(locks, 2);
    struct wio_lock_range middle = {1, 0, 10, 20};
    ask(locks, owner, 0, 30, WIO_LOCK_EXCLUSIVE);
    assert_outcome(ask(locks, other, 10, 20, WIO_LOCK_EXCLUSIVE), WIO_LOCK_WAITING);
    assert_int_equal(wio_locks_unlock(locks, owner, &middle), WIO_OK);
    expect(locks, WIO_LOCK_EVENT_GRANTED, other);
    assert_outcome(ask(locks, other, 9, 10, WIO_LOCK_SHARED), WIO_LOCK_WAITING);
    assert_outcome(ask(locks, other, 20, 21, WIO_LOCK_SHARED), WIO_LOCK_WAITING);
    assert_int_equal(wio_locks_count(locks).held, 3);
    wio_locks_destroy(locks);
}

/* Some work whose memory ends at any point: it fails as a whole, and nothing is left behind. */
static enum wio_status work(const struct wio_alloc *alloc)
{
    struct wio_locks_config config = {WIO_LOCK_WOUND_WAIT, 0, 8, 8};
    struct wio_locks *locks = NULL;
    struct wio_lock_owner *owner = NULL;
    struct wio_txn txn = {1, 1, 1, 1};
    struct wio_lock_answer answer;
    struct wio_lock_range middle = {1, 0, 3, 5};
    struct wio_lock_request request = {.range = {1, 0, 0, 10}, .mode = WIO_LOCK_EXCLUSIVE};
    enum wio_status status = wio_locks_create(alloc, &config, &locks);
    status = status != WIO_OK ? status : wio_locks_begin(locks, &txn, 0, NULL, &owner);
    status = status != WIO_OK ? status : wio_locks_acquire(locks, owner, &request, 0, &answer);
    struct wio_locks_count count = {1, 1, 0, 1};
    if (status == WIO_OK) {
        status = wio_locks_unlock(locks, owner, &middle);
        count = wio_locks_count(locks);
        assert_int_equal(count.held, status == WIO_OK ? 2 : 1);
    } else if (owner != NULL) {
        assert_int_equal(wio_locks_count(locks).held, 0);
        assert_int_equal(wio_locks_count(locks).files, 0);
    }
    wio_locks_destroy(locks);
    return status;
}

static void memory_that_ends_changes_nothing(void **state)
{
    (void)state;
    enum wio_status status = WIO_ERR_NOMEM;
    unsigned n;
    for (n = 0; status != WIO_OK; n++) {
        struct wio_stingy stingy = {.left = n};
        struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        status = work(&alloc);
        assert_int_equal(stingy.out, 0);
    }
    assert_int_equal(n, 6);
}

static void numbers_have_names(void **state)
{
    (void)state;
    assert_string_equal(wio_lock_policy_name(WIO_LOCK_WAIT_DIE), "wait-die");
    assert_string_equal(wio_lock_mode_name(WIO_LOCK_INCREMENT), "increment");
    assert_string_equal(wio_lock_role_name(WIO_LOCK_ROLE_DEAD), "dead lease");
    assert_string_equal(wio_lock_reason_name(WIO_LOCK_REASON_LIMIT), "limit");
    assert_string_equal(wio_lock_reason_name(WIO_LOCK_REASONS), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_conflict_as_the_table_says),
        cmocka_unit_test(ranges_are_half_open_and_of_one_segment),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(the_blocker_is_told_whole),
        cmocka_unit_test(eight_blockers_are_listed_and_all_counted),
        cmocka_unit_test(the_oldest_waiting_request_is_next),
        cmocka_unit_test(a_stream_of_readers_does_not_pass_an_older_writer),
        cmocka_unit_test(an_upgrade_passes_what_waits_for_it),
        cmocka_unit_test(two_upgrades_wound_the_younger),
        cmocka_unit_test(a_transaction_is_wounded_once_an_attempt),
        cmocka_unit_test(what_is_prepared_is_not_wounded),
        cmocka_unit_test(wait_die_looks_again_at_each_grant),
        cmocka_unit_test(time_is_out_in_order_whatever_the_clock_says),
        cmocka_unit_test(a_try_never_waits),
        cmocka_unit_test(a_stream_of_one_source_is_one_lock),
        cmocka_unit_test(a_full_manager_says_so),
        cmocka_unit_test(a_released_owner_has_no_events),
        cmocka_unit_test(unlocking_cuts_a_lock_in_two),
        cmocka_unit_test(memory_that_ends_changes_nothing),
        cmocka_unit_test(numbers_have_names),
    };
    return WIO_RUN(tests);
}
