/* SPDX-License-Identifier: Apache-2.0 */
/* The log: what is acknowledged is there after a crash; votes, doubt, tombstones, outcomes. */
#include "support/unit.h"

#include <string.h>

#include "rig.h"

static struct rig rig;
static const uint16_t both[] = {0, 1};

static int set_up(void **state)
{
    (void)state;
    rig_init(&rig, 2);
    rig_start(&rig);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_fini(&rig);
    return 0;
}

static struct wio_store_request with(struct wio_store_request request, unsigned flags)
{
    request.flags |= (uint16_t)flags;
    return request;
}

static struct wio_store_request vote(uint64_t client, uint64_t txn, const char *text)
{
    struct wio_store_request request =
        with(rig_write(client, txn, 0, text), WIO_STORE_FLAG_PREPARE | WIO_STORE_FLAG_STABLE);
    request.participants = both;
    request.participant_count = 2;
    return request;
}

static void expect_file(uint16_t target, const char *text)
{
    uint64_t size = 0;
    const uint8_t *bytes = memory_backing_bytes(&rig.targets[target].memory, 1, 0, &size);
    assert_int_equal(size, strlen(text));
    if (size > 0) {
        assert_memory_equal(bytes, text, size);
    }
}

static struct wio_server_stat stat_of(uint16_t target)
{
    return wio_server_stat(rig.targets[target].server);
}

/* Both have voted for client 1's transaction 1. */
static void prepare_both(void)
{
    assert_null(rig_send(&rig, 0, vote(1, 1, "zero")));
    assert_null(rig_send(&rig, 1, vote(1, 1, "one")));
    rig_flush(&rig, 0);
    rig_flush(&rig, 1);
    assert_result(rig_last(&rig, 0, 1), WIO_STORE_OK);
    assert_result(rig_last(&rig, 1, 1), WIO_STORE_OK);
}

static void a_stable_write_is_answered_when_it_is_durable(void **state)
{
    (void)state;
    unsigned flags = WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_STABLE;
    assert_null(rig_send(&rig, 0, with(rig_write(1, 1, 0, "safe"), flags)));
    expect_file(0, ""); /* not before the log has it */
    rig_flush(&rig, 0);
    assert_result(rig_last(&rig, 0, 1), WIO_STORE_OK);
    expect_file(0, "safe");
    assert_int_equal(rig.targets[0].memory.unlogged, 0);
    assert_null(rig_send(&rig, 0, with(rig_write(1, 2, 0, "lost"), flags)));
    rig_crash(&rig, 0);
    expect_file(0, "safe");
}

static void a_last_write_makes_all_durable_at_once(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "first "));
    struct wio_store_request last = rig_write(1, 1, 6, "last");
    last.flags = WIO_STORE_FLAG_COMMIT | WIO_STORE_FLAG_STABLE;
    assert_null(rig_send(&rig, 0, last));
    expect_file(0, "");
    rig_flush(&rig, 0);
    assert_result(rig_last(&rig, 0, 1), WIO_STORE_OK);
    expect_file(0, "first last");
    assert_int_equal(rig.targets[0].memory.flushes, 1);
    rig_crash(&rig, 0); /* the answer was lost with the connection: asked again, it is known */
    expect_file(0, "first last");
    last.number = 0;
    assert_result(rig_send(&rig, 0, last), WIO_STORE_OK);
    expect_file(0, "first last");
}

static void commits_share_a_flush(void **state)
{
    (void)state;
    for (uint64_t client = 1; client < RIG_CLIENTS; client++) {
        rig_send(&rig, 0, rig_write(client, 1, client * 10, "x"));
        struct wio_store_request commit = rig_request(WIO_STORE_COMMIT, client, 1);
        assert_null(rig_send(&rig, 0, with(commit, WIO_STORE_FLAG_STABLE)));
    }
    rig_flush(&rig, 0);
    assert_int_equal(stat_of(0).commits, RIG_CLIENTS - 1);
    assert_int_equal(rig.targets[0].memory.flushes, 1);
}

