/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of policy credit. */
#include "server.h"

static struct server begin(void)
{
    struct server server = {.settings = wio_admit_settings_default()};
    server_start(&server);
    return server;
}

/* Fills the queue until client after client is refused. The number of those that were accepted. */
static unsigned crowd(struct server *server, unsigned clients)
{
    unsigned accepted = 0;
    for (unsigned i = 0; i < clients; i++) {
        uint32_t client = server_join(server, 100 + i, WIO_ADMIT_FEATURES);
        struct wio_admit_request request = server_request(client, i);
        request.job = i % 4;
        accepted += server_ask(server, &request);
    }
    return accepted;
}

static void an_idle_server_opens_windows(void **state)
{
    (void)state;
    struct server server = begin();
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    struct wio_admit_request request = server_request(client, 1);
    request.demand = 10;
    assert_true(server_ask(&server, &request));
    assert_int_equal(server_serve(&server, 1000), 1);
    assert_true(server.reply.has_window);
    assert_true(server.reply.window >= 10);
    struct wio_admit_grant grant;
    assert_false(wio_admit_push(server.shard, server.now_ns, &grant)); /* no message more */
    assert_int_equal(wio_admit_wake_ns(server.shard), WIO_ADMIT_NEVER);
    server_stop(&server);
}

static void refused_clients_are_told_when_to_come(void **state)
{
    (void)state;
    struct server server = begin();
    unsigned accepted = crowd(&server, 200);
    assert_in_range(accepted, 10, 60);
    assert_int_equal(server.reply.answer, WIO_ADMIT_BUSY);
    assert_true(server.reply.has_window);
    assert_int_equal(server.reply.window, 0);
    assert_true(server.reply.hint > 0);
    bool is_told[200] = {false};
    unsigned told = 0;
    for (unsigned i = 0; i < 4000 && told < 200 - accepted; i++) {
        struct wio_admit_grant grant;
        while (wio_admit_push(server.shard, server.now_ns, &grant)) {
            assert_true(grant.window >= 1);
            assert_false(is_told[grant.client]);
            is_told[grant.client] = true;
            told++;
        }
        if (server_serve(&server, 100000) == UINT64_MAX) {
            server.now_ns += 100000;
        }
    }
    assert_int_equal(told, 200 - accepted);
    server_stop(&server);
}

static void windows_have_a_bound(void **state)
{
    (void)state;
    struct server server = begin();
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    for (unsigned i = 0; i < 2000; i++) {
        struct wio_admit_request request = server_request(client, i);
        request.demand = UINT16_MAX;
        assert_true(server_ask(&server, &request));
        assert_int_equal(server_serve(&server, 10000), i);
        assert_true(server.reply.window >= 1);
        assert_true(server.reply.window <= WIO_ADMIT_WINDOW_MAX);
    }
    server_stop(&server);
}

/* One that sends on whatever it is told is not read for a while, others are. */
static void floods_are_not_read(void **state)
{
    (void)state;
    struct server server = begin();
    (void)crowd(&server, 100);
    uint32_t flood = server_join(&server, 1, WIO_ADMIT_FEATURES);
    uint64_t pause_ns = 0;
    for (unsigned i = 0; i < 300; i++) {
        struct wio_admit_request request = server_request(flood, i);
        request.job = 99;
        if (!server_ask(&server, &request)) {
            assert_true(server.reply.pause_ns >= pause_ns || server.reply.pause_ns > 0);
            pause_ns = server.reply.pause_ns;
        }
    }
    assert_true(pause_ns > 0);
    uint32_t other = server_join(&server, 2, WIO_ADMIT_FEATURES);
    struct wio_admit_request request = server_request(other, 1);
    request.job = 3;
    (void)server_ask(&server, &request);
    assert_int_equal(server.reply.pause_ns, 0);
    server_stop(&server);
}

static void clients_come_and_go(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.clients_max = 50;
    server_start(&server);
    struct wio_admit_identity identity = {.features = WIO_ADMIT_FEATURES};
    uint64_t seed = 3;
    uint32_t joined[50] = {0};
    unsigned count = 0;
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t client;
        if (wio_admit_join(server.shard, &identity, server.now_ns, &client) == WIO_OK) {
            assert_true(count < 50);
            joined[count++] = client;
        }
        assert_true(count > 0);
        struct wio_admit_request request =
            server_request(joined[wio_test_random(&seed) % (count > 0 ? count : 1)], i);
        request.demand = (uint16_t)(wio_test_random(&seed) % 4);
        (void)server_ask(&server, &request);
        if (count > 1 && wio_test_random(&seed) % 3 == 0) {
            unsigned gone = (unsigned)(wio_test_random(&seed) % count);
            wio_admit_leave(server.shard, joined[gone]);
            wio_admit_leave(server.shard, joined[gone]); /* again: nothing */
            joined[gone] = joined[--count];
        }
        (void)server_serve(&server, 150000);
        struct wio_admit_grant grant;
        while (wio_admit_push(server.shard, server.now_ns, &grant)) {
            bool is_joined = false;
            for (unsigned k = 0; k < count; k++) {
                is_joined |= joined[k] == grant.client;
            }
            assert_true(is_joined);
        }
    }
    server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_server_opens_windows),
        cmocka_unit_test(refused_clients_are_told_when_to_come),
        cmocka_unit_test(windows_have_a_bound),
        cmocka_unit_test(floods_are_not_read),
        cmocka_unit_test(clients_come_and_go),
    };
    return WIO_RUN(tests);
}
