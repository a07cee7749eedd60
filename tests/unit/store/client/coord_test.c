/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions at the coordinator: attempts, commits, votes, what is lost. */
#include "coord_stage.h"

static void a_single_operation_is_one_message(void **state)
{
    (void)state;
    begin(WIO_STORE_FLAG_SINGLE);
    assert_int_equal(issue(2), WIO_OK);
    assert_int_equal(issue(2), WIO_ERR_USAGE);
    const struct wio_store_request *request = expect(2, WIO_STORE_WRITE);
    assert_true(request->flags & WIO_STORE_FLAG_SINGLE);
    assert_int_equal(request->txn.birth_ns, 100);
    ok(2, request);
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
    assert_int_equal(stage.parts, 1);
    expect_silence();
    assert_int_equal(wio_coord_stat(stage.coord).active, 0);
}

static void the_first_at_each_target_begins(void **state)
{
    (void)state;
    begin(0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(issue((uint16_t)(i % 2)), WIO_OK);
    }
    assert_true(expect(0, WIO_STORE_WRITE)->flags & WIO_STORE_FLAG_BEGIN);
    assert_true(expect(1, WIO_STORE_WRITE)->flags & WIO_STORE_FLAG_BEGIN);
    assert_false(expect(0, WIO_STORE_WRITE)->flags & WIO_STORE_FLAG_BEGIN);
    assert_false(expect(1, WIO_STORE_WRITE)->flags & WIO_STORE_FLAG_BEGIN);
    assert_int_equal(wio_coord_commit(stage.txn, 0), WIO_ERR_USAGE);
}

static void volatile_commits_have_no_vote(void **state)
{
    (void)state;
    two_operations(0);
    commit();
    const struct wio_store_request *first = expect(0, WIO_STORE_COMMIT);
    ok(1, expect(1, WIO_STORE_COMMIT));
    assert_int_equal(stage.ends, 0);
    ok(0, first);
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
    expect_silence();
}

static void a_refused_attempt_is_begun_again_with_its_age(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(issue(0), WIO_OK);
    assert_int_equal(issue(1), WIO_OK);
    ok(0, expect(0, WIO_STORE_WRITE));
    answer(1, expect(1, WIO_STORE_WRITE), WIO_STORE_REFUSED, WIO_STORE_OUTCOME_UNKNOWN);
    assert_int_equal(issue(0), WIO_ERR_USAGE);
    ok(0, expect(0, WIO_STORE_ABORT));
    ok(1, expect(1, WIO_STORE_ABORT));
    assert_int_equal(stage.runs, 1);
    uint64_t due = wio_coord_deadline_ns(stage.coord);
    assert_true(due >= 600 && due <= 1100);
    wio_coord_tick(stage.coord, due);
    assert_int_equal(stage.runs, 2);
    assert_int_equal(issue(0), WIO_OK);
    const struct wio_store_request *again = expect(0, WIO_STORE_WRITE);
    assert_int_equal(again->txn.attempt, 2);
    assert_int_equal(again->txn.birth_ns, 100);
    assert_int_equal(again->txn.number, 1);
    assert_true(again->flags & WIO_STORE_FLAG_BEGIN);
}

static void a_wound_ends_its_attempt_only(void **state)
{
    (void)state;
    two_operations(0);
    wound(2);
    assert_int_equal(wio_coord_stat(stage.coord).late, 1);
    wound(1);
    ok(0, expect(0, WIO_STORE_ABORT));
    ok(1, expect(1, WIO_STORE_ABORT));
    assert_int_equal(stage.runs, 2); /* without a pause: it queues behind the older one */
    wound(1);
    assert_int_equal(wio_coord_stat(stage.coord).late, 2);
    assert_int_equal(issue(0), WIO_OK);
    ok(0, expect(0, WIO_STORE_WRITE));
    commit();
    wound(2);
    assert_int_equal(wio_coord_stat(stage.coord).late, 3);
    ok(0, expect(0, WIO_STORE_COMMIT));
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
}

static void a_wound_may_find_a_single_operation_done(void **state)
{
    (void)state;
    begin(WIO_STORE_FLAG_SINGLE);
    assert_int_equal(issue(0), WIO_OK);
    const struct wio_store_request *request = expect(0, WIO_STORE_WRITE);
    wound(1);
    ok(0, request);
    ok(0, expect(0, WIO_STORE_ABORT));
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
    assert_int_equal(stage.runs, 1);
}

