/* SPDX-License-Identifier: Apache-2.0 */
/* The coordinator's messages, one by one; the targets are played by the test. */
#include "support/stingy.h"
#include "support/unit.h"

#include <string.h>

#include "store/client/coord.h"

#define SENT 256

struct sent {
    uint16_t target;
    struct wio_store_request request;
};

struct stage {
    struct wio_coord *coord;
    struct wio_coord_txn *txn; /* of the last run */
    uint64_t now_ns;
    uint32_t count;
    uint32_t checked;
    struct sent sent[SENT];
    uint32_t runs;
    uint32_t parts;
    uint32_t ends;
    enum wio_coord_end end;
    enum wio_store_result result;
    uint32_t refusals; /* what the caller was told of answers other than OK, and wounds */
    uint32_t wounds;
    uint16_t told_target;
    uint64_t told_client;
    uint32_t answers; /* of asks */
    enum wio_store_result answered;
};

static struct stage stage;

static void on_send(void *context, uint16_t target, const struct wio_store_request *request)
{
    (void)context;
    assert_true(stage.count < SENT);
    stage.sent[stage.count++] = (struct sent){target, *request};
}

static void on_run(void *context, struct wio_coord_txn *txn, void *user)
{
    (void)context;
    (void)user;
    stage.txn = txn;
    stage.runs++;
}

static void on_part(void *context, struct wio_coord_txn *txn, void *user, uint32_t tag,
                    const struct wio_store_reply *reply)
{
    (void)context;
    (void)txn;
    (void)user;
    (void)tag;
    stage.parts += reply->result == WIO_STORE_OK;
}

static void on_ended(void *context, struct wio_coord_txn *txn, void *user, enum wio_coord_end end,
                     enum wio_store_result result)
{
    (void)context;
    (void)txn;
    (void)user;
    stage.ends++;
    stage.end = end;
    stage.result = result;
}

static void on_refused(void *context, uint16_t target, void *user,
                       const struct wio_store_reply *reply)
{
    (void)context;
    (void)user;
    assert_int_not_equal(reply->result, WIO_STORE_OK);
    stage.refusals++;
    stage.told_target = target;
}

static void on_wounded(void *context, uint16_t target, void *user,
                       const struct wio_lock_blocker *because)
{
    (void)context;
    (void)user;
    stage.wounds++;
    stage.told_target = target;
    stage.told_client = because->txn.client;
}

static void on_answered(struct wio_coord_ask *ask, const struct wio_store_reply *reply)
{
    assert_ptr_equal(ask->owner, &stage);
    stage.answers++;
    stage.answered = (enum wio_store_result)reply->result;
}

static const struct wio_coord_ops coord_ops = {.send = on_send,
                                               .run = on_run,
                                               .part = on_part,
                                               .ended = on_ended,
                                               .refused = on_refused,
                                               .wounded = on_wounded};

static enum wio_status create(const struct wio_alloc *alloc)
{
    struct wio_coord_config config = {.client = 7,
                                      .targets = 3,
                                      .txns_max = 4,
                                      .pause_ns = 1000,
                                      .vote_ns = 5000,
                                      .ops = &coord_ops};
    memset(&stage, 0, sizeof(stage));
    stage.now_ns = 100;
    return wio_coord_create(alloc, &config, &stage.coord);
}

static int set_up(void **state)
{
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    (void)state;
    assert_int_equal(create(&alloc), WIO_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wio_coord_destroy(stage.coord);
    return 0;
}

static void begin(unsigned flags)
{
    struct wio_coord_txn *txn = NULL;
    assert_int_equal(wio_coord_begin(stage.coord, NULL, (uint16_t)flags, stage.now_ns, &txn),
                     WIO_OK);
}

static enum wio_status issue(uint16_t target)
{
    struct wio_store_request request = {.op = WIO_STORE_WRITE, .file = 1};
    return wio_coord_issue(stage.txn, target, &request, 0);
}

static void commit(void)
{
    assert_int_equal(wio_coord_commit(stage.txn, stage.now_ns), WIO_OK);
}

/* The next message that was sent. */
static const struct wio_store_request *expect(uint16_t target, enum wio_store_op op)
{
    assert_true(stage.checked < stage.count);
    const struct sent *sent = &stage.sent[stage.checked++];
    assert_int_equal(sent->target, target);
    assert_int_equal(sent->request.op, op);
    return &sent->request;
}

static void expect_silence(void)
{
    assert_int_equal(stage.checked, stage.count);
}

static void answer(uint16_t target, const struct wio_store_request *request,
                   enum wio_store_result result, enum wio_store_outcome outcome)
{
    struct wio_store_reply reply = {.op = request->op,
                                    .result = (uint16_t)result,
                                    .outcome = (uint16_t)outcome,
                                    .number = request->number,
                                    .txn = request->txn};
    wio_coord_reply(stage.coord, target, &reply, stage.now_ns);
}

static void ok(uint16_t target, const struct wio_store_request *request)
{
    answer(target, request, WIO_STORE_OK, WIO_STORE_OUTCOME_UNKNOWN);
}

/* An attempt with one operation, answered, at targets 0 and 1. */
static void two_operations(unsigned flags)
{
    begin(flags);
    assert_int_equal(issue(0), WIO_OK);
    assert_int_equal(issue(1), WIO_OK);
    ok(0, expect(0, WIO_STORE_WRITE));
    ok(1, expect(1, WIO_STORE_WRITE));
}

static void wound(uint32_t attempt)
{
    struct wio_store_push push = {.op = WIO_STORE_WOUND, .txn = *wio_coord_name(stage.txn)};
    push.txn.attempt = attempt;
    wio_coord_push(stage.coord, 0, &push, stage.now_ns);
}

static void assert_ended(enum wio_coord_end end, enum wio_store_result result)
{
    assert_int_equal(stage.ends, 1);
    assert_int_equal(stage.end, end);
    assert_int_equal(stage.result, result);
}

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

/* ---- what the caller is told, and requests outside transactions ---- */

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_single_operation_is_one_message),
        TEST(the_first_at_each_target_begins),
        TEST(volatile_commits_have_no_vote),
        TEST(a_refused_attempt_is_begun_again_with_its_age),
        TEST(a_wound_ends_its_attempt_only),
        TEST(a_wound_may_find_a_single_operation_done),
        TEST(the_last_operation_commits),
        TEST(an_older_target_gets_a_commit),
        TEST(a_last_operation_can_be_wounded),
        TEST(a_last_operation_that_is_lost_is_not_known),
        TEST(the_last_operation_votes),
        TEST(a_last_operation_that_is_refused_may_wait_next_time),
        TEST(a_last_operation_that_cannot_be_fails),
        TEST(a_last_operation_that_is_not_taken_is_asked_for),
        TEST(all_votes_are_the_commit),
        TEST(a_commit_that_is_not_heard_is_not_forgotten),
        TEST(one_vote_of_no_aborts),
        TEST(a_late_vote_is_asked_for),
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
        TEST(the_caller_hears_what_ended_an_attempt),
        TEST(asks_are_answered_once),
        TEST(a_lost_ask_is_not_known),
        TEST(asks_find_no_slot_when_all_are_taken),
        cmocka_unit_test(memory_that_ends_leaves_nothing),
    };
    return WIO_RUN(tests);
}
