/* SPDX-License-Identifier: Apache-2.0 */
/* The last operation of a transaction, which takes the commit or the vote along. */
#include "coord_stage.h"

#include "admit/counts.h"

static enum wio_status finish(uint16_t target)
{
    struct wio_store_request request = {.op = WIO_STORE_WRITE, .file = 1};
    return wio_coord_finish(stage.txn, target, &request, 0, true, stage.now_ns);
}

static void the_last_operation_commits(void **state)
{
    (void)state;
    begin(WIO_STORE_FLAG_STABLE);
    assert_int_equal(issue(0), WIO_OK);
    assert_int_equal(finish(0), WIO_ERR_USAGE); /* one is under way */
    ok(0, expect(0, WIO_STORE_WRITE));
    assert_int_equal(finish(0), WIO_OK);
    assert_int_equal(finish(0), WIO_ERR_USAGE);
    const struct wio_store_request *last = expect(0, WIO_STORE_WRITE);
    assert_int_equal(last->flags, WIO_STORE_FLAG_COMMIT | WIO_STORE_FLAG_STABLE);
    ok(0, last);
    assert_int_equal(stage.parts, 2);
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
    expect_silence();
}

/* A target of before knows no FLAG_COMMIT: the commit is a message of its own. */
static void an_older_target_gets_a_commit(void **state)
{
    (void)state;
    begin(WIO_STORE_FLAG_STABLE);
    struct wio_store_request request = {.op = WIO_STORE_WRITE, .file = 1};
    assert_int_equal(wio_coord_finish(stage.txn, 0, &request, 0, false, stage.now_ns), WIO_OK);
    const struct wio_store_request *last = expect(0, WIO_STORE_WRITE);
    assert_int_equal(last->flags & WIO_STORE_FLAG_COMMIT, 0);
    ok(0, last);
    const struct wio_store_request *commit = expect(0, WIO_STORE_COMMIT);
    assert_int_equal(commit->flags & WIO_STORE_FLAG_STABLE, WIO_STORE_FLAG_STABLE);
    ok(0, commit);
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
}

/* It waits for a lock there: a wound ends it, and where it came too late it has committed. */
static void a_last_operation_can_be_wounded(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(finish(1), WIO_OK);
    const struct wio_store_request *last = expect(1, WIO_STORE_WRITE);
    assert_int_equal(last->flags, WIO_STORE_FLAG_COMMIT | WIO_STORE_FLAG_BEGIN);
    wound(1);
    answer(1, last, WIO_STORE_ABORTED, WIO_STORE_OUTCOME_UNKNOWN);
    ok(1, expect(1, WIO_STORE_ABORT));
    assert_int_equal(stage.runs, 2);
    assert_int_equal(finish(1), WIO_OK);
    last = expect(1, WIO_STORE_WRITE);
    wound(2);
    ok(1, last);
    ok(1, expect(1, WIO_STORE_ABORT));
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
    assert_int_equal(stage.runs, 2);
}

static void a_last_operation_that_is_lost_is_not_known(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(finish(1), WIO_OK);
    expect(1, WIO_STORE_WRITE);
    wio_coord_back(stage.coord, 1, true, stage.now_ns);
    ok(1, expect(1, WIO_STORE_ABORT));
    assert_ended(WIO_COORD_FAILED, WIO_STORE_NO_LEASE);
}

/* Its first copy may have been done: the refusal of the second, which the target has not looked up,
 * says nothing of it, and another attempt would do it twice. */
static void a_refused_copy_of_a_last_operation_is_not_known(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(issue(1), WIO_OK);
    ok(1, expect(1, WIO_STORE_WRITE));
    assert_int_equal(finish(1), WIO_OK);
    expect(1, WIO_STORE_WRITE);
    wio_coord_back(stage.coord, 1, false, stage.now_ns);
    answer(1, expect(1, WIO_STORE_WRITE), WIO_STORE_BUSY, WIO_STORE_OUTCOME_UNKNOWN);
    ok(1, expect(1, WIO_STORE_ABORT));
    assert_int_equal(stage.runs, 1);
    assert_ended(WIO_COORD_FAILED, WIO_STORE_NO_LEASE);
}

static void a_refused_copy_of_a_commit_is_not_known(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(issue(1), WIO_OK);
    ok(1, expect(1, WIO_STORE_WRITE));
    commit();
    expect(1, WIO_STORE_COMMIT);
    wio_coord_back(stage.coord, 1, false, stage.now_ns);
    answer(1, expect(1, WIO_STORE_COMMIT), WIO_STORE_BUSY, WIO_STORE_OUTCOME_UNKNOWN);
    expect_silence();
    assert_int_equal(stage.runs, 1);
    assert_ended(WIO_COORD_FAILED, WIO_STORE_NO_LEASE);
}

/* A busy reply of the target's logic, and not of its admission, comes from behind what it has
 * answered: nothing was done. */
static void a_copy_that_the_target_has_looked_up_is_begun_again(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(finish(1), WIO_OK);
    expect(1, WIO_STORE_WRITE);
    wio_coord_back(stage.coord, 1, false, stage.now_ns);
    const struct wio_store_request *again = expect(1, WIO_STORE_WRITE);
    const struct wio_store_reply busy = {.op = again->op,
                                         .result = WIO_STORE_BUSY,
                                         .number = again->number,
                                         .txn = again->txn,
                                         .has_told = true,
                                         .told = {.reason = WIO_ADMIT_REASON_NONE}};
    wio_coord_reply(stage.coord, 1, &busy, stage.now_ns);
    ok(1, expect(1, WIO_STORE_ABORT));
    wio_coord_tick(stage.coord, wio_coord_deadline_ns(stage.coord));
    assert_int_equal(stage.runs, 2);
    assert_int_equal(stage.ends, 0);
}

