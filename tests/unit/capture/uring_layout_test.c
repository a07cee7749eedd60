/* SPDX-License-Identifier: Apache-2.0 */
/* Our view of liburing's structure is liburing's, in the version that is installed. */

#include "support/unit.h"

#include <liburing.h>

#include "capture/async/uring.h"

#define SAME(ours, theirs)                                                                         \
    assert_int_equal(offsetof(struct cap_lib_uring, ours), offsetof(struct io_uring, theirs))

static void test_submission_side(void **state)
{
    (void)state;
    SAME(sq.head, sq.khead);
    SAME(sq.tail, sq.ktail);
    SAME(sq.entries, sq.kring_entries);
    SAME(sq.array, sq.array);
    SAME(sq.sqes, sq.sqes);
    SAME(sq.sqe_head, sq.sqe_head);
    SAME(sq.sqe_tail, sq.sqe_tail);
    SAME(sq.ring_bytes, sq.ring_sz);
    SAME(sq.ring, sq.ring_ptr);
}

static void test_completion_side(void **state)
{
    (void)state;
    SAME(cq.head, cq.khead);
    SAME(cq.tail, cq.ktail);
    SAME(cq.entries, cq.kring_entries);
    SAME(cq.cqes, cq.cqes);
    SAME(cq.ring_bytes, cq.ring_sz);
    SAME(cq.ring, cq.ring_ptr);
    SAME(flags, flags);
    SAME(ring_fd, ring_fd);
    SAME(features, features);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_submission_side),
        cmocka_unit_test(test_completion_side),
    };
    return WIO_RUN(tests);
}