static void a_log_that_fails_acknowledges_nothing(void **state)
{
    (void)state;
    unsigned flags = WIO_STORE_FLAG_SINGLE | WIO_STORE_FLAG_STABLE;
    assert_null(rig_send(&rig, 0, with(rig_write(1, 1, 0, "x"), flags)));
    wio_server_durable(rig.targets[0].server, 0, false, rig.now_ns);
    assert_result(rig_last(&rig, 0, 1), WIO_STORE_IO);
    expect_file(0, "");
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_PING, 2, 0)), WIO_STORE_IO);
}

static void two_votes_and_the_news(void **state)
{
    (void)state;
    prepare_both();
    expect_file(0, "");
    assert_int_equal(stat_of(0).prepared, 1);
    assert_null(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 1, 1))); /* durable first */
    expect_file(0, "zero");
    assert_int_equal(stat_of(0).txns, 0);
    assert_int_equal(rig.targets[0].memory.flushes, 1);
    assert_false(rig.targets[0].memory.wants_flush);
    rig_tick(&rig, WIO_SERVER_LEASE_NS / 4); /* nothing else came to flush it */
    assert_true(rig.targets[0].memory.wants_flush);
    rig_flush(&rig, 0);
    assert_result(rig_last(&rig, 0, 1), WIO_STORE_OK);
    assert_int_equal(rig_last(&rig, 0, 1)->outcome, WIO_STORE_OUTCOME_COMMITTED);
    assert_int_equal(stat_of(0).outcomes, 1);
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 1, 1)), WIO_STORE_OK);
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_FORGET, 1, 1)), WIO_STORE_OK);
    assert_int_equal(stat_of(0).outcomes, 0);
}

/* The answer lets the client forget: each waits for its own record, not for an earlier one. */
static void news_is_answered_when_it_is_durable(void **state)
{
    (void)state;
    struct wio_store_request second = vote(2, 1, "two");
    second.offset = 50;
    prepare_both();
    rig_send(&rig, 0, second);
    rig_flush(&rig, 0);
    assert_null(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 1, 1)));
    uint64_t first = rig.targets[0].memory.log_count;
    assert_null(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 2, 1)));
    wio_server_durable(rig.targets[0].server, first, true, rig.now_ns);
    assert_int_equal(rig_last(&rig, 0, 1)->op, WIO_STORE_COMMIT);
    assert_int_equal(rig_last(&rig, 0, 2)->op, WIO_STORE_WRITE);
    rig_flush(&rig, 0);
    assert_int_equal(rig_last(&rig, 0, 2)->op, WIO_STORE_COMMIT);
}

static void what_is_prepared_keeps_its_locks_over_a_crash(void **state)
{
    (void)state;
    prepare_both();
    rig_crash(&rig, 0);
    rig.is_cut = true;
    assert_int_equal(stat_of(0).prepared, 1);
    assert_null(rig_send(&rig, 0, with(rig_read(2, 1, 0, 9), WIO_STORE_FLAG_SINGLE)));
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 3, 1)), WIO_STORE_OK);
    assert_null(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 1, 1)));
    assert_bytes(rig_last(&rig, 0, 2), "zero");
    assert_int_equal(rig_last(&rig, 0, 2)->blockers.list[0].role, WIO_LOCK_ROLE_DEAD);
}

static void all_votes_commit_without_the_client(void **state)
{
    (void)state;
    prepare_both();
    rig_tick(&rig, WIO_SERVER_LEASE_NS); /* asks, and is answered */
    rig_tick(&rig, 1);
    expect_file(0, "zero");
    expect_file(1, "one");
    assert_int_equal(stat_of(0).prepared + stat_of(1).prepared, 0);
}

static void a_vote_that_was_not_given_never_will_be(void **state)
{
    (void)state;
    assert_null(rig_send(&rig, 0, vote(1, 1, "zero")));
    rig_flush(&rig, 0);
    rig_tick(&rig, WIO_SERVER_LEASE_NS);
    rig_tick(&rig, 1);
    expect_file(0, "");
    assert_int_equal(stat_of(0).prepared, 0);
    rig_crash(&rig, 1); /* the tombstone is durable */
    assert_result(rig_send(&rig, 1, vote(1, 1, "one")), WIO_STORE_ABORTED);
}

static void one_commit_decides_for_all(void **state)
{
    (void)state;
    prepare_both();
    rig_send(&rig, 1, rig_request(WIO_STORE_COMMIT, 1, 1));
    rig_crash(&rig, 0);
    rig_tick(&rig, WIO_SERVER_LEASE_NS);
    rig_tick(&rig, 1);
    expect_file(0, "zero");
}

