/* SPDX-License-Identifier: Apache-2.0 */
/* Operations, isolation, locks, limits: what needs no log. */
#include "support/stingy.h"
#include "support/unit.h"

#include <string.h>

#include "rig.h"

static struct rig rig;

static int set_up(void **state)
{
    (void)state;
    rig_init(&rig, 1);
    rig_start(&rig);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_fini(&rig);
    return 0;
}

static struct wio_store_request single(struct wio_store_request request)
{
    request.flags |= WIO_STORE_FLAG_SINGLE;
    return request;
}

static void commit(uint64_t client, uint64_t txn)
{
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, client, txn)), WIO_STORE_OK);
}

static struct wio_server_stat stat_of(uint16_t target)
{
    return wio_server_stat(rig.targets[target].server);
}

static void a_single_write_is_read_back(void **state)
{
    (void)state;
    const struct wio_store_reply *reply = rig_send(&rig, 0, single(rig_write(1, 1, 2, "abc")));
    assert_result(reply, WIO_STORE_OK);
    assert_int_equal(reply->size, 3);
    assert_int_equal(reply->data_size, 0);
    assert_int_equal(rig.targets[0].memory.unlogged, 1);
    assert_bytes(rig_send(&rig, 0, single(rig_read(2, 1, 3, 100))), "bc");
    assert_int_equal(stat_of(0).txns, 0);
    assert_int_equal(stat_of(0).commits, 2);
}

static void a_transaction_sees_its_own_writes_only(void **state)
{
    (void)state;
    rig_send(&rig, 0, single(rig_write(1, 1, 0, "........")));
    assert_result(rig_send(&rig, 0, rig_write(1, 2, 2, "xy")), WIO_STORE_OK);
    assert_bytes(rig_send(&rig, 0, rig_read(1, 2, 0, 8)), "..xy....");
    /* the other one waits for the end */
    assert_null(rig_send(&rig, 0, single(rig_read(2, 1, 0, 8))));
    commit(1, 2);
    assert_bytes(rig_last(&rig, 0, 2), "..xy....");
    assert_int_equal(rig_last(&rig, 0, 2)->blockers.count, 1);
    assert_int_equal(rig_last(&rig, 0, 2)->blockers.list[0].txn.client, 1);
    assert_int_equal(rig_last(&rig, 0, 2)->blockers.list[0].job, 10);
}

static void an_abort_leaves_nothing(void **state)
{
    (void)state;
    rig_send(&rig, 0, single(rig_write(1, 1, 0, "old")));
    rig_send(&rig, 0, rig_write(1, 2, 0, "new and longer"));
    assert_null(rig_send(&rig, 0, single(rig_read(2, 1, 0, 20))));
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 1, 2)), WIO_STORE_OK);
    assert_bytes(rig_last(&rig, 0, 2), "old");
    assert_int_equal(stat_of(0).update_bytes, 0);
}

static void a_cut_is_seen_before_it_is_committed(void **state)
{
    (void)state;
    rig_send(&rig, 0, single(rig_write(1, 1, 0, "abcdefgh")));
    struct wio_store_request cut = rig_request(WIO_STORE_TRUNCATE, 1, 2);
    cut.size = 3;
    assert_result(rig_send(&rig, 0, cut), WIO_STORE_OK);
    assert_bytes(rig_send(&rig, 0, rig_read(1, 2, 0, 8)), "abc");
    rig_send(&rig, 0, rig_write(1, 2, 5, "x"));
    const struct wio_store_reply *reply = rig_send(&rig, 0, rig_read(1, 2, 0, 8));
    assert_result(reply, WIO_STORE_OK);
    assert_int_equal(reply->data_size, 6);
    assert_memory_equal(reply->data, "abc\0\0x", 6);
    commit(1, 2);
    reply = rig_send(&rig, 0, single(rig_request(WIO_STORE_SIZE, 2, 1)));
    assert_result(reply, WIO_STORE_OK);
    assert_int_equal(reply->size, 6);
}

