/* SPDX-License-Identifier: Apache-2.0 */
/* What policy mclock promises: reservations, limits and shares. */
#include <string.h>

#include "server.h"

#define MS ((uint64_t)1000000)

static struct server begin(void)
{
    struct server server = {.settings = wio_admit_settings_default()};
    server.settings.kind = WIO_ADMIT_MCLOCK;
    server_start(&server);
    return server;
}

enum { MCLOCK_JOBS = 4 };

static struct wio_rule rule_of(uint32_t job, double reserve, double most, uint32_t weight)
{
    return (struct wio_rule){.id = job,
                             .job = job,
                             .uid = WIO_RULE_ANY,
                             .operation = WIO_RULE_ANY,
                             .ops_per_s = most,
                             .burst_s = 0.002,
                             .reserve_per_s = reserve,
                             .weight = weight};
}

/* Each job has always something in the queue, of `present`; requests take 100 us, so that the
 * server can do 10,000 a second. How many of each were served in `ns`. */
static void keep_busy(struct server *server, const bool present[MCLOCK_JOBS], uint64_t ns,
                      unsigned served_out[MCLOCK_JOBS])
{
    const uint64_t end_ns = server->now_ns + ns;
    uint32_t client = server_join(server, 1, WIO_ADMIT_FEATURES);
    unsigned waiting[MCLOCK_JOBS] = {0};
    memset(served_out, 0, MCLOCK_JOBS * sizeof(*served_out));
    while (server->now_ns < end_ns) {
        for (unsigned job = 0; job < MCLOCK_JOBS; job++) {
            struct wio_admit_request request = server_request(client, job);
            request.job = job + 1;
            while (present[job] && waiting[job] < 4 && server_ask(server, &request)) {
                waiting[job]++;
            }
        }
        uint64_t job = server_serve(server, 100000);
        if (job == UINT64_MAX) {
            uint64_t wake_ns = wio_admit_wake_ns(server->shard);
            server->now_ns = wake_ns < end_ns ? wake_ns : end_ns;
            continue;
        }
        served_out[job]++;
        waiting[job]--;
    }
    for (unsigned left = 0; left < MCLOCK_JOBS; left++) { /* for the next time */
        while (waiting[left] > 0) {
            uint64_t job = server_serve(server, 1000);
            waiting[left] -= job == left;
            if (job == UINT64_MAX) {
                server->now_ns = wio_admit_wake_ns(server->shard);
            } else if (job != left) {
                waiting[job]--;
            }
        }
    }
    wio_admit_leave(server->shard, client);
}

static const bool all_of_them[MCLOCK_JOBS] = {true, true, true, true};

/* 10,000 a second: job 1 has 6,000 reserved, job 2 no more than 1,000, and what is left goes to
 * jobs 3 and 4 as one to three. */
static void reserves_limits_and_shares(void **state)
{
    (void)state;
    struct server server = begin();
    struct wio_error err = WIO_ERROR_INIT;
    unsigned served[MCLOCK_JOBS];
    const struct wio_rule rules[] = {rule_of(1, 6000, 6000, 1), rule_of(2, 0, 1000, 1000),
                                     rule_of(3, 0, 0, 1), rule_of(4, 0, 0, 3)};
    assert_ok(wio_admit_set_rules(server.total, rules, MCLOCK_JOBS, &err), &err);
    keep_busy(&server, all_of_them, 1000 * MS, served);
    assert_in_range(served[0], 5900, 6100);
    assert_in_range(served[1], 950, 1010);
    assert_in_range(served[2], 700, 800); /* of 3,000 */
    assert_in_range(served[3], 2150, 2350);
    server_stop(&server);
}

/* A reservation is no limit, and what it served counts for the weight, too: with equal weights all
 * have the same, where that is more than what is reserved. */
static void gives_no_more_than_the_share_twice(void **state)
{
    (void)state;
    struct server server = begin();
    struct wio_error err = WIO_ERROR_INIT;
    unsigned served[MCLOCK_JOBS];
    const struct wio_rule rules[] = {rule_of(1, 2000, 0, 1)};
    assert_ok(wio_admit_set_rules(server.total, rules, 1, &err), &err);
    const bool two[MCLOCK_JOBS] = {true, true, false, false};
    keep_busy(&server, two, 1000 * MS, served);
    assert_in_range(served[0], 4900, 5100);
    assert_in_range(served[1], 4900, 5100);
    server_stop(&server);
}

