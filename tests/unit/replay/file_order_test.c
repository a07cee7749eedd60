/* SPDX-License-Identifier: Apache-2.0 */
/* Which operation has to come after which of another thread. */
#include "support/unit.h"

#include <errno.h>
#include <string.h>

#include "ops/calls.h"
#include "replay/initial/file_order.h"

static struct rp_file_order order;
static uint64_t next_seq[4];

static int drop(void **state)
{
    (void)state;
    rp_file_order_fini(&order);
    memset(next_seq, 0, sizeof(next_seq));
    return 0;
}

static struct wio_event event_of(enum wio_op op, uint32_t stream, uint64_t t_ns, uint64_t dur_ns)
{
    return (struct wio_event){.op = (uint16_t)op,
                              .stream = stream,
                              .seq = next_seq[stream]++,
                              .t_ns = t_ns,
                              .dur_ns = dur_ns,
                              .fd = -1,
                              .fd2 = -1,
                              .offset = WIO_NO_OFFSET,
                              .size = WIO_NO_SIZE};
}

static void see(const struct wio_event *event, const char *path)
{
    assert_int_equal(rp_file_order_see(&order, event, path, ""), WIO_OK);
}

static void name(enum wio_op op, uint32_t stream, uint64_t t_ns, int error, const char *path)
{
    struct wio_event event = event_of(op, stream, t_ns, 5);
    event.error = (uint16_t)error;
    see(&event, path);
}

static void finish(uint32_t count)
{
    assert_int_equal(rp_file_order_finish(&order, 4), WIO_OK);
    assert_int_equal(order.count, count);
}

static void assert_item(uint32_t index, uint32_t stream, uint64_t seq, uint32_t other,
                        uint64_t other_ns)
{
    assert_int_equal(order.items[index].stream, stream);
    assert_int_equal(order.items[index].seq, seq);
    assert_int_equal(order.items[index].other, other);
    assert_int_equal(order.items[index].other_ns, other_ns);
}

static void a_name_is_made_used_and_removed_in_this_order(void **state)
{
    (void)state;
    name(WIO_OP_access, 0, 10, ENOENT, "/a");
    name(WIO_OP_mkdir, 1, 20, 0, "/a");
    name(WIO_OP_access, 2, 30, 0, "/a");
    name(WIO_OP_access, 3, 40, 0, "/a");
    name(WIO_OP_rmdir, 1, 50, 0, "/a");
    finish(5);
    assert_item(0, 1, 0, 0, 10); /* made after it was missed */
    assert_int_equal(order.items[1].seq, 1);
    assert_int_equal(order.items[2].seq, 1); /* removed after both lookups */
    assert_item(3, 2, 0, 1, 20);
    assert_item(4, 3, 0, 1, 20);
    assert_int_equal(order.first[1], 0);
    assert_int_equal(order.first[2], 3);
}

static void lookups_and_disjoint_writes_are_free(void **state)
{
    (void)state;
    for (uint32_t stream = 0; stream < 4; stream++) {
        struct wio_event event = event_of(WIO_OP_pwrite, stream, 10 + stream, 5);
        event.offset = (int64_t)stream * 100;
        event.size = 100;
        event.result = 100;
        see(&event, "/a");
        name(WIO_OP_access, stream, 20 + stream, 0, "/b");
    }
    finish(0);
}

static void what_meets_the_end_precedes_what_moves_it(void **state)
{
    (void)state;
    struct wio_event read = event_of(WIO_OP_pread, 0, 10, 5);
    read.offset = 0;
    read.size = 100;
    read.result = 10;
    see(&read, "/a");
    struct wio_event write = event_of(WIO_OP_pwrite, 1, 20, 5);
    write.offset = 10;
    write.size = 5;
    write.result = 5;
    see(&write, "/a");
    finish(1);
    assert_item(0, 1, 0, 0, 10);
}

static void of_overlapping_calls_the_result_decides(void **state)
{
    (void)state;
    struct wio_event lost = event_of(WIO_OP_mkdir, 0, 10, 100);
    lost.error = EEXIST;
    see(&lost, "/a");
    name(WIO_OP_mkdir, 1, 20, 0, "/a");
    finish(1);
    assert_item(0, 0, 0, 1, 20); /* it began first, and found what the other one made */
}