static void appends_go_side_by_side_and_readers_of_the_end_wait(void **state)
{
    (void)state;
    assert_result(rig_send(&rig, 0, rig_write(1, 1, 0, "aa")), WIO_STORE_OK);
    assert_result(rig_send(&rig, 0, rig_write(2, 1, 2, "bb")), WIO_STORE_OK);
    assert_null(rig_send(&rig, 0, single(rig_request(WIO_STORE_SIZE, 3, 1))));
    assert_int_equal(rig.inbox[0][3].count, 0);
    commit(2, 1);
    assert_int_equal(rig.inbox[0][3].count, 0);
    commit(1, 1);
    assert_int_equal(rig_last(&rig, 0, 3)->size, 4);
    assert_bytes(rig_send(&rig, 0, single(rig_read(3, 2, 0, 9))), "aabb");
}

static void the_younger_holder_is_wounded(void **state)
{
    (void)state;
    assert_result(rig_send(&rig, 0, rig_write(5, 1, 0, "young")), WIO_STORE_OK);
    assert_null(rig_send(&rig, 0, rig_write(2, 1, 0, "older")));
    assert_int_equal(rig.inbox[0][5].wounds, 1);
    assert_int_equal(rig.inbox[0][5].wound.txn.number, 1);
    assert_int_equal(rig.inbox[0][5].wound.txn.attempt, 1);
    assert_int_equal(rig.inbox[0][5].wound.because.txn.client, 2);
    assert_int_equal(rig.inbox[0][5].wound.because.source, 2);
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 5, 1)), WIO_STORE_OK);
    assert_result(rig_last(&rig, 0, 2), WIO_STORE_OK);
}

static void what_waits_is_answered_when_it_is_aborted(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "held"));
    rig_send(&rig, 0, rig_write(2, 1, 50, "other"));
    assert_null(rig_send(&rig, 0, rig_write(2, 1, 0, "waits")));
    rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 2, 1));
    assert_int_equal(rig.inbox[0][2].count, 3);
    commit(1, 1);
    assert_bytes(rig_send(&rig, 0, single(rig_read(3, 1, 0, 60))), "held");
}

static void an_ended_attempt_does_nothing_more(void **state)
{
    (void)state;
    struct wio_store_request late = rig_write(1, 1, 0, "late");
    rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 1, 1)); /* before anything came */
    assert_result(rig_send(&rig, 0, late), WIO_STORE_ABORTED);
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 1, 1)), WIO_STORE_ABORTED);
    late.txn.attempt = 2;
    assert_result(rig_send(&rig, 0, late), WIO_STORE_OK);
    late.txn.attempt = 1;
    assert_result(rig_send(&rig, 0, late), WIO_STORE_ABORTED);
}

static void a_late_commit_is_not_for_the_next_attempt(void **state)
{
    (void)state;
    struct wio_store_request write = rig_write(1, 1, 0, "x");
    write.txn.attempt = 2;
    assert_result(rig_send(&rig, 0, write), WIO_STORE_OK);
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 1, 1)), WIO_STORE_ABORTED);
    rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 1, 1));
    assert_int_equal(stat_of(0).txns, 1);
}

static void nothing_is_committed_before_it_is_done(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "held"));
    assert_null(rig_send(&rig, 0, rig_write(2, 1, 0, "waits")));
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 2, 1)), WIO_STORE_BAD);
    assert_int_equal(stat_of(0).txns, 2);
}

/* R-LAST-1: what waits would not be in it, and would be done to a transaction that is gone. */
static void nothing_ends_before_what_waits(unsigned flags)
{
    struct wio_store_request last = rig_write(2, 1, 50, "last");
    uint16_t self = 0;
    last.flags = (uint16_t)flags;
    last.participants = &self;
    last.participant_count = (flags & WIO_STORE_FLAG_PREPARE) != 0 ? 1 : 0;
    rig_send(&rig, 0, rig_write(1, 1, 0, "held"));
    assert_null(rig_send(&rig, 0, rig_write(2, 1, 0, "waits")));
    assert_result(rig_send(&rig, 0, last), WIO_STORE_BAD);
    assert_int_equal(stat_of(0).txns, 1);
    commit(1, 1);
    assert_bytes(rig_send(&rig, 0, single(rig_read(3, 1, 0, 60))), "held");
}

