/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheme of the source document, worked through by hand. A target with memory for 64 contexts
 * of 16 KiB, a queue of 40, operations of 5 ms: 64 requests run, 20 of one tenant wait (half of the
 * queue), the next is refused with a hint of 20 waiting x 5 ms + its own 5 ms = 105 ms. One with a
 * time-out of 50 ms is refused although the queue has room. The refused one comes again when 15
 * have been served, and runs before those that came later.
 */
#include <stdio.h>
#include <string.h>

#include "server.h"

#define MS ((uint64_t)1000000)

static char text[4096];

static void note(const struct server *server, const char *what, bool is_accepted)
{
    size_t used = strlen(text);
    const struct wio_admit_reply *reply = &server->reply;
    struct wio_admit_gauges gauges;
    wio_admit_gauges(server->shard, &gauges);
    snprintf(text + used, sizeof(text) - used,
             "%s: %s, reason %s, hint %u ms, waiting %u, running %u\n", what,
             is_accepted ? "waits" : "refused", wio_admit_reason_name(reply->reason), reply->hint,
             gauges.queued, gauges.in_flight);
}

static void start_64(struct server *server, uint32_t client, struct wio_admit_work running[64])
{
    for (unsigned i = 0; i < 64; i++) {
        struct wio_admit_request request = server_request(client, i);
        request.job = 1 + i % 8;
        assert_true(server_ask(server, &request));
        assert_true(wio_admit_next(server->shard, server->now_ns, &running[i]));
    }
}

static void finish(struct server *server, const struct wio_admit_work *work)
{
    server->now_ns += 5 * MS;
    struct wio_admit_served served = {.now_ns = server->now_ns, .service_ns = 5 * MS};
    assert_int_equal(wio_admit_done(server->shard, work->handle, &served, &server->reply), WIO_OK);
}

static void works_as_worked_out_by_hand(void **state)
{
    (void)state;
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = WIO_ADMIT_HINT;
    server.settings.cost_first_ns = 5 * MS;
    server.settings.memory_bytes = (64 << 14) + (40 << 10);
    server.settings.reserve_bytes = 0;
    server.settings.queue_total = 40;
    server_start(&server);
    uint32_t client = server_join(&server, 7, WIO_ADMIT_FEATURE_REJECT | WIO_ADMIT_FEATURE_TICKET);
    struct wio_admit_work running[64];
    start_64(&server, client, running);
    struct wio_admit_work none;
    for (unsigned i = 100; i < 120; i++) {
        struct wio_admit_request request = server_request(client, i);
        assert_true(server_ask(&server, &request));
        assert_false(wio_admit_next(server.shard, server.now_ns, &none));
    }
    struct wio_admit_request refused = server_request(client, 200);
    note(&server, "half full", server_ask(&server, &refused));
    refused.ticket = server.reply.ticket;
    struct wio_admit_request urgent = server_request(client, 201);
    urgent.job = 2;
    urgent.remaining_ns = 50 * MS;
    note(&server, "50 ms", server_ask(&server, &urgent));
    for (unsigned i = 0; i < 15; i++) {
        finish(&server, &running[i]);
        assert_true(wio_admit_next(server.shard, server.now_ns, &running[i]));
        assert_int_equal(running[i].cookie, 100 + i);
    }
    for (unsigned i = 300; i < 303; i++) {
        struct wio_admit_request later = server_request(client, i);
        note(&server, "later", server_ask(&server, &later));
    }
    note(&server, "again", server_ask(&server, &refused));
    for (unsigned i = 15; i < 24; i++) {
        finish(&server, &running[i]);
        assert_true(wio_admit_next(server.shard, server.now_ns, &running[i]));
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%llu ", (unsigned long long)running[i].cookie);
    }
    assert_string_equal(text,
                        "half full: refused, reason half, hint 105 ms, waiting 20, running 64\n"
                        "50 ms: refused, reason timeout, hint 105 ms, waiting 20, running 64\n"
                        "later: waits, reason none, hint 0 ms, waiting 6, running 64\n"
                        "later: waits, reason none, hint 0 ms, waiting 7, running 64\n"
                        "later: waits, reason none, hint 0 ms, waiting 8, running 64\n"
                        "again: waits, reason none, hint 0 ms, waiting 9, running 64\n"
                        "115 116 117 118 119 200 300 301 302 ");
    server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(works_as_worked_out_by_hand)};
    return WIO_RUN(tests);
}
