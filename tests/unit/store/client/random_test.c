/* SPDX-License-Identifier: Apache-2.0 */
/* Random schedules of the real server and coordinator: serialisable, all or nothing, nothing lost.
 * `store_client_random_test FIRST COUNT` runs other seeds. */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "world.h"

#define SEEDS 8

static struct world world;
static uint64_t first_seed = 1;
static uint64_t seeds = SEEDS;

/* Sums over the seeds: what was seen to happen. */
struct seen {
    uint64_t wounds;
    uint64_t retries;
    uint64_t inquiries;
    uint64_t certain;
};

static struct seen run(struct world_config config)
{
    struct seen seen = {0, 0, 0, 0};
    for (config.seed = first_seed; config.seed < first_seed + seeds; config.seed++) {
        const char *fault = world_run(&world, &config);
        if (fault != NULL) {
            fail_msg("seed %llu: %s", (unsigned long long)config.seed, fault);
        }
        seen.wounds += world.wounds;
        seen.retries += world.retries;
        seen.inquiries += world.inquiries;
        for (uint32_t t = 0; t < world.history.count; t++) {
            seen.certain += world.history.txns[t].is_certain;
        }
    }
    return seen;
}

static void volatile_wound_wait(void **state)
{
    (void)state;
    struct seen seen = run((struct world_config){.policy = WIO_LOCK_WOUND_WAIT, .txns = 400});
    assert_true(seen.wounds > seeds);
}

static void volatile_wait_die(void **state)
{
    (void)state;
    struct seen seen = run((struct world_config){.policy = WIO_LOCK_WAIT_DIE, .txns = 400});
    assert_true(seen.retries > seeds);
}

static void volatile_no_wait(void **state)
{
    (void)state;
    struct seen seen = run((struct world_config){.policy = WIO_LOCK_NO_WAIT, .txns = 400});
    assert_true(seen.retries > seeds);
}

static void volatile_time_out(void **state)
{
    (void)state;
    struct seen seen = run((struct world_config){.policy = WIO_LOCK_TIMEOUT, .txns = 200});
    assert_true(seen.retries > seeds);
}

static void volatile_with_lost_connections(void **state)
{
    (void)state;
    run((struct world_config){.policy = WIO_LOCK_WOUND_WAIT, .txns = 400, .losses = 20});
}

static void stable_in_peace(void **state)
{
    (void)state;
    struct seen seen =
        run((struct world_config){.policy = WIO_LOCK_WOUND_WAIT, .is_stable = true, .txns = 400});
    assert_true(seen.certain == 400 * seeds);
}

static void stable_with_lost_connections(void **state)
{
    (void)state;
    run((struct world_config){
        .policy = WIO_LOCK_WOUND_WAIT, .is_stable = true, .txns = 400, .losses = 20});
}

static void stable_with_crashes(void **state)
{
    (void)state;
    run((struct world_config){
        .policy = WIO_LOCK_WOUND_WAIT, .is_stable = true, .txns = 400, .crashes = 10});
}

static void stable_with_deaths(void **state)
{
    (void)state;
    struct seen seen = run((struct world_config){
        .policy = WIO_LOCK_WOUND_WAIT, .is_stable = true, .txns = 400, .deaths = 10});
    assert_true(seen.inquiries > 0);
}

static void stable_with_all_of_these(void **state)
{
    (void)state;
    for (unsigned policy = 0; policy < WIO_LOCK_POLICIES; policy++) {
        run((struct world_config){.policy = (enum wio_lock_policy)policy,
                                  .is_stable = true,
                                  .txns = 300,
                                  .losses = 10,
                                  .crashes = 5,
                                  .deaths = 5});
    }
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        first_seed = strtoull(argv[1], NULL, 10);
        seeds = strtoull(argv[2], NULL, 10);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volatile_wound_wait),
        cmocka_unit_test(volatile_wait_die),
        cmocka_unit_test(volatile_no_wait),
        cmocka_unit_test(volatile_time_out),
        cmocka_unit_test(volatile_with_lost_connections),
        cmocka_unit_test(stable_in_peace),
        cmocka_unit_test(stable_with_lost_connections),
        cmocka_unit_test(stable_with_crashes),
        cmocka_unit_test(stable_with_deaths),
        cmocka_unit_test(stable_with_all_of_these),
    };
    return WIO_RUN(tests);
}