static void a_last_operation_is_the_last(void **state)
{
    (void)state;
    nothing_ends_before_what_waits(WIO_STORE_FLAG_COMMIT);
}

static void a_single_operation_is_alone(void **state)
{
    (void)state;
    nothing_ends_before_what_waits(WIO_STORE_FLAG_SINGLE);
}

static void a_vote_is_the_last_word(void **state)
{
    (void)state;
    nothing_ends_before_what_waits(WIO_STORE_FLAG_PREPARE | WIO_STORE_FLAG_STABLE);
}

static struct wio_store_request last_write(uint64_t client, uint64_t offset, const char *text)
{
    struct wio_store_request request = rig_write(client, 1, offset, text);
    request.flags = WIO_STORE_FLAG_COMMIT;
    return request;
}

static void the_last_operation_commits_all(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "first "));
    assert_result(rig_send(&rig, 0, last_write(1, 6, "last")), WIO_STORE_OK);
    assert_int_equal(stat_of(0).txns, 0);
    assert_bytes(rig_send(&rig, 0, single(rig_read(3, 1, 0, 60))), "first last");
    /* a transaction that has ended, or never began, is not begun by it; the client may not know */
    assert_result(rig_send(&rig, 0, last_write(1, 0, "again")), WIO_STORE_OK);
    assert_bytes(rig_send(&rig, 0, single(rig_read(3, 2, 0, 60))), "first last");
    assert_result(rig_send(&rig, 0, last_write(2, 0, "alone")), WIO_STORE_ABORTED);
    struct wio_store_request read = rig_read(3, 3, 0, 10);
    read.flags |= WIO_STORE_FLAG_COMMIT;
    assert_result(rig_send(&rig, 0, read), WIO_STORE_BAD);
}

/* It waits as others do, and what is refused has ended all of it. */
static void the_last_operation_may_wait(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "held"));
    rig_send(&rig, 0, rig_write(2, 1, 50, "first"));
    assert_null(rig_send(&rig, 0, last_write(2, 0, "last")));
    commit(1, 1);
    assert_result(rig_last(&rig, 0, 2), WIO_STORE_OK);
    assert_bytes(rig_send(&rig, 0, single(rig_read(3, 1, 0, 4))), "last");
    rig_send(&rig, 0, rig_write(4, 1, 0, "held"));
    rig_send(&rig, 0, rig_write(5, 1, 50, "first"));
    struct wio_store_request at_once = last_write(5, 0, "last");
    at_once.flags |= WIO_STORE_FLAG_REJECT;
    assert_result(rig_send(&rig, 0, at_once), WIO_STORE_REFUSED);
    assert_int_equal(stat_of(0).txns, 1);
}

static void an_operation_without_its_beginning_is_refused(void **state)
{
    (void)state;
    struct wio_store_request middle = rig_write(1, 1, 0, "x");
    middle.flags = 0;
    assert_result(rig_send(&rig, 0, middle), WIO_STORE_ABORTED);
}

static void a_request_that_comes_again_is_done_once(void **state)
{
    (void)state;
    struct wio_store_request add = single(rig_request(WIO_STORE_POINTER, 1, 1));
    add.whence = WIO_STORE_WHENCE_ADD;
    add.offset = 10;
    add.number = 7;
    assert_result(rig_send(&rig, 0, add), WIO_STORE_OK);
    const struct wio_store_reply *again = rig_send(&rig, 0, add);
    assert_result(again, WIO_STORE_OK);
    assert_int_equal(again->offset, 0);
    assert_int_equal(again->size, 10);
    assert_int_equal(stat_of(0).again, 1);
    add.number = 8;
    add.txn.number = 2;
    assert_int_equal(rig_send(&rig, 0, add)->offset, 10);
    add.number = 8 + 2 * WIO_SERVER_WINDOW;
    add.txn.number = 3;
    assert_int_equal(rig_send(&rig, 0, add)->offset, 20);
    add.number = 8;
    assert_result(rig_send(&rig, 0, add), WIO_STORE_BAD); /* older than what is remembered */
}

