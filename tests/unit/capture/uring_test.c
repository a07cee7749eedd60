/* SPDX-License-Identifier: Apache-2.0 */
/* Rings in ordinary memory, filled by the test in place of program and kernel. */
#include "support/unit.h"

#include <string.h>
#include <unistd.h>

#include "capture/uring.h"

#define ENTRIES 8u
#define RING_FD 1000

static struct {
    unsigned head, tail, mask, entries, flags, dropped;
    unsigned array[ENTRIES];
} sq;
static struct {
    unsigned head, tail, mask, entries;
    struct {
        uint64_t user_data;
        int32_t res;
        uint32_t flags;
    } cqes[2 * ENTRIES]; /* struct io_uring_cqe without its flexible end */
} cq;
static struct io_uring_sqe sqes[ENTRIES];

/* ---- what the walk writes is caught here instead of a ring file ---------------------------------
 */

static struct cap_request submitted[64];
static unsigned submitted_count;
static struct {
    uint64_t key;
    int64_t result;
} completed[64];
static unsigned completed_count;

void __wrap_cap_submit(struct cap_thread *self, const struct cap_event *call,
                       const struct cap_request *request);
void __wrap_cap_complete(struct cap_thread *self, uint64_t key, int64_t result, uint64_t ticks);

void __wrap_cap_submit(struct cap_thread *self, const struct cap_event *call,
                       const struct cap_request *request)
{
    (void)self;
    (void)call;
    submitted[submitted_count++ % 64] = *request;
}

void __wrap_cap_complete(struct cap_thread *self, uint64_t key, int64_t result, uint64_t ticks)
{
    (void)self;
    (void)ticks;
    completed[completed_count % 64].key = key;
    completed[completed_count++ % 64].result = result;
}

/* ---- a ring -------------------------------------------------------------------------------------
 */

static struct cap_uring *make_ring(void)
{
    struct io_uring_params params;
    memset(&params, 0, sizeof(params));
    memset(&sq, 0, sizeof(sq));
    memset(&cq, 0, sizeof(cq));
    memset(sqes, 0, sizeof(sqes));
    submitted_count = 0;
    completed_count = 0;
    params.sq_entries = ENTRIES;
    params.cq_entries = 2 * ENTRIES;
    params.sq_off.ring_entries = offsetof(__typeof__(sq), entries);
    params.sq_off.head = offsetof(__typeof__(sq), head);
    params.sq_off.tail = offsetof(__typeof__(sq), tail);
    params.sq_off.array = offsetof(__typeof__(sq), array);
    params.cq_off.head = offsetof(__typeof__(cq), head);
    params.cq_off.tail = offsetof(__typeof__(cq), tail);
    params.cq_off.cqes = offsetof(__typeof__(cq), cqes);
    cap_uring_opened(RING_FD, &params);
    cap_uring_mapped(RING_FD, IORING_OFF_SQ_RING, &sq, sizeof(sq));
    assert_null(cap_uring_find(RING_FD)); /* not before all parts are known */
    cap_uring_mapped(RING_FD, IORING_OFF_CQ_RING, &cq, sizeof(cq));
    cap_uring_mapped(RING_FD, IORING_OFF_SQES, sqes, sizeof(sqes));
    struct cap_uring *ring = cap_uring_find(RING_FD);
    assert_non_null(ring);
    return ring;
}

static void push(uint64_t user_data, unsigned place)
{
    sqes[place].opcode = IORING_OP_NOP;
    sqes[place].user_data = user_data;
    sq.array[sq.tail % ENTRIES] = place;
    sq.tail++;
}

static void finish(uint64_t user_data, int result)
{
    cq.cqes[cq.tail % (2 * ENTRIES)].user_data = user_data;
    cq.cqes[cq.tail % (2 * ENTRIES)].res = result;
    cq.tail++;
}

static struct cap_uring_batch enter(struct cap_uring *ring, unsigned accepted, long result)
{
    struct cap_event ev = CAP_EVENT_OF(0, 0);
    struct cap_uring_batch batch = cap_uring_before_submit(NULL, &ev, ring, sq.tail);
    sq.head += accepted;
    cap_uring_after_submit(NULL, &ev, &batch, result);
    return batch;
}

static void test_entries_are_read_through_the_array(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    push(11, 5);
    push(12, 2);
    enter(ring, 2, 2);
    assert_int_equal(submitted_count, 2);
    assert_int_equal(submitted[0].ext.arg[1], 11);
    assert_int_equal(submitted[1].ext.arg[1], 12);
    assert_int_equal(submitted[0].ext.arg[0], RING_FD);
    enter(ring, 0, 0);
    assert_int_equal(submitted_count, 2);
    cap_uring_forget(ring);
}

