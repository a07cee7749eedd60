/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and locks of windows: what threads wait for beside mutexes (infer_test.c). */
#include "infer_script.h"

enum { PLACE = 0x1000, WINDOW = 9, GIVES = 1, TAKES = 2 };

static void meet(struct script *script, uint32_t thread, uint64_t at_ns, int64_t round,
                 int64_t size, int64_t role)
{
    (void)add_args(script, thread, WIO_OP_pthread_barrier_wait, at_ns, at_ns + 5,
                   (int64_t[4]){PLACE, round, size, role});
}

static void assert_members(const struct script *script, size_t i, size_t count)
{
    assert_true(i < script->edges.collective_count);
    assert_int_equal(script->edges.collectives[i].count, count);
}

/* Two rounds of three; the fourth thread has a process of its own, and so another barrier there. */
static void a_round_of_a_barrier_is_one_meeting(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    s.streams[3].process = 1;
    for (int64_t round = 0; round < 2; round++) {
        for (uint32_t t = 0; t < THREADS; t++) {
            meet(&s, t, 10 + 20 * (uint64_t)round + t, round, 3, GIVES | TAKES);
        }
    }
    finish(&s);
    assert_int_equal(s.edges.collective_count, 2);
    assert_members(&s, 0, 3);
    assert_members(&s, 1, 3);
    end(&s);
}

/* Whose rounds are not numbered: so many as belong together, as they come. */
static void rounds_without_numbers_are_counted(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    for (uint64_t i = 0; i < 4; i++) {
        meet(&s, (uint32_t)(i % 2), 10 * (i + 1), -1, 2, GIVES | TAKES);
    }
    finish(&s);
    assert_int_equal(s.edges.collective_count, 2);
    end(&s);
}

/* The team's master does not wait where its threads begin: they take, it gives. */
static void roles_are_kept(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    meet(&s, 0, 10, 0, 2, GIVES);
    meet(&s, 1, 12, 0, 2, TAKES);
    finish(&s);
    assert_int_equal(s.edges.collective_count, 1);
    const struct wio_member *members = &s.edges.members[s.edges.collectives[0].first];
    for (size_t i = 0; i < 2; i++) {
        assert_true(members[i].gives == (members[i].thread == 0));
        assert_true(members[i].takes == (members[i].thread == 1));
    }
    end(&s);
}

static void one_alone_meets_no_other(void **state)
{
    (void)state;
    struct script s;
    begin(&s, true);
    meet(&s, 0, 10, 0, 1, GIVES | TAKES);
    finish(&s);
    assert_int_equal(s.edges.collective_count, 0);
    end(&s);
}

/* MPI: the window's lock goes from the unlock to the wait for it, but shared ones wait for
 * no shared ones. */
static void a_window_is_locked_by_one(void **state)
{
    (void)state;
    for (int64_t is_shared = 0; is_shared < 2; is_shared++) {
        struct script s;
        begin(&s, false);
        const int64_t args[4] = {WINDOW, is_shared};
        (void)add_args(&s, 0, WIO_OP_MPI_Win_lock, 10, 11, args);
        (void)add(&s, 0, WIO_OP_fsync, 12, 13);
        (void)add_args(&s, 0, WIO_OP_MPI_Win_unlock, 20, 21, args);
        (void)add_args(&s, 1, WIO_OP_MPI_Win_lock, 15, 25, args);
        finish(&s);
        assert_int_equal(s.edges.edge_count, is_shared ? 0 : 1);
        end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_of_a_barrier_is_one_meeting),
        cmocka_unit_test(rounds_without_numbers_are_counted),
        cmocka_unit_test(roles_are_kept),
        cmocka_unit_test(one_alone_meets_no_other),
        cmocka_unit_test(a_window_is_locked_by_one),
    };
    return WIO_RUN(tests);
}
