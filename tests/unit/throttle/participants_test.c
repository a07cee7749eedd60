/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "throttle/control/participants.h"

enum { LAUNCHER = 5 };

static void add(struct wio_roster *roster, int32_t rank, int32_t ppid, int32_t launcher)
{
    const struct wio_board_node node = {.rank = rank, .ppid = ppid, .key = roster->count};
    assert_int_equal(wio_roster_add(roster, &node, true), WIO_OK);
    roster->nodes[roster->count - 1].launcher = launcher;
}

static void expect(struct wio_roster *roster, const uint32_t *waves)
{
    wio_roster_find_launches(roster);
    for (uint32_t n = 0; n < roster->count; n++) {
        assert_int_equal(roster->nodes[n].wave, waves[n]);
    }
    wio_roster_fini(roster);
}

/* Something that is not recorded runs mpirun twice: the second time with more ranks. */
static void each_mpirun_is_a_launch(void **state)
{
    (void)state;
    struct wio_roster roster = {0};
    static const uint32_t waves[] = {1, 1, 2, 2, 2};
    add(&roster, 0, 10, LAUNCHER);
    add(&roster, 1, 10, LAUNCHER);
    add(&roster, 2, 20, LAUNCHER);
    add(&roster, 1, 20, LAUNCHER);
    add(&roster, 0, 20, LAUNCHER);
    expect(&roster, waves);
}

static void launches_of_one_rank_are_told_apart(void **state)
{
    (void)state;
    struct wio_roster roster = {0};
    static const uint32_t waves[] = {1, 2, 3, 3};
    add(&roster, 0, 10, LAUNCHER);
    add(&roster, 0, 20, LAUNCHER);
    add(&roster, 1, 30, LAUNCHER);
    add(&roster, 0, 30, LAUNCHER);
    expect(&roster, waves);
}

/* A wrapper that is not recorded starts each rank; or there are two proxies on one host. */
static void ranks_of_several_parents_are_one_launch(void **state)
{
    (void)state;
    struct wio_roster roster = {0};
    static const uint32_t waves[] = {1, 1, 1, 2, 2, 2};
    add(&roster, 1, 10, LAUNCHER);
    add(&roster, 0, 11, LAUNCHER);
    add(&roster, 2, 12, LAUNCHER);
    add(&roster, 0, 20, LAUNCHER);
    add(&roster, 1, 21, LAUNCHER);
    add(&roster, 2, 21, LAUNCHER);
    expect(&roster, waves);
}

static void a_process_without_rank_is_of_no_launch(void **state)
{
    (void)state;
    struct wio_roster roster = {0};
    static const uint32_t waves[] = {0, 1, 0, 2};
    add(&roster, -1, 10, LAUNCHER);
    add(&roster, 0, 10, LAUNCHER);
    add(&roster, 0, 10, 0);
    add(&roster, 1, 10, LAUNCHER + 1);
    expect(&roster, waves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mpirun_is_a_launch),
        cmocka_unit_test(launches_of_one_rank_are_told_apart),
        cmocka_unit_test(ranks_of_several_parents_are_one_launch),
        cmocka_unit_test(a_process_without_rank_is_of_no_launch),
    };
    return WIO_RUN(tests);
}
