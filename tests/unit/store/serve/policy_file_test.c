/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "store/messages.h"
#include "store/serve/policy_file.h"
#include "store/session/intake.h"

static struct serve_policy policy;
static struct wio_error err;

static enum wio_status parse(const char *text, enum wio_admit_tenant_by by)
{
    err = (struct wio_error)WIO_ERROR_INIT;
    return serve_policy_parse(text, strlen(text), "file", WIO_ADMIT_DRR, by, &policy, &err);
}

static void reads_policy_rules_and_weights(void **state)
{
    (void)state;
    assert_int_equal(parse("# night\npolicy tbf\n\nrule job=climate op=write bytes=100M burst=0.5\n"
                           "rule uid=1000 ops=2000 # all\nweight job=climate 3\nweight uid=7 2",
                           WIO_ADMIT_BY_JOB),
                     WIO_OK);
    assert_int_equal(policy.kind, WIO_ADMIT_TBF);
    assert_int_equal(policy.rule_count, 2);
    const struct wio_rule *first = &policy.rules[0];
    assert_int_equal(first->job, wio_intake_job("climate"));
    assert_int_equal(first->uid, WIO_RULE_ANY);
    assert_int_equal(first->operation, WIO_STORE_WRITE - WIO_STORE_READ);
    assert_true(first->bytes_per_s == 100.0 * (1 << 20));
    assert_true(first->burst_s == 0.5);
    assert_true(first->ops_per_s == 0);
    const struct wio_rule *second = &policy.rules[1];
    assert_int_equal(second->uid, 1000);
    assert_true(second->ops_per_s == 2000);
    assert_int_not_equal(first->id, second->id);
    assert_int_equal(policy.weight_count, 2);
    assert_int_equal(policy.weights[0].key[0], wio_intake_job("climate"));
    assert_int_equal(policy.weights[0].weight, 3);
    assert_int_equal(policy.weights[1].key[1], 8);
}

static void reads_reservations_and_shares(void **state)
{
    (void)state;
    assert_int_equal(parse("policy mclock\n"
                           "rule job=climate op=open ops=2000 reserve=500 share=3\n"
                           "rule uid=7 share=2\n",
                           WIO_ADMIT_BY_JOB),
                     WIO_OK);
    assert_int_equal(policy.kind, WIO_ADMIT_MCLOCK);
    assert_int_equal(policy.rule_count, 2);
    assert_true(policy.rules[0].reserve_per_s == 500);
    assert_int_equal(policy.rules[0].weight, 3);
    assert_int_equal(policy.rules[0].operation, wio_intake_operation(WIO_STORE_OPEN));
    assert_int_equal(policy.rules[1].weight, 2);
    assert_true(policy.rules[1].ops_per_s == 0);
}

static void nothing_is_the_policy_as_it_was(void **state)
{
    (void)state;
    assert_int_equal(parse("", WIO_ADMIT_BY_JOB), WIO_OK);
    assert_int_equal(policy.kind, WIO_ADMIT_DRR);
    assert_int_equal(policy.rule_count + policy.weight_count, 0);
}

static void says_which_line_is_wrong(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\npolicy best",    "\nrule job=a",        "\nrule ops=0",
        "\nrule ops=inf",   "\nrule op=eat ops=1", "\nrule uid=x ops=1",
        "\nweight job=a 0", "\nweight job=a 1001", "\nweight gid=1 1",
        "\nlimit 3",        "\nrule job= ops=1",   "\nrule a b c d e f g h i",
        "\npolicy",         "\nrule burst=1 ops=", "\nweight job=a",
        "\nrule bytes=-1",  "\nrule share=0",      "\nrule share=1001",
        "\nrule reserve=0", "\nrule job=a",        "\nrule ops=5 reserve=6"};
    assert_int_equal(parse("policy hint", WIO_ADMIT_BY_JOB), WIO_OK);
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(parse(texts[i], WIO_ADMIT_BY_JOB), WIO_ERR_FORMAT);
        assert_non_null(strstr(err.message, "line 2: expected "));
        assert_int_equal(policy.kind, WIO_ADMIT_HINT); /* as it was */
    }
    assert_int_equal(parse("weight job=a 1", WIO_ADMIT_BY_UID), WIO_ERR_FORMAT);
    assert_int_equal(parse("weight uid=4 1", WIO_ADMIT_BY_UID), WIO_OK);
    assert_int_equal(policy.weights[0].key[0], 4);
    char longer[600];
    memset(longer, ' ', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(parse(longer, WIO_ADMIT_BY_JOB), WIO_ERR_FORMAT);
    assert_int_equal(
        serve_policy_parse("a\0b", 3, "file", WIO_ADMIT_DRR, WIO_ADMIT_BY_JOB, &policy, &err),
        WIO_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_policy_rules_and_weights),
        cmocka_unit_test(reads_reservations_and_shares),
        cmocka_unit_test(nothing_is_the_policy_as_it_was),
        cmocka_unit_test(says_which_line_is_wrong),
    };
    return WIO_RUN(tests);
}
