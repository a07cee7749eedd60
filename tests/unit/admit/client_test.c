/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "support/unit.h"

#include "admit/client.h"
#include "admit/negotiate.h"

#define MS ((uint64_t)1000000)

static struct wio_sender *begin(struct wio_sender_settings settings)
{
    struct wio_sender *sender = NULL;
    assert_int_equal(wio_sender_create(&settings, &WIO_ALLOC_HEAP, &sender), WIO_OK);
    return sender;
}

static struct wio_sender_settings with(uint32_t features)
{
    struct wio_sender_settings settings = wio_sender_settings_default();
    settings.features = features;
    settings.retry_burst = 0;
    return settings;
}

static struct wio_sender_action expect(struct wio_sender *sender, uint64_t now_ns,
                                       enum wio_sender_end end)
{
    struct wio_sender_action action;
    assert_true(wio_sender_next(sender, now_ns, &action));
    assert_int_equal(action.end, end);
    return action;
}

static void waits_a_random_part_of_the_hint(void **state)
{
    (void)state;
    struct wio_sender *sender = begin(with(WIO_ADMIT_FEATURE_REJECT | WIO_ADMIT_FEATURE_TICKET));
    struct wio_admit_reply busy = {.answer = WIO_ADMIT_BUSY,
                                   .reason = WIO_ADMIT_REASON_QUEUE_TOTAL,
                                   .hint = 100,
                                   .ticket = {.sequence = 9, .mac = 1}};
    unsigned early = 0;
    for (unsigned i = 0; i < 200; i++) {
        uint64_t now_ns = 1000 * MS * (i + 1);
        assert_int_equal(wio_sender_submit(sender, i, 900 * MS, now_ns), WIO_OK);
        struct wio_sender_action first = expect(sender, now_ns, WIO_SENDER_PENDING);
        assert_int_equal(first.flags, WIO_ADMIT_REJECT);
        struct wio_sender_result result;
        assert_true(wio_sender_reply(sender, first.number, &busy, now_ns, &result));
        assert_int_equal(result.end, WIO_SENDER_PENDING);
        uint64_t wake_ns = wio_sender_wake_ns(sender);
        assert_in_range(wake_ns, now_ns, now_ns + 100 * MS);
        early += wake_ns < now_ns + 50 * MS;
        struct wio_sender_action again = expect(sender, wake_ns, WIO_SENDER_PENDING);
        assert_int_equal(again.number, first.number);
        assert_int_equal(again.ticket.sequence, 9);
        assert_int_equal(again.tries, 1);
        struct wio_admit_reply done = {.answer = WIO_ADMIT_ACCEPTED};
        assert_true(wio_sender_reply(sender, again.number, &done, wake_ns, &result));
        assert_int_equal(result.end, WIO_SENDER_DONE);
        assert_false(wio_sender_reply(sender, again.number, &done, wake_ns, &result));
    }
    assert_in_range(early, 70, 130);
    assert_int_equal(wio_sender_counts(sender)->late, 200);
    wio_sender_destroy(sender);
}

/* An old server says only that the time has ended: waits double, up to a bound. */
static void backs_off_without_hints(void **state)
{
    (void)state;
    struct wio_sender_settings settings = with(0);
    settings.back_off_max_ns = 8 * MS;
    struct wio_sender *sender = begin(settings);
    struct wio_admit_reply reply = {.answer = WIO_ADMIT_TIMED_OUT};
    uint64_t now_ns = MS;
    assert_int_equal(wio_sender_submit(sender, 1, 10000 * MS, now_ns), WIO_OK);
    uint64_t longest = 0;
    for (unsigned i = 0; i < 50; i++) {
        struct wio_sender_action action = expect(sender, now_ns, WIO_SENDER_PENDING);
        assert_int_equal(action.flags, 0);
        struct wio_sender_result result;
        assert_true(wio_sender_reply(sender, action.number, &reply, now_ns, &result));
        assert_int_equal(result.end, WIO_SENDER_PENDING);
        uint64_t wait_ns = wio_sender_wake_ns(sender) - now_ns;
        uint64_t most_ns = i < 3 ? MS << i : 8 * MS;
        assert_in_range(wait_ns, 0, most_ns);
        longest = wait_ns > longest ? wait_ns : longest;
        now_ns += wait_ns;
    }
    assert_true(longest > 4 * MS);
    wio_sender_destroy(sender);
}

