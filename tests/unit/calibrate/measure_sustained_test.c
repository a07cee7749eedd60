/* SPDX-License-Identifier: Apache-2.0 */
/* The row that shows how a device goes on, on a clock that only writes move. */
#include "support/unit.h"

#include <math.h>

#include "base/cleanup.h"
#include "calibrate/measure/measure_sustained.h"

#define MIB (UINT64_C(1) << 20)
#define LARGEST_TIMES 63 /* of the largest write: what all else may write at least */

/* Seconds of a write of so many bytes that begins then, after so many others. */
typedef double clocked_write(double begin_s, uint64_t size, size_t before);

struct clocked {
    clocked_write *write;
    double now_s;
    double begin_s; /* of the row: the end of the rest */
    size_t writes;  /* of the row */
    size_t rows;
};

static double now_s(void *context)
{
    const struct clocked *clocked = context;
    return clocked->now_s;
}

static void rest(void *context, double seconds)
{
    struct clocked *clocked = context;
    clocked->now_s += seconds;
    clocked->begin_s = clocked->now_s;
    clocked->writes = 0;
    clocked->rows++;
}

static enum wio_status write_clocked(void *context, const struct wio_rig_io *io,
                                     double *seconds_out, struct wio_error *err)
{
    (void)err;
    struct clocked *clocked = context;
    *seconds_out = clocked->write(clocked->now_s - clocked->begin_s, io->size, clocked->writes++);
    clocked->now_s += *seconds_out;
    return WIO_OK;
}

static struct wio_rig rig_of(struct clocked *clocked)
{
    return (struct wio_rig){
        .context = clocked, .now_s = now_s, .rest = rest, .write = write_clocked};
}

/* 2 ms each, but 40 for those that would be under way at 0.05, 0.1, 0.3 and 0.35 s. */
static double waits_at_uneven_distances(double begin_s, uint64_t size, size_t before)
{
    (void)size;
    (void)before;
    static const double late_s[] = {0.05, 0.1, 0.3, 0.35};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(late_s); i++) {
        if (begin_s <= late_s[i] && begin_s + 0.002 > late_s[i]) {
            return 0.04;
        }
    }
    return 0.002;
}

/* What so many bytes for rows tell of a device that takes 2 ms for most writes. */
static struct wio_sustained_rate held(struct clocked *clocked, uint64_t hold_bytes)
{
    const struct wio_rig rig = rig_of(clocked);
    const struct wio_calibrate_params params = {.max_bytes = 1024 * MIB};
    struct wio_measure measure = {.rig = &rig,
                                  .params = &params,
                                  .bytes_left = 1024 * MIB,
                                  .largest = 8 * MIB,
                                  .hold_bytes = hold_bytes,
                                  .bypass_bytes = 32 * MIB,
                                  .stage_end_s = INFINITY};
    struct wio_series like = {.levels = 1, .count = {1}, .samples = {{0.002}}};
    struct wio_sustained_rate hold;
    struct wio_error err;
    assert_ok(wio_measure_hold(&measure, &like, &hold, &err), &err);
    return hold;
}

/* More bytes would not make them even. */
static void uneven_waits_are_not_too_short(void **state)
{
    (void)state;
    struct clocked clocked = {.write = waits_at_uneven_distances};
    struct wio_sustained_rate hold = held(&clocked, 1024 * MIB);
    assert_true(isnan(hold.byte_s));
    assert_false(hold.is_short);
    assert_int_equal(clocked.rows, 3); /* something may have disturbed the others */
}

/* Nor does it say so when the bytes end in a later row. */
static void a_row_that_lasted_counts(void **state)
{
    (void)state;
    struct clocked clocked = {.write = waits_at_uneven_distances};
    assert_false(held(&clocked, 220 * MIB).is_short);
    assert_true(clocked.rows > 1);
}

static void rows_that_ended_early_are_too_short(void **state)
{
    (void)state;
    struct clocked clocked = {.write = waits_at_uneven_distances};
    struct wio_sustained_rate hold = held(&clocked, 20 * MIB);
    assert_true(isnan(hold.byte_s));
    assert_true(hold.is_short);
}

/* The largest size that has room shows a faster device than the sizes before it did. */
static double gets_faster(double begin_s, uint64_t size, size_t before)
{
    (void)begin_s;
    (void)before;
    return (double)size / (double)(size < MIB / 2 ? 150 * MIB : 250 * MIB);
}

static void leaves_enough_for_all_else(void **state)
{
    (void)state;
    struct clocked clocked = {.write = gets_faster};
    const struct wio_rig rig = rig_of(&clocked);
    const struct wio_calibrate_params params = {.max_bytes = 64 * MIB, .budget_s = 60};
    struct wio_measure measure = {.rig = &rig, .params = &params, .bytes_left = 64 * MIB};
    struct wio_error err;
    assert_ok(wio_measure_base(&measure, &err), &err);
    assert_int_equal(measure.largest, MIB / 2);
    assert_int_equal(measure.hold_bytes, 64 * MIB - LARGEST_TIMES * MIB / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uneven_waits_are_not_too_short),
        cmocka_unit_test(a_row_that_lasted_counts),
        cmocka_unit_test(rows_that_ended_early_are_too_short),
        cmocka_unit_test(leaves_enough_for_all_else),
    };
    return WIO_RUN(tests);
}