/* One that was sent once was not done; nor was one that the target has answered in between. */
static void a_refused_last_operation_is_begun_again(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(issue(1), WIO_OK);
    wio_coord_back(stage.coord, 1, false, stage.now_ns);
    expect(1, WIO_STORE_WRITE);
    ok(1, expect(1, WIO_STORE_WRITE));
    assert_int_equal(finish(1), WIO_OK);
    answer(1, expect(1, WIO_STORE_WRITE), WIO_STORE_BUSY, WIO_STORE_OUTCOME_UNKNOWN);
    ok(1, expect(1, WIO_STORE_ABORT));
    wio_coord_tick(stage.coord, wio_coord_deadline_ns(stage.coord));
    assert_int_equal(stage.runs, 2);
    assert_int_equal(stage.ends, 0);
}

/* R-LAST-2: operations at 0, the last one at 1 with the vote; the other vote meanwhile. */
static void finish_at_another(const struct wio_store_request *votes[2])
{
    begin(WIO_STORE_FLAG_STABLE);
    assert_int_equal(issue(0), WIO_OK);
    ok(0, expect(0, WIO_STORE_WRITE));
    assert_int_equal(finish(1), WIO_OK);
    votes[1] = expect(1, WIO_STORE_WRITE);
    votes[0] = expect(0, WIO_STORE_PREPARE);
    assert_int_equal(votes[1]->flags, WIO_STORE_FLAG_STABLE | WIO_STORE_FLAG_PREPARE |
                                          WIO_STORE_FLAG_BEGIN | WIO_STORE_FLAG_REJECT);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(votes[i]->participant_count, 2);
        assert_int_equal(votes[i]->participants[0], 0);
        assert_int_equal(votes[i]->participants[1], 1);
    }
}

static void the_last_operation_votes(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    finish_at_another(votes);
    wound(1); /* too late */
    answer(1, votes[1], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    assert_int_equal(stage.parts, 2);
    assert_int_equal(stage.ends, 0);
    answer(0, votes[0], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    assert_ended(WIO_COORD_COMMITTED, WIO_STORE_OK);
    ok(0, expect(0, WIO_STORE_COMMIT));
    ok(1, expect(1, WIO_STORE_COMMIT));
    ok(0, expect(0, WIO_STORE_FORGET));
    ok(1, expect(1, WIO_STORE_FORGET));
    assert_int_equal(wio_coord_stat(stage.coord).active, 0);
}

/* Its locks were not free: the next attempt may wait for them, so no vote is asked for before. */
static void a_last_operation_that_is_refused_may_wait_next_time(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    finish_at_another(votes);
    answer(0, votes[0], WIO_STORE_OK, WIO_STORE_OUTCOME_PREPARED);
    answer(1, votes[1], WIO_STORE_REFUSED, WIO_STORE_OUTCOME_UNKNOWN);
    ok(0, expect(0, WIO_STORE_ABORT));
    ok(1, expect(1, WIO_STORE_ABORT));
    wio_coord_tick(stage.coord, wio_coord_deadline_ns(stage.coord));
    assert_int_equal(stage.runs, 2);
    assert_int_equal(issue(0), WIO_OK);
    ok(0, expect(0, WIO_STORE_WRITE));
    assert_int_equal(finish(1), WIO_OK);
    const struct wio_store_request *last = expect(1, WIO_STORE_WRITE);
    assert_int_equal(last->flags, WIO_STORE_FLAG_BEGIN);
    expect_silence();
    ok(1, last);
    expect(0, WIO_STORE_PREPARE);
    expect(1, WIO_STORE_PREPARE);
}

static void a_last_operation_that_cannot_be_fails(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    finish_at_another(votes);
    answer(1, votes[1], WIO_STORE_NO_SPACE, WIO_STORE_OUTCOME_UNKNOWN);
    ok(0, expect(0, WIO_STORE_ABORT));
    ok(1, expect(1, WIO_STORE_ABORT));
    assert_ended(WIO_COORD_FAILED, WIO_STORE_NO_SPACE);
}

/* It was not performed, maybe: whether it has voted is asked at once. */
static void a_last_operation_that_is_not_taken_is_asked_for(void **state)
{
    (void)state;
    const struct wio_store_request *votes[2];
    finish_at_another(votes);
    answer(1, votes[1], WIO_STORE_BUSY, WIO_STORE_OUTCOME_UNKNOWN);
    const struct wio_store_request *try = expect(1, WIO_STORE_ABORT);
    assert_true(try->flags & WIO_STORE_FLAG_TRY);
    answer(1, try, WIO_STORE_OK, WIO_STORE_OUTCOME_ABORTED);
    expect(0, WIO_STORE_ABORT);
    expect(1, WIO_STORE_ABORT);
    assert_int_equal(stage.ends, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_operation_commits),
        TEST(an_older_target_gets_a_commit),
        TEST(a_last_operation_can_be_wounded),
        TEST(a_last_operation_that_is_lost_is_not_known),
        TEST(a_refused_copy_of_a_last_operation_is_not_known),
        TEST(a_refused_copy_of_a_commit_is_not_known),
        TEST(a_copy_that_the_target_has_looked_up_is_begun_again),
        TEST(a_refused_last_operation_is_begun_again),
        TEST(the_last_operation_votes),
        TEST(a_last_operation_that_is_refused_may_wait_next_time),
        TEST(a_last_operation_that_cannot_be_fails),
        TEST(a_last_operation_that_is_not_taken_is_asked_for),
    };
    return WIO_RUN(tests);
}