static void a_budget_limits_retries(void **state)
{
    (void)state;
    struct wio_sender_settings settings = with(WIO_ADMIT_FEATURE_REJECT);
    settings.retry_burst = 5;
    settings.retry_share = 0.5;
    struct wio_sender *sender = begin(settings);
    struct wio_admit_reply busy = {
        .answer = WIO_ADMIT_BUSY, .reason = WIO_ADMIT_REASON_MEMORY, .hint = 1};
    struct wio_admit_reply done = {.answer = WIO_ADMIT_ACCEPTED};
    unsigned again = 0;
    uint64_t now_ns = MS;
    struct wio_sender_result result = {.end = WIO_SENDER_PENDING};
    for (unsigned i = 0; i < 20; i++, now_ns += 10 * MS) {
        assert_int_equal(wio_sender_submit(sender, i, MS * 5000, now_ns), WIO_OK);
        struct wio_sender_action action = expect(sender, now_ns, WIO_SENDER_PENDING);
        assert_true(wio_sender_reply(sender, action.number, &busy, now_ns, &result));
        if (result.end == WIO_SENDER_BUSY) {
            assert_int_equal(result.reason, WIO_ADMIT_REASON_MEMORY);
            continue;
        }
        again++;
        action = expect(sender, now_ns + MS, WIO_SENDER_PENDING);
        assert_true(wio_sender_reply(sender, action.number, &done, now_ns, &result));
    }
    assert_int_equal(again, 9); /* 5, and one for each two that succeeded: 5 + 2 + 1 + 1 */
    wio_sender_destroy(sender);
}

static void windows_bound_what_is_in_flight(void **state)
{
    (void)state;
    struct wio_sender *sender = begin(with(WIO_ADMIT_FEATURES));
    uint64_t now_ns = MS;
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(wio_sender_submit(sender, i, 500 * MS, now_ns), WIO_OK);
    }
    struct wio_sender_action action = expect(sender, now_ns, WIO_SENDER_PENDING);
    assert_int_equal(action.demand, 9);
    struct wio_sender_action none;
    assert_false(wio_sender_next(sender, now_ns, &none)); /* the first window is 1 */
    struct wio_admit_reply busy = {.answer = WIO_ADMIT_BUSY,
                                   .reason = WIO_ADMIT_REASON_TENANT,
                                   .hint = 50,
                                   .has_window = true};
    struct wio_sender_result result;
    assert_true(wio_sender_reply(sender, action.number, &busy, now_ns, &result));
    assert_int_equal(result.end, WIO_SENDER_PENDING);
    assert_false(wio_sender_next(sender, now_ns + 49 * MS, &none));
    wio_sender_grant(sender, 3, now_ns + 49 * MS);
    struct wio_sender_action again = expect(sender, now_ns + 49 * MS, WIO_SENDER_PENDING);
    assert_int_equal(again.number, action.number); /* before the others */
    assert_int_equal(again.demand, 9);
    (void)expect(sender, now_ns + 49 * MS, WIO_SENDER_PENDING);
    (void)expect(sender, now_ns + 49 * MS, WIO_SENDER_PENDING);
    assert_false(wio_sender_next(sender, now_ns + 49 * MS, &none));
    assert_int_equal(wio_sender_in_flight(sender), 3);
    wio_sender_destroy(sender);
}

/* The push is lost: after the hint one request asks again. */
static void a_lost_window_is_asked_for(void **state)
{
    (void)state;
    struct wio_sender *sender = begin(with(WIO_ADMIT_FEATURES));
    assert_int_equal(wio_sender_submit(sender, 1, 900 * MS, MS), WIO_OK);
    struct wio_sender_action action = expect(sender, MS, WIO_SENDER_PENDING);
    struct wio_admit_reply busy = {.answer = WIO_ADMIT_BUSY,
                                   .reason = WIO_ADMIT_REASON_TENANT,
                                   .hint = 50,
                                   .has_window = true};
    struct wio_sender_result result;
    assert_true(wio_sender_reply(sender, action.number, &busy, MS, &result));
    uint64_t wake_ns = wio_sender_wake_ns(sender);
    assert_in_range(wake_ns, 51 * MS, 101 * MS);
    (void)expect(sender, wake_ns, WIO_SENDER_PENDING);
    assert_int_equal(wio_sender_counts(sender)->probes, 1);
    wio_sender_destroy(sender);
}

static void deadlines_end_everything(void **state)
{
    (void)state;
    struct wio_sender *sender = begin(with(WIO_ADMIT_FEATURES));
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(wio_sender_submit(sender, i, 10 * MS, MS), WIO_OK);
    }
    (void)expect(sender, MS, WIO_SENDER_PENDING);
    assert_int_equal(wio_sender_wake_ns(sender), 11 * MS);
    for (unsigned i = 0; i < 5; i++) {
        (void)expect(sender, 11 * MS, WIO_SENDER_TIMED_OUT);
    }
    assert_int_equal(wio_sender_pending(sender), 0);
    assert_int_equal(wio_sender_in_flight(sender), 0);
    assert_int_equal(wio_sender_wake_ns(sender), WIO_ADMIT_NEVER);
    wio_sender_destroy(sender);
}

