/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores of System V whose value is set, and waits until one is 0. R-SYNC-6 */
#include "infer_script.h"

#define ONE (INT64_MIN + 8)
#define TWO (INT64_MIN + 9)

static void set(struct script *script, uint32_t thread, uint64_t at_ns, int64_t value)
{
    (void)add_args(script, thread, WIO_OP_semctl, at_ns, at_ns + 1, (int64_t[4]){ONE, value});
}

static void act(struct script *script, uint32_t thread, enum wio_op op, uint64_t begin_ns,
                uint64_t end_ns)
{
    (void)add_args(script, thread, op, begin_ns, end_ns, (int64_t[4]){ONE});
}

/* Behind another operation of the same call. */
static void act_too(struct script *script, uint32_t thread, enum wio_op op, uint64_t begin_ns,
                    uint64_t end_ns)
{
    act(script, thread, op, begin_ns, end_ns);
    script->events[script->count - 1].flags = WIO_EVENT_CAUSED;
}

/* Each thread does something first, which edges come from. */
static void begin_all(struct script *script)
{
    begin(script, false);
    for (uint32_t t = 0; t < THREADS; t++) {
        (void)add(script, t, WIO_OP_write, 1, 2);
    }
}

/* Nothing was in it, or is known of it: a wait ends when it is set. */
static void a_value_that_is_set_lets_go(void **state)
{
    (void)state;
    for (unsigned is_known = 0; is_known < 2; is_known++) {
        struct script s;
        begin_all(&s);
        if (is_known != 0) {
            set(&s, 1, 3, 0);
        }
        act(&s, 1, WIO_OP_semop, 5, 30);
        act(&s, 2, WIO_OP_semop, 6, 31);
        set(&s, 0, 20, 2);
        finish(&s);
        assert_int_equal(s.edges.edge_count, 2);
        assert_edge(&s, 0, 0, 1, 1 + is_known, WIO_EDGE_HARD);
        assert_edge(&s, 0, 0, 2, 1, WIO_EDGE_HARD);
        end(&s);
    }
}

/* It held as much before, so it is not needed. */
static void a_value_that_was_there_gives_nothing(void **state)
{
    (void)state;
    struct script s;
    begin_all(&s);
    set(&s, 0, 3, 3);
    set(&s, 1, 5, 2);
    act(&s, 2, WIO_OP_semop, 10, 11);
    act(&s, 3, WIO_OP_semop, 12, 13);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 0);
    end(&s);
}

/* Of three one is the semctl's. */
static void a_value_that_is_set_gives_the_difference(void **state)
{
    (void)state;
    struct script s;
    begin_all(&s);
    set(&s, 0, 3, 2);
    set(&s, 1, 5, 3);
    act(&s, 2, WIO_OP_semop, 10, 11);
    act(&s, 2, WIO_OP_semop, 12, 13);
    act(&s, 2, WIO_OP_semop, 14, 15);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 1, 0, 2, 3, WIO_EDGE_HARD);
    end(&s);
}

/* A take before it was set is not waited for. */
static void a_waiter_for_zero_may_wait_for_semctl(void **state)
{
    (void)state;
    struct script s;
    begin_all(&s);
    set(&s, 3, 3, 5);
    act(&s, 1, WIO_OP_semop, 4, 5);
    act(&s, 2, WIO_OP_semop_zero, 6, 30);
    set(&s, 0, 20, 0);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 1);
    assert_edge(&s, 0, 0, 2, 1, WIO_EDGE_HARD);
    end(&s);
}

/* Its call ends late: what was posted and taken after it was empty does not matter. */
static void zero_is_the_first_moment_of_the_call(void **state)
{
    (void)state;
    struct script s;
    begin_all(&s);
    set(&s, 0, 3, 1);
    act(&s, 0, WIO_OP_semop_zero, 5, 100);
    act(&s, 1, WIO_OP_semop, 10, 11);
    act(&s, 2, WIO_OP_semop_post, 50, 51);
    act(&s, 3, WIO_OP_semop, 60, 61);
    finish(&s);
    assert_edge(&s, 1, 0, 0, 2, WIO_EDGE_HARD);
    for (size_t i = 0; i < s.edges.edge_count; i++) {
        assert_false(s.edges.edges[i].from_thread == 3);
    }
    end(&s);
}