/* Attempt 1 has voted at one target and was aborted; the news has not come. Attempt 2 does without
 * that target, and commits. */
static void expect_no_commit_by_the_next_attempt(void)
{
    rig_tick(&rig, WIO_SERVER_LEASE_NS);
    rig_flush(&rig, 1);
    rig_tick(&rig, WIO_SERVER_LEASE_NS);
    rig_tick(&rig, 1);
    expect_file(0, "");
    expect_file(1, "two");
    assert_int_equal(stat_of(0).prepared, 0);
}

static void a_commit_does_not_decide_for_an_earlier_attempt(void **state)
{
    (void)state;
    struct wio_store_request second = with(rig_write(1, 1, 0, "two"), WIO_STORE_FLAG_COMMIT);
    second.txn.attempt = 2;
    assert_null(rig_send(&rig, 0, vote(1, 1, "zero")));
    rig_flush(&rig, 0);
    assert_result(rig_send(&rig, 1, second), WIO_STORE_OK);
    expect_no_commit_by_the_next_attempt();
}

static void an_outcome_does_not_decide_for_an_earlier_attempt(void **state)
{
    (void)state;
    struct wio_store_request second = vote(1, 1, "two");
    struct wio_store_request commit = rig_request(WIO_STORE_COMMIT, 1, 1);
    second.txn.attempt = 2;
    second.participants = both + 1; /* and some other target */
    second.participant_count = 1;
    commit.txn.attempt = 2;
    assert_null(rig_send(&rig, 0, vote(1, 1, "zero")));
    rig_flush(&rig, 0);
    assert_null(rig_send(&rig, 1, second));
    rig_flush(&rig, 1);
    rig_send(&rig, 1, commit);
    rig_flush(&rig, 1);
    expect_no_commit_by_the_next_attempt();
}

/* Nor does it answer for one: a request that was under way. */
static void an_outcome_is_that_of_its_attempt(void **state)
{
    (void)state;
    struct wio_store_request commit = rig_request(WIO_STORE_COMMIT, 1, 1);
    struct wio_store_request first = commit;
    struct wio_store_request second = vote(1, 1, "two");
    commit.txn.attempt = 2;
    second.txn.attempt = 2;
    assert_null(rig_send(&rig, 1, second));
    rig_flush(&rig, 1);
    rig_send(&rig, 1, commit);
    rig_flush(&rig, 1);
    assert_result(rig_last(&rig, 1, 1), WIO_STORE_OK);
    assert_result(rig_send(&rig, 1, first), WIO_STORE_ABORTED);
    assert_int_equal(rig_last(&rig, 1, 1)->outcome, WIO_STORE_OUTCOME_ABORTED);
    assert_result(rig_send(&rig, 1, commit), WIO_STORE_OK);
    assert_int_equal(rig_last(&rig, 1, 1)->outcome, WIO_STORE_OUTCOME_COMMITTED);
}

static void a_try_aborts_what_has_not_voted_only(void **state)
{
    (void)state;
    struct wio_store_request try = with(rig_request(WIO_STORE_ABORT, 1, 1), WIO_STORE_FLAG_TRY);
    assert_null(rig_send(&rig, 0, vote(1, 1, "zero")));
    assert_null(rig_send(&rig, 0, try)); /* the vote is under way */
    rig_flush(&rig, 0);
    assert_int_equal(rig_last(&rig, 0, 1)->op, WIO_STORE_ABORT);
    assert_int_equal(rig_last(&rig, 0, 1)->outcome, WIO_STORE_OUTCOME_PREPARED);
    assert_null(rig_send(&rig, 1, try)); /* nothing is known there: a tombstone, durable first */
    rig_flush(&rig, 1);
    assert_int_equal(rig_last(&rig, 1, 1)->outcome, WIO_STORE_OUTCOME_ABORTED);
    rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 1, 1));
    rig_flush(&rig, 0);
    assert_int_equal(rig_last(&rig, 0, 1)->outcome, WIO_STORE_OUTCOME_ABORTED);
    rig_crash(&rig, 0);
    expect_file(0, "");
    assert_int_equal(stat_of(0).prepared, 0);
}

