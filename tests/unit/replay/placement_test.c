/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank plays which process. */
#include "support/unit.h"

#include <string.h>

#include <whyio/trace.h>

#include "replay/initial/plan.h"
#include "replay/launcher/placement.h"
#include "support/script_open.h"

/* mpirun makes two ranks; rank 1 runs a shell that becomes the program, which runs a child. */
#define JOB                                                                                        \
    "process 9\n"                                                                                  \
    "process 10 parent=0 rank=0 start=20\n"                                                        \
    "process 11 parent=0 start=30\n"                                                               \
    "process 11 parent=2 rank=1 start=40\n"                                                        \
    "process 12 parent=3 start=50\n"                                                               \
    "stream 0 9\nstream 1 10\nstream 2 11\nstream 3 11\nstream 4 12\n"                             \
    "fork stream=0 t=10 res=10\n"                                                                  \
    "fork stream=0 t=20 res=11\n"                                                                  \
    "close stream=1 t=25 fd=3\n"                                                                   \
    "close stream=2 t=35 fd=3\n"                                                                   \
    "fork stream=3 t=45 res=12\n"                                                                  \
    "close stream=4 t=55 fd=3\n"

static struct wio_trace *trace;
static struct rp_plan *plan;

static int make(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    trace = script_open(JOB);
    assert_ok(rp_plan_create(trace, false, &plan, &err), &err);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    rp_plan_destroy(plan);
    wio_trace_close(trace);
    return 0;
}

static uint32_t group_of(int32_t pid)
{
    for (uint32_t i = 0; i < plan->family.group_count; i++) {
        if (wio_trace_process(trace, plan->family.groups[i].head)->pid == pid) {
            return i;
        }
    }
    fail_msg("no process %d", pid);
    return 0;
}

static void each_rank_plays_its_own(void **state)
{
    (void)state;
    uint32_t homes[8];
    struct wio_error err = WIO_ERROR_INIT;
    assert_int_equal(rp_home_ranks(&plan->family), 2);
    assert_ok(rp_home_assign(&plan->family, 2, homes, &err), &err);
    assert_int_equal(homes[group_of(9)], 0); /* the launcher */
    assert_int_equal(homes[group_of(10)], 0);
    assert_int_equal(homes[group_of(11)], 1);
    assert_int_equal(homes[group_of(12)], 1); /* its child */
    assert_false(plan->family.groups[group_of(10)].is_remote);
    assert_true(plan->family.groups[group_of(11)].is_remote);
    assert_false(plan->family.groups[group_of(12)].is_remote);
}

static void another_number_is_refused(void **state)
{
    (void)state;
    uint32_t homes[8];
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(rp_home_assign(&plan->family, 3, homes, &err), WIO_ERR_USAGE, &err);
    assert_non_null(strstr(err.message, "the trace has 2 ranks, and the launcher has started 3"));
}

int main(void)
{
#define HOME_TEST(name) cmocka_unit_test_setup_teardown(name, make, drop)
    const struct CMUnitTest tests[] = {
        HOME_TEST(each_rank_plays_its_own),
        HOME_TEST(another_number_is_refused),
    };
    return WIO_RUN(tests);
}
