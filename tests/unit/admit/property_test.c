/* SPDX-License-Identifier: Apache-2.0 */
/* Any calls in any order, with each policy: what must hold always. */
#include <string.h>

#include "server.h"
#include "support/stingy.h"

enum { CLIENTS = 12, COOKIES = 6000, RUNNING = 64 };

struct world {
    struct server server;
    uint64_t seed;
    uint32_t clients[CLIENTS];
    struct wio_admit_work running[RUNNING];
    unsigned running_count;
    struct wio_ticket ticket; /* the last, of whatever request */
    uint8_t fate[COOKIES];    /* 0 not seen, 1 accepted, 2 run, 3 expired, 4 refused */
    unsigned submitted;
    bool is_ruled; /* no tenant may fill more than half; fifo knows no such rule */
};

static uint64_t below(struct world *world, uint64_t bound)
{
    return wio_test_random(&world->seed) % bound;
}

static void arrive(struct world *world)
{
    if (world->submitted == COOKIES) {
        return;
    }
    uint32_t cookie = world->submitted++;
    struct wio_admit_request request =
        server_request(world->clients[below(world, CLIENTS)], below(world, 50));
    request.cookie = cookie;
    request.job = (uint32_t)below(world, 6);
    request.uid = (uint32_t)below(world, 3);
    request.pool[0] = below(world, 3);
    request.operation = (uint16_t)below(world, 40);
    request.bytes = (uint64_t)1 << below(world, 64);
    request.demand = (uint16_t)below(world, 100);
    request.held_bytes = below(world, 50) == 0 ? UINT64_MAX - below(world, 3) : below(world, 30000);
    request.remaining_ns = below(world, 3) == 0 ? 0 : below(world, 3000000);
    request.flags = (uint32_t)below(world, 2) | (below(world, 30) == 0 ? WIO_ADMIT_MUST : 0);
    if (below(world, 3) == 0) {
        request.ticket = world->ticket;
    }
    bool is_accepted = server_ask(&world->server, &request);
    world->fate[cookie] = is_accepted ? 1 : 4;
    if (!is_accepted) {
        world->ticket = world->server.reply.ticket;
    }
}

static bool take(struct world *world)
{
    struct wio_admit_work work;
    if (world->running_count == RUNNING ||
        !wio_admit_next(world->server.shard, world->server.now_ns, &work)) {
        return false;
    }
    assert_int_equal(world->fate[work.cookie], 1); /* once, and only what was accepted */
    world->fate[work.cookie] = work.is_expired ? 3 : 2;
    world->running[world->running_count++] = work;
    return true;
}

static void end(struct world *world)
{
    if (world->running_count == 0) {
        return;
    }
    unsigned i = (unsigned)below(world, world->running_count);
    struct wio_admit_served served = {.now_ns = world->server.now_ns,
                                      .service_ns = below(world, 2000000),
                                      .space = (uint8_t)below(world, 6),
                                      .is_cancelled = below(world, 20) == 0};
    assert_int_equal(wio_admit_done(world->server.shard, world->running[i].handle, &served,
                                    &world->server.reply),
                     WIO_OK);
    world->running[i] = world->running[--world->running_count];
}

static void add_up(const struct world *world)
{
    struct wio_admit_gauges gauges;
    wio_admit_gauges(world->server.shard, &gauges);
    const struct wio_admit_counts *counts = wio_admit_counts(world->server.shard);
    assert_true(gauges.memory_bytes <= gauges.memory_limit);
    assert_true(gauges.in_flight <= gauges.in_flight_limit);
    assert_int_equal(counts->arrived, counts->accepted + wio_admit_refused(counts));
    assert_int_equal(counts->accepted, counts->done + counts->expired + counts->cancelled +
                                           gauges.queued + world->running_count);
    struct wio_admit_tenant_counts tenant;
    uint64_t arrived = 0;
    uint64_t done = 0;
    for (uint32_t i = 0; wio_admit_each_tenant(world->server.shard, &i, &tenant);) {
        arrived += tenant.counts->arrived;
        done += tenant.counts->done;
        if (world->is_ruled) {
            assert_true(tenant.queued <= gauges.queue_limit / 2);
        }
    }
    assert_int_equal(arrived, counts->arrived);
    assert_int_equal(done, counts->done);
}

static void step(struct world *world)
{
    struct wio_admit_grant grant;
    switch (below(world, 8)) {
    case 0:
    case 1:
    case 2:
        arrive(world);
        break;
    case 3:
    case 4:
        (void)take(world);
        break;
    case 5:
        end(world);
        break;
    case 6:
        world->server.now_ns += below(world, 200000);
        break;
    default:
        while (wio_admit_push(world->server.shard, world->server.now_ns, &grant)) {
            assert_true(grant.window >= 1 && grant.window <= WIO_ADMIT_WINDOW_MAX);
        }
        break;
    }
}

/* Nothing comes any more: all that was accepted is served or found expired, in bounded time. */
static void drain(struct world *world)
{
    for (unsigned i = 0; i < 20 * COOKIES; i++) {
        if (!take(world)) {
            world->server.now_ns += 100000;
        }
        end(world);
    }
    struct wio_admit_gauges gauges;
    wio_admit_gauges(world->server.shard, &gauges);
    assert_int_equal(gauges.queued, 0);
    assert_int_equal(gauges.memory_bytes, 0);
    assert_int_equal(gauges.in_flight, 0);
    for (unsigned i = 0; i < world->submitted; i++) {
        assert_true(world->fate[i] >= 2);
    }
}