static void a_request_under_way_is_not_begun_again(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "held"));
    struct wio_store_request write = single(rig_write(2, 1, 0, "mine"));
    write.number = 900;
    assert_null(rig_send(&rig, 0, write));
    assert_null(rig_send(&rig, 0, write));
    commit(1, 1);
    assert_int_equal(rig.inbox[0][2].count, 1);
    assert_int_equal(stat_of(0).commits, 2);
    assert_bytes(rig_send(&rig, 0, single(rig_read(3, 1, 0, 4))), "mine");
}

static void a_pointer_moves_at_commit(void **state)
{
    (void)state;
    struct wio_store_request move = rig_request(WIO_STORE_POINTER, 1, 1);
    move.whence = WIO_STORE_WHENCE_ADD;
    move.offset = 5;
    move.group = 3;
    assert_int_equal(rig_send(&rig, 0, move)->size, 5);
    assert_int_equal(rig_send(&rig, 0, move)->size, 10);
    rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 1, 1));
    move.txn.number = 2;
    assert_int_equal(rig_send(&rig, 0, move)->offset, 0);
    commit(1, 2);
    move.txn.number = 3;
    assert_int_equal(rig_send(&rig, 0, move)->offset, 5);
    move.group = 4;
    assert_int_equal(rig_send(&rig, 0, move)->offset, 0);
}

static void what_must_not_wait_is_refused(void **state)
{
    (void)state;
    struct wio_store_request write = rig_write(2, 1, 0, "x");
    rig_send(&rig, 0, rig_write(1, 1, 0, "held"));
    write.flags |= WIO_STORE_FLAG_REJECT;
    const struct wio_store_reply *reply = rig_send(&rig, 0, write);
    assert_result(reply, WIO_STORE_REFUSED);
    assert_int_equal(reply->reason, WIO_LOCK_REASON_CONFLICT);
    assert_int_equal(reply->blockers.list[0].txn.client, 1);
    assert_int_equal(stat_of(0).txns, 2); /* it goes on, or is aborted by its client .. */
    write.txn.client = 3;
    assert_result(rig_send(&rig, 0, single(write)), WIO_STORE_REFUSED);
    assert_int_equal(stat_of(0).txns, 2); /* .. but not a single one, which has ended */
}

static void numbers_are_added(void **state)
{
    (void)state;
    struct wio_store_request add = single(rig_write(1, 1, 8, "\5\0\0\0\0\0\0"));
    add.data_size = 8;
    add.flags |= WIO_STORE_FLAG_INCREMENT;
    assert_int_equal(rig_send(&rig, 0, add)->offset, 0);
    add.txn.number = 2;
    assert_int_equal(rig_send(&rig, 0, add)->offset, 5);
    add.data_size = 4;
    add.txn.number = 3;
    assert_result(rig_send(&rig, 0, add), WIO_STORE_BAD);
}

static void the_lease_ends_what_was_begun(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "held"));
    assert_null(rig_send(&rig, 0, single(rig_read(2, 1, 0, 4))));
    rig_tick(&rig, WIO_SERVER_LEASE_NS / 2);
    rig_send(&rig, 0, rig_request(WIO_STORE_PING, 2, 0));
    assert_int_equal(wio_server_deadline_ns(rig.targets[0].server),
                     1000000000 + WIO_SERVER_LEASE_NS);
    rig_tick(&rig, WIO_SERVER_LEASE_NS / 2);
    assert_int_equal(rig_last(&rig, 0, 2)->data_size, 0);
    assert_result(rig_last(&rig, 0, 2), WIO_STORE_OK);
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 1, 1)), WIO_STORE_NO_LEASE);
    assert_int_equal(stat_of(0).clients, 1);
}

