/* SPDX-License-Identifier: Apache-2.0 */
/* Which calibrations are in doubt, and why. */
#include "support/unit.h"

#include <math.h>
#include <string.h>

#include "calibrate/trust.h"

static struct wio_calibration quiet(void)
{
    struct wio_calibration calibration = wio_calibration_unknown();
    calibration.elapsed_s = 10;
    calibration.cpu_wait_s = 0.5;
    calibration.params[WIO_PARAM_bw_dev].spread = 0.49;
    calibration.params[WIO_PARAM_c_new].spread = 3; /* a difference of two costs */
    calibration.sync_table.count = 3;
    calibration.table_spread[WIO_CALIBRATE_SYNC][0] = 0.9;
    calibration.table_spread[WIO_CALIBRATE_SYNC][1] = 0.1;
    calibration.table_spread[WIO_CALIBRATE_SYNC][2] = 0.2;
    return calibration;
}

static void an_idle_machine_is_trusted(void **state)
{
    (void)state;
    struct wio_calibration calibration = quiet();
    wio_trust_judge(&calibration);
    assert_int_equal(calibration.doubt_count, 0);
    calibration.cpu_wait_s = (double)NAN; /* not told */
    wio_trust_judge(&calibration);
    assert_int_equal(calibration.doubt_count, 0);
}

static void what_scatters_is_in_doubt(void **state)
{
    (void)state;
    struct wio_calibration calibration = quiet();
    calibration.params[WIO_PARAM_bw_dev].spread = 0.5;
    calibration.params[WIO_PARAM_bw_ramdisk].spread = 0.93;
    calibration.table_spread[WIO_CALIBRATE_SYNC][1] = 0.6;
    wio_trust_judge(&calibration);
    assert_int_equal(calibration.doubt_count, 3);
    assert_string_equal(calibration.doubts[0], "bw_ramdisk scatters by 93 %");
    assert_string_equal(calibration.doubts[1], "bw_dev scatters by 50 %");
    assert_string_equal(calibration.doubts[2], "sync_table scatters by 60 %");
}

static void a_busy_processor_is_in_doubt(void **state)
{
    (void)state;
    struct wio_calibration calibration = quiet();
    calibration.cpu_wait_s = 3;
    wio_trust_judge(&calibration);
    assert_int_equal(calibration.doubt_count, 1);
    assert_string_equal(calibration.doubts[0],
                        "other programs had its processor for 30 % of the time");
}

static void all_doubts_are_counted(void **state)
{
    (void)state;
    struct wio_calibration calibration = quiet();
    calibration.cpu_wait_s = 9;
    for (int i = 0; i < WIO_PARAM_COUNT; i++) {
        calibration.params[i].spread = 1;
    }
    for (int i = 0; i < WIO_CALIBRATE_TABLE_COUNT; i++) {
        wio_calibration_table_of(&calibration, (enum wio_calibrate_table)i)->count = 1;
        calibration.table_spread[i][0] = 1;
    }
    wio_trust_judge(&calibration);
    assert_true(calibration.doubt_count > WIO_CALIBRATE_DOUBTS);
}

static void waiting_for_a_processor_is_known(void **state)
{
    (void)state;
    double wait_s = wio_trust_wait_s();
    assert_true(isnan(wait_s) || wait_s >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_machine_is_trusted),
        cmocka_unit_test(what_scatters_is_in_doubt),
        cmocka_unit_test(a_busy_processor_is_in_doubt),
        cmocka_unit_test(all_doubts_are_counted),
        cmocka_unit_test(waiting_for_a_processor_is_known),
    };
    return WIO_RUN(tests);
}