static void an_abort_overtakes_the_vote(void **state)
{
    (void)state;
    assert_null(rig_send(&rig, 0, vote(1, 1, "zero")));
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 1, 1)), WIO_STORE_OK);
    rig_flush(&rig, 0);
    assert_result(rig_last(&rig, 0, 1), WIO_STORE_NO);
    rig_crash(&rig, 0);
    assert_int_equal(stat_of(0).prepared, 0);
    expect_file(0, "");
}

static void a_vote_needs_a_place_for_its_outcome(void **state)
{
    (void)state;
    for (uint64_t txn = 1; txn <= 16; txn++) {
        struct wio_store_request request = vote(1, txn, "x");
        request.offset = txn * 10;
        rig_send(&rig, 0, request);
    }
    struct wio_store_request request = vote(1, 17, "x");
    request.offset = 500;
    assert_result(rig_send(&rig, 0, request), WIO_STORE_NO);
    request = vote(2, 1, "x");
    request.participant_count = 0;
    request.offset = 600;
    assert_result(rig_send(&rig, 0, request), WIO_STORE_BAD);
    request = vote(3, 1, "x");
    request.participants = &both[1]; /* without itself */
    request.participant_count = 1;
    request.offset = 700;
    assert_result(rig_send(&rig, 0, request), WIO_STORE_BAD);
}

/* The client dies between its two COMMITs: the target that had none asks the other one. */
static void a_volatile_commit_reaches_both(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "zero"));
    rig_send(&rig, 1, rig_write(1, 1, 0, "one"));
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 1, 1)), WIO_STORE_OK);
    wio_server_disconnected(rig.targets[1].server, 1, true, rig.now_ns);
    rig_tick(&rig, 1);
    expect_file(0, "zero");
    expect_file(1, "one");
    assert_int_equal(stat_of(1).commits, 1);
}

static void a_volatile_transaction_without_commit_ends(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "zero"));
    rig_send(&rig, 1, rig_write(1, 1, 0, "one"));
    rig_tick(&rig, WIO_SERVER_LEASE_NS);
    rig_tick(&rig, 1);
    assert_int_equal(stat_of(0).txns + stat_of(1).txns, 0);
    expect_file(0, "");
    expect_file(1, "");
}

/* Those that take part are asked, and after half a lease those that have not answered. */
static void participants_are_asked_and_no_others(void **state)
{
    (void)state;
    rig_fini(&rig);
    rig_init(&rig, 3);
    rig_start(&rig);
    prepare_both();
    rig.is_cut = true;
    rig_tick(&rig, WIO_SERVER_LEASE_NS);
    assert_int_equal(rig.targets[0].asked, 1);
    assert_int_equal(rig.targets[1].asked, 1);
    assert_int_equal(wio_server_deadline_ns(rig.targets[0].server),
                     rig.now_ns + WIO_SERVER_LEASE_NS / 2);
    rig_tick(&rig, WIO_SERVER_LEASE_NS / 2 - 1);
    assert_int_equal(rig.targets[0].asked, 1);
    rig_tick(&rig, 1);
    assert_int_equal(rig.targets[0].asked, 2);
    assert_int_equal(rig.targets[2].asked, 0);
}

/* Others cannot be asked: it does not hold its locks for ever. */
static void patience_ends(void **state)
{
    (void)state;
    rig.is_cut = true;
    rig_send(&rig, 0, rig_write(1, 1, 0, "zero"));
    for (int i = 0; i < 20; i++) {
        rig_tick(&rig, WIO_SERVER_LEASE_NS / 2);
    }
    assert_int_equal(stat_of(0).txns, 0);
    assert_true(rig.targets[0].asked > 5);
}

static void doubt_lasts_until_there_is_an_answer(void **state)
{
    (void)state;
    prepare_both();
    rig.is_cut = true;
    for (int i = 0; i < 20; i++) {
        rig_tick(&rig, WIO_SERVER_LEASE_NS / 2);
    }
    assert_int_equal(stat_of(0).prepared, 1);
    rig.is_cut = false;
    rig_tick(&rig, WIO_SERVER_LEASE_NS / 2);
    expect_file(0, "zero");
}