static void test_positions_wrap_around(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    sq.head = sq.tail = UINT32_MAX - 2;
    ring->sq_seen = sq.tail;
    for (unsigned i = 0; i < 6; i++) {
        push(100 + i, i);
    }
    enter(ring, 6, 6);
    assert_int_equal(submitted_count, 6);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(submitted[i].ext.arg[1], 100 + i);
    }
    cap_uring_forget(ring);
}

static void test_what_the_kernel_refused_comes_again(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    push(1, 0);
    push(2, 1);
    push(3, 2);
    enter(ring, 1, 1);
    assert_int_equal(submitted_count, 3);
    assert_int_equal(completed_count, 2); /* 2 and 3 failed for now */
    assert_int_equal(completed[0].key, cap_uring_key(ring, 2));
    assert_int_equal(completed[0].result, -EAGAIN);
    enter(ring, 2, 2);
    assert_int_equal(submitted_count, 5);
    assert_int_equal(submitted[3].ext.arg[1], 2);
    assert_int_equal(completed_count, 2);
    cap_uring_forget(ring);
}

static void test_each_end_is_seen_once(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    finish(1, 512);
    finish(2, -EIO);
    cap_uring_reap(NULL, ring, 1);
    finish(3, 7);
    cap_uring_reap(NULL, ring, 2);
    cap_uring_reap(NULL, ring, 3);
    assert_int_equal(completed_count, 3);
    assert_int_equal(completed[1].key, cap_uring_key(ring, 2));
    assert_int_equal(completed[1].result, -EIO);
    assert_int_equal(completed[2].result, 7);
    cap_uring_forget(ring);
}

static void test_ends_that_were_overwritten_are_given_up(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    for (unsigned i = 0; i < 2 * ENTRIES + 3; i++) {
        finish(i, (int)i);
    }
    cap_uring_reap(NULL, ring, 1);
    assert_int_equal(completed_count, 2 * ENTRIES);
    assert_int_equal(completed[0].result, 3); /* 0, 1, 2 are gone */
    cap_uring_forget(ring);
}

static void test_a_polled_ring_that_went_round(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    ring->flags = IORING_SETUP_SQPOLL;
    for (unsigned i = 0; i < ENTRIES + 2; i++) {
        push(i, i % ENTRIES);
    }
    enter(ring, ENTRIES + 2, 0);
    assert_int_equal(submitted_count, ENTRIES);
    assert_int_equal(submitted[0].ext.arg[1], 2); /* 0 and 1 were overwritten */
    assert_int_equal(submitted[ENTRIES - 1].ext.arg[1], ENTRIES + 1);
    cap_uring_forget(ring);
}

static void test_unmapped_rings_are_left_alone(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    cap_uring_unmapped(&cq, 1);
    assert_null(cap_uring_find(RING_FD));
    cap_uring_forget(ring);
}

static void test_a_child_does_not_touch_its_parents_rings(void **state)
{
    struct cap_uring *ring = make_ring();
    (void)state;
    ring->pid = getpid() + 1;
    assert_null(cap_uring_find(RING_FD));
    cap_uring_forget(ring);
}

static void test_keys_differ_by_ring_and_tag(void **state)
{
    struct cap_uring a = {.number = 1};
    struct cap_uring b = {.number = 2};
    (void)state;
    assert_true(cap_uring_key(&a, 7) == cap_uring_key(&a, 7));
    assert_true(cap_uring_key(&a, 7) != cap_uring_key(&a, 8));
    assert_true(cap_uring_key(&a, 7) != cap_uring_key(&b, 7));
    assert_true(cap_uring_key(&a, 0) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_are_read_through_the_array),
        cmocka_unit_test(test_positions_wrap_around),
        cmocka_unit_test(test_what_the_kernel_refused_comes_again),
        cmocka_unit_test(test_each_end_is_seen_once),
        cmocka_unit_test(test_ends_that_were_overwritten_are_given_up),
        cmocka_unit_test(test_a_polled_ring_that_went_round),
        cmocka_unit_test(test_unmapped_rings_are_left_alone),
        cmocka_unit_test(test_a_child_does_not_touch_its_parents_rings),
        cmocka_unit_test(test_keys_differ_by_ring_and_tag),
    };
    return WIO_RUN(tests);
}
