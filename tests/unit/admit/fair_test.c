/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of tenants by measured cost, with policy drr. */
#include "server.h"

enum { TENANTS = 3 };

/* Keeps `depth` requests of each tenant waiting and serves for a while; what each had, in ns. */
static void serve_all(struct server *server, const uint64_t service_ns[TENANTS],
                      uint64_t had_ns[TENANTS])
{
    uint32_t client = server_join(server, 1, WIO_ADMIT_FEATURES);
    unsigned waiting[TENANTS] = {0};
    for (unsigned i = 0; i < 20000; i++) {
        for (unsigned t = 0; t < TENANTS; t++) {
            struct wio_admit_request request = server_request(client, t);
            request.job = t + 1;
            request.operation = (uint16_t)(t + 1);
            while (waiting[t] < 8 && server_ask(server, &request)) {
                waiting[t]++;
            }
        }
        struct wio_admit_work work;
        assert_true(wio_admit_next(server->shard, server->now_ns, &work));
        uint64_t ns = service_ns[work.cookie];
        server->now_ns += ns;
        struct wio_admit_served served = {.now_ns = server->now_ns, .service_ns = ns};
        assert_int_equal(wio_admit_done(server->shard, work.handle, &served, &server->reply),
                         WIO_OK);
        waiting[work.cookie]--;
        had_ns[work.cookie] += ns;
    }
}

static void shares_are_of_cost_not_of_requests(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = WIO_ADMIT_DRR;
    server_start(&server);
    uint64_t had[TENANTS] = {0};
    serve_all(&server, (const uint64_t[]){10000, 100000, 1000000}, had);
    assert_in_range(had[0], had[2] * 95 / 100, had[2] * 105 / 100);
    assert_in_range(had[1], had[2] * 95 / 100, had[2] * 105 / 100);
    server_stop(&server);
}

static void weights_count(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = WIO_ADMIT_DRR;
    server_start(&server);
    assert_int_equal(wio_admit_set_weight(server.shard, (const uint64_t[]){2, 0}, 3), WIO_OK);
    assert_int_equal(wio_admit_set_weight(server.shard, (const uint64_t[]){2, 0}, 0),
                     WIO_ERR_USAGE);
    uint64_t had[TENANTS] = {0};
    serve_all(&server, (const uint64_t[]){50000, 50000, 50000}, had);
    assert_in_range(had[1], had[0] * 28 / 10, had[0] * 32 / 10);
    assert_in_range(had[2], had[0] * 95 / 100, had[0] * 105 / 100);
    server_stop(&server);
}

/* Ever new tenants, each with one request, do not keep an old one from its turn. */
static void new_tenants_do_not_starve_an_old_one(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = WIO_ADMIT_DRR;
    server.settings.tenants_max = 64;
    server_start(&server);
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    struct wio_admit_request old = server_request(client, 1);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(server_ask(&server, &old));
    }
    unsigned served = 0;
    for (unsigned i = 0; i < 400; i++) {
        struct wio_admit_request fresh = server_request(client, 2);
        fresh.job = 100 + i;
        assert_true(server_ask(&server, &fresh));
        served += server_serve(&server, 100000) == 1;
    }
    assert_int_equal(served, 10);
    server_stop(&server);
}

static void more_tenants_than_are_told_apart_share_one(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = WIO_ADMIT_DRR;
    server.settings.tenants_max = 4;
    server_start(&server);
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    for (unsigned i = 1; i <= 10; i++) {
        struct wio_admit_request request = server_request(client, i);
        request.job = i;
        assert_true(server_ask(&server, &request));
    }
    struct wio_admit_tenant_counts tenant;
    uint32_t i = 0;
    uint64_t accepted = 0;
    while (wio_admit_each_tenant(server.shard, &i, &tenant)) {
        accepted += tenant.counts->accepted;
        assert_int_equal(tenant.queued, tenant.key[0] == 0 ? 6 : 1);
    }
    assert_int_equal(i, 5);
    assert_int_equal(accepted, 10);
    while (server_serve(&server, 1000) != UINT64_MAX) {
    }
    struct wio_admit_request request = server_request(client, 1);
    request.job = 99; /* takes the place of an idle one */
    assert_true(server_ask(&server, &request));
    bool is_found = false;
    for (i = 0; wio_admit_each_tenant(server.shard, &i, &tenant);) {
        is_found |= tenant.key[0] == 99;
    }
    assert_true(is_found);
    server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_of_cost_not_of_requests),
        cmocka_unit_test(weights_count),
        cmocka_unit_test(new_tenants_do_not_starve_an_old_one),
        cmocka_unit_test(more_tenants_than_are_told_apart_share_one),
    };
    return WIO_RUN(tests);
}
