/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "support/unit.h"

#include "admit/rules.h"

static struct wio_rules rules;

static struct wio_rule any(uint32_t id)
{
    return (struct wio_rule){.id = id,
                             .job = WIO_RULE_ANY,
                             .uid = WIO_RULE_ANY,
                             .operation = WIO_RULE_ANY,
                             .burst_s = 0.001};
}

static void set(const struct wio_rule *list, uint32_t count)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_rules_set(&rules, list, count, &err), &err);
}

/* How many of `bytes` pass in a second that is looked at every 10 us. */
static unsigned pass(uint64_t bytes, uint64_t from_ns)
{
    unsigned passed = 0;
    for (uint64_t now_ns = from_ns; now_ns < from_ns + 1000000000; now_ns += 10000) {
        while (wio_rules_take(&rules, 0, bytes, now_ns)) {
            passed++;
        }
    }
    return passed;
}

static void the_first_that_matches_counts(void **state)
{
    (void)state;
    struct wio_rule list[] = {any(1), any(2), any(3)};
    list[0].job = 5;
    list[0].operation = 2;
    list[1].uid = 1000;
    set(list, 2);
    assert_int_equal(wio_rules_match(&rules, 5, 1000, 2), 0);
    assert_int_equal(wio_rules_match(&rules, 5, 1000, 3), 1);
    assert_int_equal(wio_rules_match(&rules, 5, 7, 3), 2); /* none */
}

static void limits_operations_and_bytes(void **state)
{
    (void)state;
    struct wio_rule rule = any(1);
    rule.ops_per_s = 1000;
    set(&rule, 1);
    assert_in_range(pass(1 << 20, 1000000000), 1000, 1003);
    rule.id = 2;
    rule.ops_per_s = 0;
    rule.bytes_per_s = 1e6;
    set(&rule, 1);
    assert_in_range(pass(10000, 1000000000), 100, 102);
    rule.id = 3;
    rule.ops_per_s = 50;
    set(&rule, 1);
    assert_in_range(pass(10000, 1000000000), 50, 52);
}

static void a_rule_that_stays_keeps_its_tokens(void **state)
{
    (void)state;
    struct wio_rule list[] = {any(7), any(8)};
    list[0].ops_per_s = list[1].ops_per_s = 10;
    set(list, 1);
    assert_true(wio_rules_take(&rules, 0, 0, 1000000000));
    assert_false(wio_rules_take(&rules, 0, 0, 1000000000));
    struct wio_rule swapped[] = {list[1], list[0]};
    swapped[1].ops_per_s = 1000;
    set(swapped, 2);
    assert_true(wio_rules_take(&rules, 0, 0, 1000000000));
    assert_false(wio_rules_take(&rules, 1, 0, 1000000000));
    assert_true(wio_rules_take(&rules, 1, 0, 1100000000));
}

static void huge_requests_pass_in_the_end(void **state)
{
    (void)state;
    struct wio_rule rule = any(9);
    rule.bytes_per_s = 1000;
    set(&rule, 1);
    assert_true(wio_rules_take(&rules, 0, UINT64_MAX, 1000));
    assert_false(wio_rules_take(&rules, 0, 1, 1000000000));
    assert_true(wio_rules_when_ns(&rules, 0, 1000) < (uint64_t)4000 * 1000000000);
}

/* What passed whatever the rates say is waited for, and that has an end. */
static void a_charge_needs_no_tokens(void **state)
{
    (void)state;
    struct wio_rule rule = any(10);
    rule.ops_per_s = rule.bytes_per_s = 1000;
    set(&rule, 1);
    for (unsigned i = 0; i < 1000; i++) {
        wio_rules_charge(&rules, 0, 1, 1000000000);
    }
    assert_int_equal(wio_rules_when_ns(&rules, 0, 1000000000), 1999000000); /* a burst of 1 ms */
    assert_false(wio_rules_take(&rules, 0, 1, 1998999999));
    assert_true(wio_rules_take(&rules, 0, 1, 1999000000));
    for (unsigned i = 0; i < 1000; i++) {
        wio_rules_charge(&rules, 0, UINT64_MAX, 3000000000);
    }
    assert_int_equal(wio_rules_when_ns(&rules, 0, 3000000000), UINT64_C(3603000000000));
}

static void refuses_what_is_no_rule(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    static struct wio_rule many[WIO_RULES_MAX + 1];
    struct wio_rule rule = any(1);
    rule.ops_per_s = NAN;
    assert_status(wio_rules_set(&rules, &rule, 1, &err), WIO_ERR_USAGE, NULL);
    rule.ops_per_s = -1;
    assert_status(wio_rules_set(&rules, &rule, 1, &err), WIO_ERR_USAGE, NULL);
    rule = any(1);
    rule.burst_s = 0;
    assert_status(wio_rules_set(&rules, &rule, 1, &err), WIO_ERR_USAGE, NULL);
    struct wio_rule twice[] = {any(4), any(4)};
    assert_status(wio_rules_set(&rules, twice, 2, &err), WIO_ERR_USAGE, NULL);
    assert_status(wio_rules_set(&rules, many, WIO_RULES_MAX + 1, &err), WIO_ERR_USAGE, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_that_matches_counts),
        cmocka_unit_test(limits_operations_and_bytes),
        cmocka_unit_test(a_rule_that_stays_keeps_its_tokens),
        cmocka_unit_test(huge_requests_pass_in_the_end),
        cmocka_unit_test(a_charge_needs_no_tokens),
        cmocka_unit_test(refuses_what_is_no_rule),
    };
    return WIO_RUN(tests);
}
