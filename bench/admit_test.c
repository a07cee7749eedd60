/* SPDX-License-Identifier: Apache-2.0 */
/* Floors of admission under overload, in virtual time: the same in each run. */
#include <string.h>

#include "support/unit.h"

#include "admit_sim.h"

#define MS ((uint64_t)1000000)
#define US ((uint64_t)1000)

static struct sim_result result; /* large */

static struct sim_config brief(enum sim_scheme scheme, double load)
{
    struct sim_config config = sim_default(scheme);
    config.load = load;
    config.duration_ns = 1500 * MS;
    config.warm_ns = 300 * MS;
    config.timeout_ns = 200 * MS;
    return config;
}

#define assert_at_least(value, least)                                                              \
    do {                                                                                           \
        if (!((value) >= (least))) {                                                               \
            fail_msg("%s is %g, expected at least %g", #value, (double)(value), (double)(least));  \
        }                                                                                          \
    } while (0)
#define assert_at_most(value, most)                                                                \
    do {                                                                                           \
        if (!((value) <= (most))) {                                                                \
            fail_msg("%s is %g, expected at most %g", #value, (double)(value), (double)(most));    \
        }                                                                                          \
    } while (0)

static void credit_holds_its_goodput(void **state)
{
    (void)state;
    static const struct {
        double load;
        uint64_t service_ns;
        double goodput;
    } rows[] = {{2, 100 * US, 0.97}, {10, 100 * US, 0.95}, {2, 10 * US, 0.93}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sim_config config = brief(SIM_CREDIT, rows[i].load);
        config.service_ns = rows[i].service_ns;
        config.duration_ns = rows[i].service_ns < 100 * US ? 700 * MS : config.duration_ns;
        sim_run(&config, &result);
        print_message("# credit %gx, %llu us: goodput %.4f, queue %u, refusals p99 %u, Jain %.4f\n",
                      rows[i].load, (unsigned long long)(rows[i].service_ns / US), result.goodput,
                      result.queue_max, result.refusals_p99, result.fairness);
        assert_at_least(result.goodput, rows[i].goodput);
        assert_at_most(result.refusals_p99, 2);
        assert_at_least(result.fairness, 0.99);
        assert_at_most(result.queue_max, 256);
    }
}

/* From half load to 1.4 x: after 20 ms the queue stays within four targets, and the core is of
 * use. */
static void credit_settles_after_a_spike(void **state)
{
    (void)state;
    struct sim_config config = brief(SIM_CREDIT, 1.4);
    config.load_before = 0.5;
    config.spike_ns = 500 * MS;
    sim_run(&config, &result);
    double settled_ms = sim_settled_ms(&result, 40);
    double busy = 0;
    for (unsigned i = 20; i < 520; i++) {
        busy += result.busy_slot[i] / 500;
    }
    print_message("# spike: settled after %g ms, then %.4f useful\n", settled_ms, busy);
    assert_at_most(settled_ms, 20);
    assert_at_least(busy, 0.97);
}

static void small_tenants_are_served_at_once(void **state)
{
    (void)state;
    struct sim_config config = brief(SIM_CREDIT, 10);
    config.small = 10;
    config.small_load = 0.002;
    sim_run(&config, &result);
    print_message("# small tenants at 10x: p99 %.2f ms, %.4f in time\n", result.small_p99_ms,
                  result.small_goodput);
    assert_at_most(result.small_p99_ms, 20);
    assert_at_least(result.small_goodput, 0.99);
}

static void credit_follows_a_jump(void **state)
{
    (void)state;
    struct sim_config config = brief(SIM_CREDIT, 2);
    config.service = SIM_JUMP;
    sim_run(&config, &result);
    print_message("# jump tenfold: credit %.4f\n", result.goodput);
    assert_at_least(result.goodput, 0.93);
    config = brief(SIM_SHIPPED, 2);
    config.service = SIM_JUMP;
    sim_run(&config, &result);
    print_message("# jump tenfold: constants %.4f\n", result.goodput);
    assert_at_most(result.goodput, 0.5);
}

static void closed_loops_are_served(void **state)
{
    (void)state;
    struct sim_config config = brief(SIM_CREDIT, 0);
    config.clients = 2000;
    config.outstanding = 64;
    config.duration_ns = 1000 * MS;
    sim_run(&config, &result);
    print_message("# 2000 x 64: credit %.4f, refusals %.3f\n", result.goodput, result.refusals);
    assert_at_least(result.goodput, 0.95);
    assert_at_most(result.refusals_p99, 2);
}

/* What the default is compared with: without control the queue takes all the time that requests
 * have, and constants know nothing of it. */
static void the_others_fall(void **state)
{
    (void)state;
    double goodput[SIM_SCHEME_COUNT];
    for (unsigned scheme = 0; scheme < SIM_SCHEME_COUNT; scheme++) {
        struct sim_config config = brief((enum sim_scheme)scheme, 10);
        config.duration_ns = 800 * MS;
        config.timeout_ns = 100 * MS;
        sim_run(&config, &result);
        goodput[scheme] = result.goodput;
        print_message("# 10x: %s %.4f\n", sim_scheme_name((enum sim_scheme)scheme), result.goodput);
    }
    assert_at_most(goodput[SIM_FIFO], 0.1);
    assert_at_most(goodput[SIM_SHIPPED], 0.1);
    assert_at_most(goodput[SIM_HINT], 0.5);
    assert_at_least(goodput[SIM_CREDIT], goodput[SIM_DRR]);
    struct sim_config config = brief(SIM_HINT, 2);
    config.duration_ns = 800 * MS;
    config.timeout_ns = 100 * MS;
    sim_run(&config, &result);
    assert_at_least(result.goodput, 5 * goodput[SIM_HINT]);
}

static void clients_that_lie_gain_little(void **state)
{
    (void)state;
    struct sim_config config = brief(SIM_CREDIT, 2);
    config.tenants = config.clients = 100;
    config.liars = 5;
    config.ignorant = 5;
    sim_run(&config, &result);
    print_message("# liars get %.3f, ignorant %.3f of a fair share; goodput %.4f\n",
                  result.liar_share, result.ignorant_share, result.goodput);
    assert_at_most(result.liar_share, 1.2); /* they are in line when others have nothing to ask */
    assert_at_most(result.ignorant_share, 1.1);
    assert_at_least(result.goodput, 0.95);
}

static void old_peers_work_both_ways(void **state)
{
    (void)state;
    struct sim_config config = brief(SIM_CREDIT, 2);
    config.old = 500;
    sim_run(&config, &result);
    print_message("# half old clients: goodput %.4f, old share %.3f\n", result.goodput,
                  result.old_share);
    assert_at_least(result.goodput, 0.9);
    assert_at_least(result.old_share, 0.1);
    config = brief(SIM_FIFO, 0.8);
    config.is_old_server = true;
    sim_run(&config, &result);
    assert_at_least(result.goodput, 0.7);
}

static void a_restart_does_no_harm(void **state)
{
    (void)state;
    struct sim_config config = brief(SIM_CREDIT, 2);
    config.restart_ns = 700 * MS;
    sim_run(&config, &result);
    print_message("# restart: goodput %.4f\n", result.goodput);
    assert_at_least(result.goodput, 0.95);
}

static void the_same_seed_gives_the_same(void **state)
{
    (void)state;
    static struct sim_result again;
    struct sim_config config = brief(SIM_CREDIT, 2);
    config.duration_ns = 400 * MS;
    sim_run(&config, &result);
    sim_run(&config, &again);
    assert_memory_equal(&result, &again, sizeof(result));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credit_holds_its_goodput),
        cmocka_unit_test(credit_settles_after_a_spike),
        cmocka_unit_test(small_tenants_are_served_at_once),
        cmocka_unit_test(credit_follows_a_jump),
        cmocka_unit_test(closed_loops_are_served),
        cmocka_unit_test(the_others_fall),
        cmocka_unit_test(clients_that_lie_gain_little),
        cmocka_unit_test(old_peers_work_both_ways),
        cmocka_unit_test(a_restart_does_no_harm),
        cmocka_unit_test(the_same_seed_gives_the_same),
    };
    return WIO_RUN(tests);
}