static void a_dead_client_waits_for_no_lease(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "held"));
    rig_send(&rig, 0, single(rig_read(2, 1, 0, 4)));
    wio_server_disconnected(rig.targets[0].server, 1, false, rig.now_ns);
    assert_int_equal(rig.inbox[0][2].count, 0);
    wio_server_disconnected(rig.targets[0].server, 1, true, rig.now_ns);
    assert_int_equal(rig.inbox[0][2].count, 1);
}

static void one_transaction_keeps_so_much_and_no_more(void **state)
{
    (void)state;
    static char much[3001];
    memset(much, 'x', 3000);
    assert_result(rig_send(&rig, 0, rig_write(1, 1, 0, much)), WIO_STORE_OK);
    assert_result(rig_send(&rig, 0, rig_write(1, 1, 0, much)), WIO_STORE_TOO_BIG);
    for (uint64_t client = 2; client < 6; client++) {
        assert_result(rig_send(&rig, 0, rig_write(client, 1, client * 5000, much)), WIO_STORE_OK);
    }
    assert_result(rig_send(&rig, 0, rig_write(6, 1, 40000, much)), WIO_STORE_BUSY);
    rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 1, 1));
    assert_result(rig_send(&rig, 0, rig_write(6, 1, 40000, much)), WIO_STORE_OK);
}

static void a_full_disk_says_so_at_the_write(void **state)
{
    (void)state;
    rig.targets[0].memory.capacity = 10;
    assert_result(rig_send(&rig, 0, rig_write(1, 1, 0, "12345678")), WIO_STORE_OK);
    assert_result(rig_send(&rig, 0, rig_write(2, 1, 50, "123")), WIO_STORE_NO_SPACE);
    rig_send(&rig, 0, rig_request(WIO_STORE_ABORT, 1, 1));
    assert_result(rig_send(&rig, 0, rig_write(2, 1, 5, "123")), WIO_STORE_OK);
    const struct wio_store_reply *reply = rig_send(&rig, 0, rig_request(WIO_STORE_STATFS, 1, 0));
    assert_int_equal(reply->stat.size, 10);
}

static void a_broken_disk_stops_the_server(void **state)
{
    (void)state;
    rig_send(&rig, 0, rig_write(1, 1, 0, "x"));
    rig.targets[0].memory.is_broken = true;
    assert_result(rig_send(&rig, 0, rig_request(WIO_STORE_COMMIT, 1, 1)), WIO_STORE_IO);
    rig.targets[0].memory.is_broken = false;
    assert_result(rig_send(&rig, 0, single(rig_read(2, 1, 0, 1))), WIO_STORE_IO);
}

static void nonsense_is_answered(void **state)
{
    (void)state;
    struct wio_store_request request = single(rig_read(1, 1, 0, 1));
    request.segment = WIO_STORE_SEGMENTS_MAX;
    assert_result(rig_send(&rig, 0, request), WIO_STORE_BAD);
    request = single(rig_read(1, 0, 0, 1)); /* no transaction */
    assert_result(rig_send(&rig, 0, request), WIO_STORE_BAD);
    request = single(rig_read(1, 1, UINT64_MAX, 2));
    assert_result(rig_send(&rig, 0, request), WIO_STORE_BAD);
    request = rig_request((enum wio_store_op)999, 1, 1);
    assert_result(rig_send(&rig, 0, request), WIO_STORE_BAD);
    request = rig_request(WIO_STORE_PING, 0, 1); /* never connected */
    assert_result(rig_send(&rig, 0, request), WIO_STORE_NO_LEASE);
    assert_int_equal(stat_of(0).txns, 0);
}

