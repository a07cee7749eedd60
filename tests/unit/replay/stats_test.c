/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdlib.h>

#include "ops/calls.h"
#include "replay/stats.h"

static void sums_up(void **state)
{
    struct rp_tally *tally = malloc(sizeof(*tally));
    struct rp_tally *sum = malloc(sizeof(*sum));
    struct wio_event event = {.op = WIO_OP_pwrite, .t_ns = 50, .dur_ns = 10, .size = 8};
    struct rp_performed performed = {&event, 1000, 1500, 8, false, RP_WHOLE};
    (void)state;
    rp_tally_init(tally);
    rp_tally_init(sum);
    rp_tally_add(tally, 0, &performed);
    event = (struct wio_event){.op = WIO_OP_pread, .t_ns = 90, .dur_ns = 10, .size = 8};
    performed = (struct rp_performed){&event, 2000, 2100, 4, true, RP_WHOLE};
    rp_tally_add(tally, 1, &performed);
    rp_tally_merge(sum, tally);
    assert_int_equal(sum->total.ops, 2);
    assert_int_equal(sum->total.bytes_written, 8);
    assert_int_equal(sum->total.bytes_read, 4);
    assert_int_equal(sum->total.begin_ns, 1000);
    assert_int_equal(sum->total.end_ns, 2100);
    assert_int_equal(sum->total.traced_begin_ns, 50);
    assert_int_equal(sum->total.traced_end_ns, 100);
    assert_int_equal(sum->total.io_ns, 600);
    assert_int_equal(sum->total.mismatches, 1);
    assert_int_equal(sum->phases[0].ops, 1);
    assert_int_equal(sum->phases[1].mismatches, 1);
    free(tally);
    free(sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_up),
    };
    return WIO_RUN(tests);
}