static void run(enum wio_admit_kind kind, uint64_t seed, bool changes)
{
    static struct world world;
    memset(&world, 0, sizeof(world));
    world.seed = seed;
    world.server.settings = wio_admit_settings_default();
    struct wio_admit_settings *settings = &world.server.settings;
    settings->kind = kind;
    world.is_ruled = kind != WIO_ADMIT_FIFO && !changes;
    settings->tenant_by = (enum wio_admit_tenant_by)below(&world, WIO_ADMIT_BY_COUNT);
    settings->memory_bytes = (uint64_t)40 * 16384 + below(&world, 1 << 20);
    settings->reserve_bytes = (uint64_t)8 * 17408;
    settings->queue_total = 8 + (uint32_t)below(&world, 200);
    settings->tenants_max = 16; /* more than come: none is evicted, so that counts add up */
    server_start(&world.server);
    for (unsigned i = 0; i < CLIENTS; i++) {
        world.clients[i] = server_join(&world.server, i, i % 3 == 0 ? 0 : WIO_ADMIT_FEATURES);
    }
    struct wio_rule rule = {.id = 1,
                            .job = 2,
                            .uid = WIO_RULE_ANY,
                            .operation = WIO_RULE_ANY,
                            .ops_per_s = 20000,
                            .bytes_per_s = 1e12,
                            .burst_s = 0.001,
                            .reserve_per_s = 5000,
                            .weight = 3};
    assert_int_equal(wio_admit_set_rules(world.server.total, &rule, 1, NULL), WIO_OK);
    for (unsigned i = 0; i < 3 * COOKIES; i++) {
        step(&world);
        if (i % 16 == 0) {
            add_up(&world);
        }
        if (changes && below(&world, 200) == 0) {
            enum wio_admit_kind next = (enum wio_admit_kind)below(&world, WIO_ADMIT_KIND_COUNT);
            assert_int_equal(wio_admit_set_kind(world.server.shard, next, world.server.now_ns),
                             WIO_OK);
        }
    }
    drain(&world);
    add_up(&world);
    server_stop(&world.server);
}

static void holds_with_each_policy(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_ADMIT_KIND_COUNT; kind++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            run((enum wio_admit_kind)kind, seed * 77 + kind, false);
        }
    }
}

static void holds_while_policies_change(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        run(WIO_ADMIT_CREDIT, seed * 1001, true);
    }
}

/* hint: whatever comes behind, a request that is sent again and again gets in by its id. */
static void none_is_retried_for_ever(void **state)
{
    (void)state;
    static const enum wio_admit_kind kinds[] = {WIO_ADMIT_HINT, WIO_ADMIT_HINT_HEAP};
    for (unsigned k = 0; k < 2; k++) {
        struct server server = {.settings = wio_admit_settings_default()};
        server.settings.kind = kinds[k];
        server.settings.queue_total = 8;
        server_start(&server);
        uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
        struct wio_admit_request old = server_request(client, 1);
        old.job = 9;
        for (unsigned i = 0; i < 8; i++) {
            struct wio_admit_request other = server_request(client, 100 + i);
            other.job = i % 4;
            assert_true(server_ask(&server, &other));
        }
        assert_false(server_ask(&server, &old));
        old.ticket = server.reply.ticket;
        unsigned rounds = 0;
        bool is_in = false;
        for (; rounds < 100 && server_serve(&server, 1000) != 1; rounds++) {
            is_in = is_in || server_ask(&server, &old);
            struct wio_admit_request other = server_request(client, 200 + rounds);
            other.job = rounds % 4;
            (void)server_ask(&server, &other);
        }
        assert_true(rounds <= 8); /* after those that came before it, and none that came later */
        server_stop(&server);
    }
}

static void memory_may_end_at_any_point(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < WIO_ADMIT_KIND_COUNT; kind++) {
        bool is_done = false;
        for (unsigned left = 0; !is_done; left++) {
            assert_true(left < 200);
            struct wio_stingy stingy = {.left = left};
            struct wio_alloc alloc = wio_stingy_alloc(&stingy);
            struct wio_admit_settings settings = wio_admit_settings_default();
            settings.kind = (enum wio_admit_kind)kind;
            struct wio_admit_total *total = NULL;
            struct wio_admit *shard = NULL;
            if (wio_admit_total_create(&settings, &alloc, &total, NULL) == WIO_OK &&
                wio_admit_create(total, &alloc, &shard, NULL) == WIO_OK) {
                struct server server = {.shard = shard, .total = total};
                uint32_t client = WIO_ADMIT_NONE;
                struct wio_admit_identity identity = {.features = WIO_ADMIT_FEATURES};
                if (wio_admit_join(shard, &identity, 0, &client) != WIO_OK) {
                    client = WIO_ADMIT_NONE;
                }
                struct wio_admit_request request = server_request(client, 1);
                unsigned accepted = 0;
                for (unsigned i = 0; i < 40; i++) {
                    request.job = request.uid = i;
                    request.pool[0] = i;
                    accepted += server_ask(&server, &request);
                }
                enum wio_admit_kind next = (kind + 1) % WIO_ADMIT_KIND_COUNT;
                enum wio_status status = wio_admit_set_kind(shard, next, 1);
                for (unsigned i = 0; i < accepted; i++) {
                    assert_int_equal(server_serve(&server, 1), 1);
                }
                is_done = status == WIO_OK && stingy.left > 0;
            }
            wio_admit_destroy(shard);
            wio_admit_total_destroy(total);
            assert_int_equal(stingy.out, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_with_each_policy),
        cmocka_unit_test(holds_while_policies_change),
        cmocka_unit_test(none_is_retried_for_ever),
        cmocka_unit_test(memory_may_end_at_any_point),
    };
    return WIO_RUN(tests);
}
