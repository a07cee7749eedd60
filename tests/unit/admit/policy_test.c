/* SPDX-License-Identifier: Apache-2.0 */
/* What each policy promises, one request at a time. */
#include <string.h>

#include "server.h"

#define MS ((uint64_t)1000000)

static struct server begin(enum wio_admit_kind kind)
{
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = kind;
    server_start(&server);
    return server;
}

static void fill(struct server *server, uint32_t client, uint32_t job, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct wio_admit_request request = server_request(client, 1000 + i);
        request.job = job;
        assert_true(server_ask(server, &request));
    }
}

static void half_of_the_queue_is_the_most(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = WIO_ADMIT_HINT;
    server.settings.queue_total = 20;
    server_start(&server);
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    fill(&server, client, 1, 10);
    struct wio_admit_request request = server_request(client, 5);
    assert_false(server_ask(&server, &request));
    assert_int_equal(server.reply.reason, WIO_ADMIT_REASON_QUEUE_HALF);
    request.job = 2;
    assert_true(server_ask(&server, &request));
    fill(&server, client, 2, 9);
    request.job = 3;
    assert_false(server_ask(&server, &request));
    assert_int_equal(server.reply.reason, WIO_ADMIT_REASON_QUEUE_TOTAL);
    server_stop(&server);
}

/* With several shards it is the shard that fills no more than half of what all have together. */
static void half_is_of_all_shards(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    struct wio_error err = WIO_ERROR_INIT;
    server.settings.kind = WIO_ADMIT_HINT;
    server.settings.shards = 3;
    server.settings.queue_total = 20;
    server_start(&server);
    struct server other = server;
    struct server third = server;
    assert_ok(wio_admit_create(server.total, &WIO_ALLOC_HEAP, &other.shard, &err), &err);
    assert_ok(wio_admit_create(server.total, &WIO_ALLOC_HEAP, &third.shard, &err), &err);
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    (void)server_join(&other, 1, WIO_ADMIT_FEATURES);
    (void)server_join(&third, 1, WIO_ADMIT_FEATURES);
    for (unsigned i = 0; i < 10; i++) {
        fill(&server, client, i, 1);
    }
    struct wio_admit_request request = server_request(client, 5);
    request.job = 77;
    assert_false(server_ask(&server, &request));
    assert_int_equal(server.reply.reason, WIO_ADMIT_REASON_QUEUE_HALF);
    fill(&other, client, 1, 10);
    assert_false(server_ask(&third, &request));
    assert_int_equal(third.reply.reason, WIO_ADMIT_REASON_QUEUE_TOTAL);
    wio_admit_destroy(other.shard); /* what waited there frees the queue */
    assert_true(server_ask(&third, &request));
    wio_admit_destroy(third.shard);
    server_stop(&server);
}

static void pools_have_queues_of_their_own(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = WIO_ADMIT_HINT;
    server.settings.queue_pool = 2;
    server_start(&server);
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    fill(&server, client, 1, 2); /* pool 0 */
    struct wio_admit_request request = server_request(client, 5);
    assert_false(server_ask(&server, &request));
    assert_int_equal(server.reply.reason, WIO_ADMIT_REASON_QUEUE_POOL);
    request.pool[1] = 9;
    assert_true(server_ask(&server, &request));
    assert_int_equal(server_serve(&server, 1000), 1000);
    request.pool[1] = 0;
    assert_true(server_ask(&server, &request));
    server_stop(&server);
}

/* hint-heap: a request that was refused twice comes before one that was refused once. */
static void retries_raise_the_priority(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = WIO_ADMIT_HINT_HEAP;
    server.settings.queue_total = 16;
    server.settings.queue_pool = 4;
    server_start(&server);
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    fill(&server, client, 1, 4);
    struct wio_admit_request once = server_request(client, 1);
    struct wio_admit_request twice = server_request(client, 2);
    assert_false(server_ask(&server, &once));
    once.ticket = server.reply.ticket;
    assert_false(server_ask(&server, &twice));
    twice.ticket = server.reply.ticket;
    assert_false(server_ask(&server, &twice));
    assert_int_equal(server.reply.ticket.sequence, twice.ticket.sequence);
    twice.ticket = server.reply.ticket;
    assert_int_equal(server_serve(&server, 1000), 1000);
    assert_int_equal(server_serve(&server, 1000), 1001);
    assert_true(server_ask(&server, &once));
    assert_true(server_ask(&server, &twice));
    assert_int_equal(server_serve(&server, 1000), 2);
    assert_int_equal(server_serve(&server, 1000), 1);
    assert_int_equal(server_serve(&server, 1000), 1002);
    assert_int_equal(server_serve(&server, 1000), 1003);
    server_stop(&server);
}