/* A job that was idle takes its share from then on, and none of before. */
static void keeps_nothing_for_the_idle(void **state)
{
    (void)state;
    struct server server = begin();
    struct wio_error err = WIO_ERROR_INIT;
    unsigned served[MCLOCK_JOBS];
    const struct wio_rule rules[] = {rule_of(3, 0, 0, 1), rule_of(4, 0, 0, 1)};
    assert_ok(wio_admit_set_rules(server.total, rules, 2, &err), &err);
    const bool one[MCLOCK_JOBS] = {false, false, true, false};
    const bool both[MCLOCK_JOBS] = {false, false, true, true};
    keep_busy(&server, one, 1000 * MS, served);
    assert_in_range(served[2], 9900, 10001);
    keep_busy(&server, both, 100 * MS, served);
    assert_in_range(served[2], 480, 520);
    assert_in_range(served[3], 480, 520);
    server_stop(&server);
}

/* What a reservation serves counts for the limit, where its tokens are spent, too. */
static void keeps_a_limit_above_a_reservation(void **state)
{
    (void)state;
    for (double reserve = 1000; reserve <= 5000; reserve += 1000) {
        struct server server = begin();
        struct wio_error err = WIO_ERROR_INIT;
        unsigned served[MCLOCK_JOBS];
        const struct wio_rule rules[] = {rule_of(1, reserve, 5000, 1)};
        assert_ok(wio_admit_set_rules(server.total, rules, 1, &err), &err);
        const bool one[MCLOCK_JOBS] = {true, false, false, false};
        keep_busy(&server, one, 1000 * MS, served);
        assert_in_range(served[0], 4900, 5100);
        server_stop(&server);
    }
}

/* .. and for the bytes of one. */
static void keeps_a_limit_of_bytes_above_a_reservation(void **state)
{
    (void)state;
    struct server server = begin();
    struct wio_error err = WIO_ERROR_INIT;
    unsigned served[MCLOCK_JOBS];
    struct wio_rule rule = rule_of(1, 3000, 0, 1);
    rule.bytes_per_s = 5000 * 4096;
    assert_ok(wio_admit_set_rules(server.total, &rule, 1, &err), &err);
    const bool one[MCLOCK_JOBS] = {true, false, false, false};
    keep_busy(&server, one, 1000 * MS, served);
    assert_in_range(served[0], 4900, 5100);
    server_stop(&server);
}

/* The share is of what is run: 40 requests of job 3 that have expired take none of it. */
static void charges_nothing_for_what_has_expired(void **state)
{
    (void)state;
    struct server server = begin();
    struct wio_error err = WIO_ERROR_INIT;
    unsigned served[MCLOCK_JOBS];
    const struct wio_rule rules[] = {rule_of(3, 0, 0, 1), rule_of(4, 0, 0, 1)};
    assert_ok(wio_admit_set_rules(server.total, rules, 2, &err), &err);
    uint32_t client = server_join(&server, 1, WIO_ADMIT_FEATURES);
    for (unsigned i = 0; i < 40; i++) {
        struct wio_admit_request request = server_request(client, i);
        request.job = 3;
        request.remaining_ns = 10 * MS;
        assert_true(server_ask(&server, &request));
    }
    server.now_ns += 20 * MS;
    for (unsigned i = 0; i < 40; i++) {
        assert_int_not_equal(server_serve(&server, 100000), UINT64_MAX);
    }
    assert_int_equal(wio_admit_counts(server.shard)->expired, 40);
    const bool both[MCLOCK_JOBS] = {false, false, true, true};
    keep_busy(&server, both, 10 * MS, served);
    assert_in_range(served[2], 45, 55);
    assert_in_range(served[3], 45, 55);
    server_stop(&server);
}

static void reservations_are_checked(void **state)
{
    (void)state;
    struct server server = begin();
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_rule rule = rule_of(1, 100, 99, 1);
    assert_status(wio_admit_set_rules(server.total, &rule, 1, &err), WIO_ERR_USAGE, &err);
    rule = rule_of(1, -1, 0, 1);
    assert_status(wio_admit_set_rules(server.total, &rule, 1, &err), WIO_ERR_USAGE, &err);
    rule = rule_of(1, 0, 0, 1001);
    assert_status(wio_admit_set_rules(server.total, &rule, 1, &err), WIO_ERR_USAGE, &err);
    server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserves_limits_and_shares),
        cmocka_unit_test(gives_no_more_than_the_share_twice),
        cmocka_unit_test(keeps_nothing_for_the_idle),
        cmocka_unit_test(keeps_a_limit_above_a_reservation),
        cmocka_unit_test(keeps_a_limit_of_bytes_above_a_reservation),
        cmocka_unit_test(charges_nothing_for_what_has_expired),
        cmocka_unit_test(reservations_are_checked),
    };
    return WIO_RUN(tests);
}