/* Its lease ends before its vote; others are asked, and do not answer. Then it comes back, and
 * votes beside target 1. */
static struct wio_txn vote_behind_a_lease(bool is_answered_before)
{
    const struct wio_store_peer peer = {.client = 1};
    const struct wio_store_request write = rig_write(1, 1, 0, "zero");
    struct wio_store_request prepare =
        with(rig_request(WIO_STORE_PREPARE, 1, 1), WIO_STORE_FLAG_PREPARE | WIO_STORE_FLAG_STABLE);
    struct wio_server *server = rig.targets[0].server;
    prepare.participants = both;
    prepare.participant_count = 2;
    rig.is_cut = true;
    assert_result(rig_send(&rig, 0, write), WIO_STORE_OK);
    rig_tick(&rig, WIO_SERVER_LEASE_NS);
    rig_tick(&rig, 1);
    assert_int_equal(stat_of(0).txns, 1);
    if (is_answered_before) {
        wio_server_answered(server, 1, &write.txn, WIO_STORE_OUTCOME_ACTIVE, rig.now_ns);
    }
    assert_int_equal(wio_server_connected(server, &peer, rig.now_ns, NULL), WIO_OK);
    assert_null(rig_send(&rig, 0, prepare));
    rig_flush(&rig, 0);
    assert_result(rig_last(&rig, 0, 1), WIO_STORE_OK);
    return write.txn;
}

/* Target 1 was asked before the vote, and had not voted: that says nothing of what it does. */
static void answers_from_before_a_vote_do_not_decide(void **state)
{
    (void)state;
    rig_fini(&rig);
    rig_init(&rig, 3); /* the third one never answers */
    rig_start(&rig);
    (void)vote_behind_a_lease(true);
    for (int i = 0; i < 4; i++) {
        rig_tick(&rig, WIO_SERVER_LEASE_NS / 2);
    }
    assert_int_equal(stat_of(0).prepared, 1);
    expect_file(0, "");
}

static void late_answers_from_before_a_vote_do_not_decide(void **state)
{
    (void)state;
    rig_fini(&rig);
    rig_init(&rig, 3);
    rig_start(&rig);
    const struct wio_txn txn = vote_behind_a_lease(false);
    rig_tick(&rig, WIO_SERVER_LEASE_NS / 2); /* it asks again */
    wio_server_answered(rig.targets[0].server, 1, &txn, WIO_STORE_OUTCOME_ACTIVE, rig.now_ns);
    wio_server_answered(rig.targets[0].server, 1, &txn, WIO_STORE_OUTCOME_UNKNOWN, rig.now_ns);
    assert_int_equal(stat_of(0).prepared, 1);
    wio_server_answered(rig.targets[0].server, 1, &txn, WIO_STORE_OUTCOME_ABORTED, rig.now_ns);
    assert_int_equal(stat_of(0).prepared, 0);
    expect_file(0, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stable_write_is_answered_when_it_is_durable),
        TEST(a_last_write_makes_all_durable_at_once),
        TEST(commits_share_a_flush),
        TEST(a_log_that_fails_acknowledges_nothing),
        TEST(two_votes_and_the_news),
        TEST(news_is_answered_when_it_is_durable),
        TEST(what_is_prepared_keeps_its_locks_over_a_crash),
        TEST(all_votes_commit_without_the_client),
        TEST(a_vote_that_was_not_given_never_will_be),
        TEST(one_commit_decides_for_all),
        TEST(answers_from_before_a_vote_do_not_decide),
        TEST(late_answers_from_before_a_vote_do_not_decide),
        TEST(a_commit_does_not_decide_for_an_earlier_attempt),
        TEST(an_outcome_does_not_decide_for_an_earlier_attempt),
        TEST(an_outcome_is_that_of_its_attempt),
        TEST(a_try_aborts_what_has_not_voted_only),
        TEST(an_abort_overtakes_the_vote),
        TEST(a_vote_needs_a_place_for_its_outcome),
        TEST(a_volatile_commit_reaches_both),
        TEST(a_volatile_transaction_without_commit_ends),
        TEST(participants_are_asked_and_no_others),
        TEST(patience_ends),
        TEST(doubt_lasts_until_there_is_an_answer),
    };
    return WIO_RUN(tests);
}