static void forged_and_replayed_tickets_are_new_requests(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = WIO_ADMIT_HINT;
    server.settings.queue_pool = 3;
    server_start(&server);
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    struct wio_admit_request first = server_request(client, 50);
    fill(&server, client, 1, 3);
    assert_false(server_ask(&server, &first));
    first.ticket = server.reply.ticket;
    while (server_serve(&server, 1000) != UINT64_MAX) {
    }
    struct wio_admit_request later = server_request(client, 60);
    assert_true(server_ask(&server, &later));
    struct wio_admit_request forged = server_request(client, 61);
    forged.ticket = first.ticket; /* of another request */
    assert_true(server_ask(&server, &forged));
    assert_true(server_ask(&server, &first));
    assert_int_equal(server_serve(&server, 1000), 50);
    assert_true(server_ask(&server, &first)); /* replayed: at the end now */
    assert_int_equal(server_serve(&server, 1000), 60);
    assert_int_equal(server_serve(&server, 1000), 61);
    assert_int_equal(server_serve(&server, 1000), 50);
    assert_int_equal(wio_admit_counts(server.shard)->retries, 1);
    assert_int_equal(wio_admit_counts(server.shard)->tickets_refused, 2);
    server_stop(&server);
}

static void old_peers_are_told_of_a_time_out(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_ADMIT_KIND_COUNT; kind++) {
        struct server server = {.settings = wio_admit_settings_default()};
        server.settings.kind = (enum wio_admit_kind)kind;
        server.settings.queue_total = 2;
        server_start(&server);
        uint32_t client = server_join(&server, 1, 0);
        struct wio_admit_request request = server_request(client, 1);
        request.flags = 0;
        while (server_ask(&server, &request)) {
            request.job++;
        }
        const struct wio_admit_reply *reply = &server.reply;
        assert_int_equal(reply->answer, WIO_ADMIT_TIMED_OUT);
        assert_int_equal(reply->hint, 0);
        assert_false(reply->has_window);
        assert_true(reply->ticket.sequence == 0 && reply->ticket.mac == 0);
        request.flags = WIO_ADMIT_REJECT; /* knows busy, has no other feature */
        assert_false(server_ask(&server, &request));
        assert_int_equal(reply->answer, WIO_ADMIT_BUSY);
        assert_true(reply->hint > 0);
        assert_true(reply->ticket.mac == 0);
        server_stop(&server);
    }
}

static void what_expires_is_not_run(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_ADMIT_KIND_COUNT; kind++) {
        bool runs_all =
            kind == WIO_ADMIT_FIFO || kind == WIO_ADMIT_HINT || kind == WIO_ADMIT_HINT_HEAP;
        struct server server = begin((enum wio_admit_kind)kind);
        uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
        struct wio_admit_request request = server_request(client, 1);
        request.remaining_ns = 10 * MS;
        assert_true(server_ask(&server, &request));
        server.now_ns += 10 * MS;
        struct wio_admit_work work;
        assert_true(wio_admit_next(server.shard, server.now_ns, &work));
        assert_int_equal(work.is_expired, !runs_all);
        struct wio_admit_served served = {.now_ns = server.now_ns};
        assert_int_equal(wio_admit_done(server.shard, work.handle, &served, &server.reply), WIO_OK);
        assert_int_equal(server.reply.answer, runs_all ? WIO_ADMIT_ACCEPTED : WIO_ADMIT_TIMED_OUT);
        assert_int_equal(wio_admit_counts(server.shard)->expired, !runs_all);
        assert_int_equal(wio_admit_done(server.shard, work.handle, &served, &server.reply),
                         WIO_ERR_USAGE);
        server_stop(&server);
    }
}

/* As many as are booked find room whatever fills the rest, run first, and no queue holds them. */
static void what_must_not_be_refused_is_not(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_ADMIT_KIND_COUNT; kind++) {
        struct server server = {.settings = wio_admit_settings_default()};
        server.settings.kind = (enum wio_admit_kind)kind;
        server.settings.memory_bytes = 1 << 20;
        server.settings.reserve_bytes = (uint64_t)10 * (16384 + 1024);
        server_start(&server);
        uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
        unsigned booked = 0;
        while (wio_admit_book(server.shard)) {
            booked++;
        }
        assert_int_equal(booked, 10);
        struct wio_admit_request request = server_request(client, 1);
        for (unsigned i = 0; i < 3000; i++) {
            request.job = i;
            (void)server_ask(&server, &request);
        }
        struct wio_admit_work work;
        while (wio_admit_next(server.shard, server.now_ns, &work)) {
        }
        struct wio_admit_request end = server_request(client, 9);
        end.flags |= WIO_ADMIT_MUST;
        for (unsigned i = 0; i < booked; i++) {
            assert_true(server_ask(&server, &end));
        }
        assert_false(server_ask(&server, &end)); /* beyond what was booked */
        for (unsigned i = 0; i < booked; i++) {
            assert_int_equal(server_serve(&server, 1000), 9);
        }
        wio_admit_unbook(server.shard);
        assert_true(wio_admit_book(server.shard));
        assert_int_equal(wio_admit_counts(server.shard)->must, booked + 1);
        assert_int_equal(wio_admit_counts(server.shard)->must_refused, 1);
        server_stop(&server);
    }
}