static void advisory_locks_live_with_the_lease(void **state)
{
    (void)state;
    struct wio_store_request lock = rig_request(WIO_STORE_LOCK, 1, 0);
    lock.size = 10;
    lock.mode = WIO_LOCK_EXCLUSIVE;
    assert_result(rig_send(&rig, 0, lock), WIO_STORE_OK);
    lock.txn.client = 2;
    const struct wio_store_reply *reply = rig_send(&rig, 0, lock);
    assert_result(reply, WIO_STORE_REFUSED);
    assert_int_equal(reply->blockers.list[0].txn.client, 1);
    struct wio_store_request unlock = rig_request(WIO_STORE_UNLOCK, 1, 0);
    unlock.size = 5;
    assert_result(rig_send(&rig, 0, unlock), WIO_STORE_OK);
    lock.size = 5;
    assert_result(rig_send(&rig, 0, lock), WIO_STORE_OK);
    lock.mode = WIO_LOCK_SHARED; /* a lock takes the place of the former one */
    assert_result(rig_send(&rig, 0, lock), WIO_STORE_OK);
    lock.txn.client = 3;
    assert_result(rig_send(&rig, 0, lock), WIO_STORE_OK);
    lock.offset = 5;
    assert_result(rig_send(&rig, 0, lock), WIO_STORE_REFUSED);
    rig_tick(&rig, WIO_SERVER_LEASE_NS - 1);
    rig_send(&rig, 0, rig_request(WIO_STORE_PING, 3, 0));
    rig_tick(&rig, 1);
    assert_result(rig_send(&rig, 0, lock), WIO_STORE_OK);
}

static void on_reply_ignored(void *context, uint64_t client, const struct wio_store_reply *reply)
{
    uint32_t *answers = context;
    (void)client;
    *answers += reply->number > 0;
}

/* However little memory there is, each request has its answer, and nothing is left at the end. */
static void memory_that_ends_is_answered(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 40; n++) {
        struct wio_stingy stingy = {.left = n};
        struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        uint32_t answers = 0;
        struct wio_server_ops ops = {on_reply_ignored, NULL, NULL};
        struct wio_server_config config = rig.config;
        struct wio_server *server = NULL;
        struct wio_store_peer peer = {.client = 1};
        config.targets = 1;
        config.ops = &ops;
        config.context = &answers;
        config.backing = &rig.targets[0].memory.base;
        if (wio_server_create(&alloc, &config, &server) == WIO_OK &&
            wio_server_connected(server, &peer, 1, NULL) == WIO_OK) {
            for (uint64_t i = 1; i <= 6; i++) {
                struct wio_store_request request = rig_write(1, i % 3 + 1, i * 10, "abc");
                request.number = i;
                wio_server_request(server, 1, &request, 1);
            }
            assert_int_equal(answers, 6);
        }
        wio_server_destroy(server);
        assert_int_equal(stingy.out, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_single_write_is_read_back),
        TEST(a_transaction_sees_its_own_writes_only),
        TEST(an_abort_leaves_nothing),
        TEST(a_cut_is_seen_before_it_is_committed),
        TEST(appends_go_side_by_side_and_readers_of_the_end_wait),
        TEST(the_younger_holder_is_wounded),
        TEST(what_waits_is_answered_when_it_is_aborted),
        TEST(an_ended_attempt_does_nothing_more),
        TEST(a_late_commit_is_not_for_the_next_attempt),
        TEST(nothing_is_committed_before_it_is_done),
        TEST(a_last_operation_is_the_last),
        TEST(a_single_operation_is_alone),
        TEST(a_vote_is_the_last_word),
        TEST(the_last_operation_commits_all),
        TEST(the_last_operation_may_wait),
        TEST(an_operation_without_its_beginning_is_refused),
        TEST(a_request_that_comes_again_is_done_once),
        TEST(a_request_under_way_is_not_begun_again),
        TEST(a_pointer_moves_at_commit),
        TEST(what_must_not_wait_is_refused),
        TEST(numbers_are_added),
        TEST(the_lease_ends_what_was_begun),
        TEST(a_dead_client_waits_for_no_lease),
        TEST(one_transaction_keeps_so_much_and_no_more),
        TEST(a_full_disk_says_so_at_the_write),
        TEST(a_broken_disk_stops_the_server),
        TEST(nonsense_is_answered),
        TEST(advisory_locks_live_with_the_lease),
        TEST(memory_that_ends_is_answered),
    };
    return WIO_RUN(tests);
}