static void a_directory_is_read_between_changes_of_its_entries(void **state)
{
    (void)state;
    name(WIO_OP_mkdir, 0, 10, 0, "/d/x");
    name(WIO_OP_mkdir, 1, 20, 0, "/d/y");
    name(WIO_OP_readdir, 2, 30, 0, "/d");
    name(WIO_OP_readdir, 2, 40, 0, "/d"); /* waits for nothing more */
    name(WIO_OP_rmdir, 3, 50, 0, "/d/x");
    assert_int_equal(rp_file_order_finish(&order, 4), WIO_OK);
    assert_int_equal(order.first[3] - order.first[2], 2);
    assert_int_equal(order.first[1] + order.first[2], 0);
}

static void modes(uint32_t stream, uint64_t t_ns, uint64_t dur_ns, enum wio_op op, int64_t arg)
{
    struct wio_event event = event_of(op, stream, t_ns, dur_ns);
    event.arg[0] = arg;
    see(&event, "/a");
}

static void what_a_mode_permits_comes_between_its_changes(void **state)
{
    (void)state;
    modes(0, 10, 5, WIO_OP_chmod, 0600);
    modes(1, 20, 5, WIO_OP_access, 4);
    modes(0, 30, 5, WIO_OP_chmod, 0);
    finish(2);
    assert_item(0, 0, 1, 1, 20);
    assert_item(1, 1, 0, 0, 10);
}

static void a_lookup_that_did_not_find_an_overlapping_change_precedes_it(void **state)
{
    (void)state;
    modes(0, 10, 100, WIO_OP_chmod, 0);
    modes(1, 20, 5, WIO_OP_access, 4);
    finish(1);
    assert_item(0, 0, 0, 1, 20);
}

static void a_change_that_the_overlapping_one_needs_precedes_it(void **state)
{
    (void)state;
    name(WIO_OP_mkdir, 2, 1, 0, "/a");
    struct wio_event make = event_of(WIO_OP_mkdir, 0, 10, 100);
    see(&make, "/a");
    name(WIO_OP_rmdir, 1, 20, 0, "/a");
    finish(3);
    assert_item(0, 0, 0, 2, 1);
    assert_item(1, 0, 0, 1, 20); /* made after it was removed .. */
    assert_item(2, 1, 0, 2, 1);  /* .. which was after it was made before */
}

/* The second thread waits for the first one already: nothing may be put before that. */
static void no_thread_waits_for_one_that_waits_for_it(void **state)
{
    (void)state;
    struct wio_event make = event_of(WIO_OP_mkdir, 0, 10, 100);
    see(&make, "/a");
    name(WIO_OP_access, 1, 20, 0, "/a");
    name(WIO_OP_access, 1, 30, ENOENT, "/a");
    finish(1);
    assert_item(0, 1, 0, 0, 10);
}

static void in_mode_causal_failed_lookups_and_lengths_are_free(void **state)
{
    (void)state;
    order.is_needed_only = true;
    name(WIO_OP_access, 0, 10, ENOENT, "/a");
    name(WIO_OP_mkdir, 1, 20, 0, "/a");
    struct wio_event entry = event_of(WIO_OP_readdir, 0, 25, 5);
    see(&entry, "/a");
    name(WIO_OP_mkdir, 1, 30, 0, "/a/b");
    name(WIO_OP_access, 2, 40, 0, "/a/b");
    name(WIO_OP_rmdir, 1, 50, 0, "/a/b");
    finish(3);
    assert_item(0, 1, 2, 2, 40);
    assert_item(1, 2, 0, 1, 20); /* the directory, .. */
    assert_item(2, 2, 0, 1, 30); /* .. and the name in it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_name_is_made_used_and_removed_in_this_order, drop),
        cmocka_unit_test_teardown(lookups_and_disjoint_writes_are_free, drop),
        cmocka_unit_test_teardown(what_meets_the_end_precedes_what_moves_it, drop),
        cmocka_unit_test_teardown(of_overlapping_calls_the_result_decides, drop),
        cmocka_unit_test_teardown(a_directory_is_read_between_changes_of_its_entries, drop),
        cmocka_unit_test_teardown(what_a_mode_permits_comes_between_its_changes, drop),
        cmocka_unit_test_teardown(a_lookup_that_did_not_find_an_overlapping_change_precedes_it,
                                  drop),
        cmocka_unit_test_teardown(a_change_that_the_overlapping_one_needs_precedes_it, drop),
        cmocka_unit_test_teardown(no_thread_waits_for_one_that_waits_for_it, drop),
        cmocka_unit_test_teardown(in_mode_causal_failed_lookups_and_lengths_are_free, drop),
    };
    return WIO_RUN(tests);
}