static void the_policy_changes_live(void **state)
{
    (void)state;
    struct server server = begin(WIO_ADMIT_FIFO);
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    fill(&server, client, 1, 5);
    for (unsigned kind = 0; kind < WIO_ADMIT_KIND_COUNT; kind++) {
        assert_int_equal(wio_admit_set_kind(server.shard, (enum wio_admit_kind)kind, server.now_ns),
                         WIO_OK);
        assert_int_equal(wio_admit_get_kind(server.shard), kind);
        struct wio_admit_gauges gauges;
        wio_admit_gauges(server.shard, &gauges);
        assert_int_equal(gauges.queued, 5);
    }
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(server_serve(&server, 1000), 1000 + i);
    }
    assert_int_equal(wio_admit_set_kind(server.shard, WIO_ADMIT_KIND_COUNT, 0), WIO_ERR_USAGE);
    server_stop(&server);
}

static unsigned serve_until(struct server *server, uint64_t end_ns)
{
    unsigned served = 0;
    while (server->now_ns < end_ns) {
        if (server_serve(server, 1000) == UINT64_MAX) {
            uint64_t wake_ns = wio_admit_wake_ns(server->shard);
            server->now_ns = wake_ns < end_ns ? wake_ns : end_ns;
        } else {
            served++;
        }
    }
    return served;
}

/* tbf: 1000 operations a second of job 1, others as they come; then 100 a second, live. */
static void rules_hold_and_change(void **state)
{
    (void)state;
    struct server server = begin(WIO_ADMIT_TBF);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_rule rule = {.id = 1,
                            .job = 1,
                            .uid = WIO_RULE_ANY,
                            .operation = WIO_RULE_ANY,
                            .ops_per_s = 1000,
                            .burst_s = 0.002};
    assert_ok(wio_admit_set_rules(server.total, &rule, 1, &err), &err);
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    fill(&server, client, 1, 400);
    fill(&server, client, 2, 50);
    assert_in_range(serve_until(&server, server.now_ns + 100 * MS), 50 + 100, 50 + 104);
    rule.ops_per_s = 100;
    assert_ok(wio_admit_set_rules(server.total, &rule, 1, &err), &err);
    assert_in_range(serve_until(&server, server.now_ns + 100 * MS), 9, 12);
    struct wio_admit_request request = server_request(client, 5);
    request.remaining_ns = 500 * MS;
    assert_false(server_ask(&server, &request)); /* 290 wait at 100 a second */
    assert_int_equal(server.reply.reason, WIO_ADMIT_REASON_RATE);
    assert_in_range(server.reply.hint, 2000, 3100);
    assert_ok(wio_admit_set_rules(server.total, &rule, 0, &err), &err);
    assert_in_range(serve_until(&server, server.now_ns + 1 * MS), 285, 300);
    server_stop(&server);
}

static void clocks_that_go_back_do_no_harm(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_ADMIT_KIND_COUNT; kind++) {
        struct server server = begin((enum wio_admit_kind)kind);
        uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
        unsigned served = 0;
        static const uint64_t times[] = {5000000000, 1, 9000000000, 3000000, 9000000001};
        for (unsigned i = 0; i < 5; i++) {
            server.now_ns = times[i];
            struct wio_admit_request request = server_request(client, i);
            served += server_ask(&server, &request);
            server.now_ns = times[4 - i];
            (void)server_serve(&server, 1000);
            struct wio_admit_grant grant;
            while (wio_admit_push(server.shard, server.now_ns, &grant)) {
            }
        }
        assert_int_equal(served, 5);
        server_stop(&server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_queue_is_the_most),
        cmocka_unit_test(half_is_of_all_shards),
        cmocka_unit_test(pools_have_queues_of_their_own),
        cmocka_unit_test(retries_raise_the_priority),
        cmocka_unit_test(forged_and_replayed_tickets_are_new_requests),
        cmocka_unit_test(old_peers_are_told_of_a_time_out),
        cmocka_unit_test(what_expires_is_not_run),
        cmocka_unit_test(what_must_not_be_refused_is_not),
        cmocka_unit_test(the_policy_changes_live),
        cmocka_unit_test(rules_hold_and_change),
        cmocka_unit_test(clocks_that_go_back_do_no_harm),
    };
    return WIO_RUN(tests);
}