/* What one late answer took is forgotten, not believed for a second: others would have the server
 * for themselves. */
static void a_late_answer_is_soon_forgotten(void **state)
{
    (void)state;
    struct wio_sender *sender = begin(with(WIO_ADMIT_FEATURES));
    const struct wio_admit_reply done = {
        .answer = WIO_ADMIT_ACCEPTED, .has_window = true, .window = 8};
    struct wio_sender_result result;
    uint64_t now_ns = MS;
    assert_int_equal(wio_sender_submit(sender, 1, 1000 * MS, now_ns), WIO_OK);
    struct wio_sender_action sent = expect(sender, now_ns, WIO_SENDER_PENDING);
    now_ns += 400 * MS;
    assert_true(wio_sender_reply(sender, sent.number, &done, now_ns, &result));

    assert_int_equal(wio_sender_submit(sender, 2, 100 * MS, now_ns), WIO_OK);
    sent = expect(sender, now_ns, WIO_SENDER_PENDING);
    assert_int_equal(wio_sender_submit(sender, 3, 100 * MS, now_ns), WIO_OK);
    (void)expect(sender, now_ns, WIO_SENDER_TIMED_OUT); /* beside one that is under way */
    assert_true(wio_sender_reply(sender, sent.number, &done, now_ns, &result));
    assert_int_equal(wio_sender_submit(sender, 4, 100 * MS, now_ns + MS), WIO_OK);
    (void)expect(sender, now_ns + MS, WIO_SENDER_TIMED_OUT);
    assert_int_equal(wio_sender_submit(sender, 5, 100 * MS, now_ns + 400 * MS), WIO_OK);
    (void)expect(sender, now_ns + 400 * MS, WIO_SENDER_PENDING);
    wio_sender_destroy(sender);
}

static void a_restart_keeps_requests_and_forgets_tickets(void **state)
{
    (void)state;
    struct wio_sender *sender = begin(with(WIO_ADMIT_FEATURES));
    assert_int_equal(wio_sender_submit(sender, 1, 5000 * MS, MS), WIO_OK);
    struct wio_sender_action first = expect(sender, MS, WIO_SENDER_PENDING);
    struct wio_admit_reply busy = {.answer = WIO_ADMIT_BUSY,
                                   .reason = WIO_ADMIT_REASON_TENANT,
                                   .hint = 1,
                                   .has_window = true,
                                   .ticket = {.sequence = 4, .mac = 2}};
    struct wio_sender_result result;
    assert_true(wio_sender_reply(sender, first.number, &busy, MS, &result));
    wio_sender_grant(sender, 1, 2 * MS);
    assert_int_equal(expect(sender, 2 * MS, WIO_SENDER_PENDING).ticket.sequence, 4);
    wio_sender_reconnect(sender, 0, 3 * MS); /* an old server now */
    assert_int_equal(wio_sender_in_flight(sender), 0);
    struct wio_sender_action again = expect(sender, wio_sender_wake_ns(sender), WIO_SENDER_PENDING);
    assert_int_equal(again.number, first.number);
    assert_int_equal(again.ticket.sequence, 0);
    assert_int_equal(again.flags, 0);
    wio_sender_destroy(sender);
}

static void has_bounds(void **state)
{
    (void)state;
    struct wio_sender_settings settings = wio_sender_settings_default();
    struct wio_sender *sender;
    settings.pending_max = 2;
    sender = begin(settings);
    assert_int_equal(wio_sender_submit(sender, 1, 0, 1), WIO_OK);
    assert_int_equal(wio_sender_submit(sender, 2, UINT64_MAX, 1), WIO_OK);
    assert_int_equal(wio_sender_submit(sender, 3, 0, 1), WIO_ERR_BUSY);
    wio_sender_destroy(sender);
    settings.pending_max = 0;
    assert_int_equal(wio_sender_create(&settings, &WIO_ALLOC_HEAP, &sender), WIO_ERR_USAGE);
    settings = wio_sender_settings_default();
    settings.retry_share = NAN;
    assert_int_equal(wio_sender_create(&settings, &WIO_ALLOC_HEAP, &sender), WIO_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_a_random_part_of_the_hint),
        cmocka_unit_test(backs_off_without_hints),
        cmocka_unit_test(a_budget_limits_retries),
        cmocka_unit_test(windows_bound_what_is_in_flight),
        cmocka_unit_test(a_lost_window_is_asked_for),
        cmocka_unit_test(deadlines_end_everything),
        cmocka_unit_test(a_late_answer_is_soon_forgotten),
        cmocka_unit_test(a_restart_keeps_requests_and_forgets_tickets),
        cmocka_unit_test(has_bounds),
    };
    return WIO_RUN(tests);
}