/* The same where the take had not come back when the next post came. */
static void zero_may_be_before_calls_end(void **state)
{
    (void)state;
    struct script s;
    begin_all(&s);
    set(&s, 0, 3, 1);
    act(&s, 0, WIO_OP_semop_zero, 5, 100);
    act(&s, 1, WIO_OP_semop, 10, 90);
    act(&s, 2, WIO_OP_semop_post, 50, 51);
    act(&s, 3, WIO_OP_semop, 60, 61);
    finish(&s);
    assert_edge(&s, 1, 0, 0, 2, WIO_EDGE_HARD);
    for (size_t i = 0; i < s.edges.edge_count; i++) {
        assert_false(s.edges.edges[i].from_thread == 3 && s.edges.edges[i].to_thread == 0);
    }
    end(&s);
}

/* A lock made of one: wait for 0 and add one, take it away. Two wait, one of them is first. */
static void a_lock_of_a_semaphore_passes_on(void **state)
{
    (void)state;
    struct script s;
    begin_all(&s);
    set(&s, 3, 3, 0);
    act(&s, 0, WIO_OP_semop_zero, 5, 6);
    act_too(&s, 0, WIO_OP_semop_post, 5, 6);
    act(&s, 1, WIO_OP_semop_zero, 7, 21);
    act_too(&s, 1, WIO_OP_semop_post, 7, 21);
    act(&s, 2, WIO_OP_semop_zero, 8, 41);
    act_too(&s, 2, WIO_OP_semop_post, 8, 41);
    act(&s, 0, WIO_OP_semop, 20, 21);
    act(&s, 1, WIO_OP_semop, 40, 41);
    act(&s, 2, WIO_OP_semop, 50, 51);
    finish(&s);
    assert_edge(&s, 0, 2, 1, 1, WIO_EDGE_HARD);
    assert_edge(&s, 1, 2, 2, 1, WIO_EDGE_HARD);
    for (size_t i = 0; i < s.edges.edge_count; i++) {
        assert_true(s.edges.edges[i].from_thread < s.edges.edges[i].to_thread);
    }
    end(&s);
}

/* One call takes of one semaphore and posts another: that comes when it need no longer wait. */
static void a_call_that_waits_posts_at_its_end(void **state)
{
    (void)state;
    struct script s;
    begin_all(&s);
    act(&s, 0, WIO_OP_semop, 10, 100);
    act_too(&s, 0, WIO_OP_semop_post, 10, 100);
    s.events[s.count - 1].arg[0] = TWO;
    for (uint32_t t = 1; t < 3; t++) { /* one after the other wait for it */
        act(&s, t, WIO_OP_semop, 12 + t, t == 1 ? 31 : 99);
        s.events[s.count - 1].arg[0] = TWO;
    }
    act(&s, 3, WIO_OP_semop_post, 30, 31);
    s.events[s.count - 1].arg[0] = TWO;
    act(&s, 3, WIO_OP_semop_post, 90, 91);
    finish(&s);
    assert_int_equal(s.edges.edge_count, 3);
    assert_edge(&s, 3, 0, 1, 1, WIO_EDGE_QUEUE);
    assert_edge(&s, 3, 1, 0, 1, WIO_EDGE_HARD);
    assert_edge(&s, 0, 1, 2, 1, WIO_EDGE_QUEUE);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_that_is_set_lets_go),
        cmocka_unit_test(a_value_that_was_there_gives_nothing),
        cmocka_unit_test(a_value_that_is_set_gives_the_difference),
        cmocka_unit_test(a_waiter_for_zero_may_wait_for_semctl),
        cmocka_unit_test(zero_is_the_first_moment_of_the_call),
        cmocka_unit_test(zero_may_be_before_calls_end),
        cmocka_unit_test(a_lock_of_a_semaphore_passes_on),
        cmocka_unit_test(a_call_that_waits_posts_at_its_end),
    };
    return WIO_RUN(tests);
}
