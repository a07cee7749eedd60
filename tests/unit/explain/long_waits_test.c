/* SPDX-License-Identifier: Apache-2.0 */
/* The longest waits, on traces made by hand. */
#include "support/unit.h"

#include "explain/digest/long_waits.h"
#include "ops/calls.h"
#include "support/script_open.h"

#define S "000000000"
#define SECOND UINT64_C(1000000000)

struct found {
    struct wio_trace *trace;
    struct wio_long_waits *waits;
};

static struct found find(const char *script, uint32_t count)
{
    const struct wio_long_waits_params params = {.struct_size = sizeof(params), .count = count};
    struct wio_error err = WIO_ERROR_INIT;
    struct found found = {.trace = script_open(script)};

    assert_ok(wio_long_waits_create(found.trace, &params, &found.waits, &err), &err);
    return found;
}

static void end(struct found *found)
{
    wio_long_waits_destroy(found->waits);
    wio_trace_close(found->trace);
}

/* Three waits of rank 0 for messages of rank 1: of 1 s, 3 s, 2 s. An edge begins at what precedes
 * the send: the send itself is the operation that ends the wait. */
static const char messages[] = "process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"
                               "MPI_Recv stream=0 t=0 dur=1" S "\n"
                               "MPI_Recv stream=0 t=2" S " dur=3" S "\n"
                               "MPI_Recv stream=0 t=6" S " dur=2" S "\n"
                               "open stream=1 t=0 dur=1 path=/a res=3\n"
                               "MPI_Send stream=1 t=999999999 dur=1\n"
                               "write stream=1 t=2" S " dur=2" S " fd=3 path=/a off=0 size=4\n"
                               "MPI_Send stream=1 t=4999999999 dur=1\n"
                               "MPI_Send stream=1 t=7999999999 dur=1\n"
                               "edge 1:0 0:0\nedge 1:2 0:1\nedge 1:3 0:2\n";

static void the_longest_comes_first(void **state)
{
    struct found found = find(messages, 2);
    const struct wio_long_wait *rows = found.waits->rows;

    (void)state;
    assert_int_equal(found.waits->seen, 3);
    assert_int_equal(found.waits->total_ns, 6 * SECOND - 3);
    assert_int_equal(found.waits->count, 2);
    assert_int_equal(rows[0].wait_ns, 3 * SECOND - 1);
    assert_int_equal(rows[0].begin_ns, 2 * SECOND);
    assert_int_equal(rows[0].waiter.stream, 0);
    assert_int_equal(rows[0].waiter.seq, 1);
    assert_int_equal(rows[0].waiter.op, WIO_OP_MPI_Recv);
    assert_int_equal(rows[0].other.stream, 1);
    assert_int_equal(rows[0].other.seq, 3);
    assert_int_equal(rows[0].other.op, WIO_OP_MPI_Send);
    assert_int_equal(rows[1].wait_ns, 2 * SECOND - 1);
    assert_int_equal(rows[1].other.seq, 4);
    end(&found);
}

static void as_many_as_are_wanted(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 5; count++) {
        struct found found = find(messages, count);
        assert_int_equal(found.waits->count, count < 3 ? count : 3);
        assert_int_equal(found.waits->seen, 3);
        end(&found);
    }
}

/* At a barrier all wait for the last one, whose operation there is the other end. */
static void a_collective_waits_for_its_last_member(void **state)
{
    struct found found = find("process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"
                              "MPI_Barrier stream=0 t=1" S " dur=3" S "\n"
                              "fsync stream=1 t=1" S " dur=2" S " fd=3 path=/a\n"
                              "MPI_Barrier stream=1 t=4" S " dur=0\n"
                              "collective 0:0 1:1\n",
                              9);

    (void)state;
    assert_int_equal(found.waits->count, 1);
    assert_int_equal(found.waits->rows[0].wait_ns, 3 * SECOND);
    assert_int_equal(found.waits->rows[0].waiter.stream, 0);
    assert_int_equal(found.waits->rows[0].other.stream, 1);
    assert_int_equal(found.waits->rows[0].other.seq, 1);
    assert_int_equal(found.waits->rows[0].other.op, WIO_OP_MPI_Barrier);
    end(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_comes_first),
        cmocka_unit_test(as_many_as_are_wanted),
        cmocka_unit_test(a_collective_waits_for_its_last_member),
    };
    return WIO_RUN(tests);
}