/* The ABORT overtook it where requests wait for admission: the operation's answer counts. */
static void a_wound_waits_for_what_may_have_been_done(void **state)
{
    (void)state;
    begin(WIO_STORE_FLAG_SINGLE);
    assert_int_equal(issue(0), WIO_OK);
    const struct wio_store_request *request = expect(0, WIO_STORE_WRITE);
    wound(1);
    ok(0, expect(0, WIO_STORE_ABORT));
    assert_int_equal(stage.runs, 1);
    answer(0, request, WIO_STORE_ABORTED, WIO_STORE_OUTCOME_UNKNOWN);
    assert_int_equal(stage.runs, 2);
    assert_int_equal(issue(0), WIO_OK);
    request = expect(0, WIO_STORE_WRITE);
    wound(2);
    ok(0, expect(0, WIO_STORE_ABORT));
    ok(0, request);
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
    assert_int_equal(stage.parts, 1); /* it may have read */
    assert_int_equal(stage.runs, 2);
}

static void a_wound_and_a_lost_lease_leave_it_unknown(void **state)
{
    (void)state;
    begin(WIO_STORE_FLAG_SINGLE);
    assert_int_equal(issue(0), WIO_OK);
    expect(0, WIO_STORE_WRITE);
    wound(1);
    const struct wio_store_request *abort = expect(0, WIO_STORE_ABORT);
    wio_coord_back(stage.coord, 0, true, stage.now_ns);
    expect(0, WIO_STORE_ABORT);
    ok(0, abort);
    assert_ended(WIO_COORD_FAILED, WIO_STORE_NO_LEASE);
    assert_int_equal(stage.runs, 1);
}

/* PREPARE was sent to 0 and 1, and not answered. */
static void prepare(const struct wio_store_request *votes[2])
{
    two_operations(WIO_STORE_FLAG_STABLE);
    commit();
    votes[0] = expect(0, WIO_STORE_PREPARE);
    votes[1] = expect(1, WIO_STORE_PREPARE);
    assert_int_equal(votes[1]->participant_count, 2);
    assert_int_equal(votes[1]->participants[0], 0);
    assert_int_equal(votes[1]->participants[1], 1);
}

static void all_votes_are_the_commit(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    prepare(votes);
    answer(0, votes[0], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    wound(1); /* too late */
    assert_int_equal(stage.ends, 0);
    answer(1, votes[1], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
    ok(0, expect(0, WIO_STORE_COMMIT));
    expect(1, WIO_STORE_COMMIT);
    expect_silence(); /* nothing is forgotten before both know */
    ok(1, &stage.sent[stage.checked - 1].request);
    ok(0, expect(0, WIO_STORE_FORGET));
    ok(1, expect(1, WIO_STORE_FORGET));
    assert_int_equal(wio_coord_stat(stage.coord).active, 0);
    assert_int_equal(stage.ends, 1);
}

static void a_commit_that_is_not_heard_is_not_forgotten(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    prepare(votes);
    answer(0, votes[0], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    answer(1, votes[1], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    ok(0, expect(0, WIO_STORE_COMMIT));
    answer(1, expect(1, WIO_STORE_COMMIT), WIO_STORE_IO, WIO_STORE_OUTCOME_UNKNOWN);
    expect_silence();
    assert_int_equal(wio_coord_stat(stage.coord).active, 0);
}

static void one_vote_of_no_aborts(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    prepare(votes);
    answer(0, votes[0], WIO_STORE_NO, WIO_STORE_OUTCOME_UNKNOWN);
    ok(0, expect(0, WIO_STORE_ABORT));
    answer(1, votes[1], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    ok(1, expect(1, WIO_STORE_ABORT));
    wio_coord_tick(stage.coord, wio_coord_deadline_ns(stage.coord));
    assert_int_equal(stage.runs, 2);
    assert_int_equal(stage.ends, 0);
}

static void a_late_vote_is_asked_for(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    prepare(votes);
    answer(0, votes[0], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    wio_coord_tick(stage.coord, 5099);
    expect_silence();
    wio_coord_tick(stage.coord, 5100);
    const struct wio_store_request *try = expect(1, WIO_STORE_ABORT);
    assert_true(try->flags & WIO_STORE_FLAG_TRY);
    answer(1, try, WIO_STORE_IO, WIO_STORE_OUTCOME_UNKNOWN); /* not known: asked again */
    assert_int_equal(stage.ends, 0);
    wio_coord_tick(stage.coord, 10100);
    answer(1, expect(1, WIO_STORE_ABORT), WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
}

/* A target that is cut off for long gets one request, not one for each pause: they take slots. */
static void a_late_vote_is_asked_for_by_one_request_at_a_time(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    prepare(votes);
    answer(0, votes[0], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    wio_coord_tick(stage.coord, 5100);
    const struct wio_store_request *try = expect(1, WIO_STORE_ABORT);
    for (uint64_t i = 2; i < 200; i++) {
        wio_coord_tick(stage.coord, 100 + i * 5000);
    }
    expect_silence();
    answer(1, try, WIO_STORE_BUSY, WIO_STORE_OUTCOME_UNKNOWN);
    wio_coord_tick(stage.coord, 100 + UINT64_C(200) * 5000);
    answer(1, expect(1, WIO_STORE_ABORT), WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
}

static void a_tombstone_is_a_no(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    prepare(votes);
    answer(0, votes[0], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    wio_coord_tick(stage.coord, 5100);
    answer(1, expect(1, WIO_STORE_ABORT), WIO_STORE_OK, WIO_STORE_OUTCOME_ABORTED);
    ok(0, expect(0, WIO_STORE_ABORT));
    ok(1, expect(1, WIO_STORE_ABORT));
    assert_int_equal(stage.ends, 0);
}

static void what_others_decided_is_so(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    prepare(votes);
    answer(1, votes[1], WIO_STORE_ABORTED, WIO_STORE_OUTCOME_COMMITTED);
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
}

static void what_was_under_way_is_sent_again(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(issue(0), WIO_OK);
    assert_int_equal(issue(0), WIO_OK);
    uint64_t first = expect(0, WIO_STORE_WRITE)->number;
    uint64_t second = expect(0, WIO_STORE_WRITE)->number;
    wio_coord_back(stage.coord, 0, false, stage.now_ns);
    assert_int_equal(expect(0, WIO_STORE_WRITE)->number, first);
    const struct wio_store_request *last = expect(0, WIO_STORE_WRITE);
    assert_int_equal(last->number, second);
    ok(0, last);
    ok(0, last); /* twice answered: once heard */
    assert_int_equal(stage.parts, 1);
    /* what was answered was not begun by the first one, if that comes first now */
    wio_coord_back(stage.coord, 0, false, stage.now_ns);
    assert_false(expect(0, WIO_STORE_WRITE)->flags & WIO_STORE_FLAG_BEGIN);
    expect_silence();
}

static void a_lost_commit_is_not_known(void **state)
{
    (void)state;
    begin(WIO_STORE_FLAG_STABLE);
    assert_int_equal(issue(0), WIO_OK);
    ok(0, expect(0, WIO_STORE_WRITE));
    commit();
    expect(0, WIO_STORE_COMMIT);
    wio_coord_back(stage.coord, 0, true, stage.now_ns);
    assert_ended(WIO_COORD_FAILED, WIO_STORE_NO_LEASE);
    expect_silence();
}

static void a_lost_operation_is_begun_again(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(issue(0), WIO_OK);
    expect(0, WIO_STORE_WRITE);
    wio_coord_back(stage.coord, 0, true, stage.now_ns);
    const struct wio_store_request *end = expect(0, WIO_STORE_ABORT);
    answer(0, end, WIO_STORE_NO_LEASE, WIO_STORE_OUTCOME_UNKNOWN);
    wio_coord_tick(stage.coord, wio_coord_deadline_ns(stage.coord));
    assert_int_equal(stage.runs, 2);
}

static void the_end_of_a_transaction_finds_room(void **state)
{
    (void)state;
    uint32_t issued = 0;
    begin(0);
    while (issue(0) == WIO_OK) {
        issued++;
    }
    assert_int_equal(issue(0), WIO_ERR_BUSY);
    assert_int_equal(issued, WIO_COORD_WINDOW - 16);
    assert_int_equal(issue(1), WIO_OK);
    for (uint32_t i = 0; i < issued; i++) {
        expect(0, WIO_STORE_WRITE);
    }
    expect(1, WIO_STORE_WRITE);
    wound(1);
    expect(0, WIO_STORE_ABORT);
    expect(1, WIO_STORE_ABORT);
}

static void what_cannot_go_well_fails_once(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(issue(0), WIO_OK);
    answer(0, expect(0, WIO_STORE_WRITE), WIO_STORE_NO_SPACE, WIO_STORE_OUTCOME_UNKNOWN);
    assert_int_equal(stage.ends, 0); /* not before it is undone */
    ok(0, expect(0, WIO_STORE_ABORT));
    assert_ended(WIO_COORD_FAILED, WIO_STORE_NO_SPACE);
    assert_int_equal(stage.runs, 1);
}

static void it_can_be_given_up_until_it_is_decided(void **state)
{
    (void)state;
    two_operations(0);
    wio_coord_give_up(stage.txn, stage.now_ns);
    ok(0, expect(0, WIO_STORE_ABORT));
    ok(1, expect(1, WIO_STORE_ABORT));
    assert_ended(WIO_COORD_FAILED, WIO_STORE_ABORTED);
    two_operations(0);
    commit();
    wio_coord_give_up(stage.txn, stage.now_ns);
    ok(0, expect(0, WIO_STORE_COMMIT));
    ok(1, expect(1, WIO_STORE_COMMIT));
    assert_int_equal(stage.end, WIO_COORD_COMMITTED);
}

static void half_a_volatile_commit_is_told(void **state)
{
    (void)state;
    two_operations(0);
    commit();
    ok(0, expect(0, WIO_STORE_COMMIT));
    answer(1, expect(1, WIO_STORE_COMMIT), WIO_STORE_ABORTED, WIO_STORE_OUTCOME_ABORTED);
    assert_ended(WIO_COORD_FAILED, WIO_STORE_ABORTED);
    assert_int_equal(wio_coord_stat(stage.coord).torn, 1);
}

static void bounds_are_kept(void **state)
{
    (void)state;
    struct wio_coord_txn *txn = NULL;
    for (int i = 0; i < 4; i++) {
        begin(0);
    }
    assert_int_equal(wio_coord_begin(stage.coord, NULL, 0, 1, &txn), WIO_ERR_BUSY);
    assert_int_equal(issue(3), WIO_ERR_USAGE);
    commit(); /* without an operation: nothing to do */
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
    assert_int_equal(wio_coord_begin(stage.coord, NULL, 0, 1, &txn), WIO_OK);
}

static void memory_that_ends_leaves_nothing(void **state)
{
    (void)state;
    enum wio_status status = WIO_ERR_NOMEM;
    for (unsigned n = 0; status != WIO_OK; n++) {
        struct wio_stingy stingy = {.left = n};
        struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        struct wio_coord_txn *txn = NULL;
        status = create(&alloc);
        if (status == WIO_OK) {
            status = wio_coord_begin(stage.coord, NULL, 0, 1, &txn);
        }
        wio_coord_destroy(stage.coord);
        assert_int_equal(stingy.out, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_single_operation_is_one_message),
        TEST(the_first_at_each_target_begins),
        TEST(volatile_commits_have_no_vote),
        TEST(a_refused_attempt_is_begun_again_with_its_age),
        TEST(a_wound_ends_its_attempt_only),
        TEST(a_wound_may_find_a_single_operation_done),
        TEST(a_wound_waits_for_what_may_have_been_done),
        TEST(a_wound_and_a_lost_lease_leave_it_unknown),
        TEST(all_votes_are_the_commit),
        TEST(a_commit_that_is_not_heard_is_not_forgotten),
        TEST(one_vote_of_no_aborts),
        TEST(a_late_vote_is_asked_for),
        TEST(a_late_vote_is_asked_for_by_one_request_at_a_time),
        TEST(a_tombstone_is_a_no),
        TEST(what_others_decided_is_so),
        TEST(what_was_under_way_is_sent_again),
        TEST(a_lost_commit_is_not_known),
        TEST(a_lost_operation_is_begun_again),
        TEST(the_end_of_a_transaction_finds_room),
        TEST(what_cannot_go_well_fails_once),
        TEST(it_can_be_given_up_until_it_is_decided),
        TEST(half_a_volatile_commit_is_told),
        TEST(bounds_are_kept),
        cmocka_unit_test(memory_that_ends_leaves_nothing),
    };
    return WIO_RUN(tests);
}
