/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/trust.h"

#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"

#define NS 1e9
#define PERCENT 100
#define SCHEDSTAT_MAX 4096

/* The doubt, while there is room; how many there are is known in any case. */
static char *next_doubt(struct wio_calibration *calibration)
{
    size_t place = calibration->doubt_count++;
    return place < WIO_CALIBRATE_DOUBTS ? calibration->doubts[place] : NULL;
}

static void judge_spread(struct wio_calibration *calibration, const char *name, double spread)
{
    if (isnan(spread) || spread < WIO_TRUST_SPREAD_MAX) {
        return;
    }
    char *doubt = next_doubt(calibration);
    if (doubt != NULL) {
        (void)snprintf(doubt, WIO_CALIBRATE_TEXT, "%s scatters by %.0f %%", name, spread * PERCENT);
    }
}

/* Rates and calls; what is a difference of two of them may scatter on any machine. */
static const enum wio_param judged[] = {
    WIO_PARAM_bw_mem, WIO_PARAM_bw_ramdisk, WIO_PARAM_bw_reduced,
    WIO_PARAM_bw_dev, WIO_PARAM_bw_rdev,    WIO_PARAM_sc_w,
    WIO_PARAM_sc_sw,  WIO_PARAM_bw_clean,   WIO_PARAM_bw_hit,
};

static void judge_wait(struct wio_calibration *calibration)
{
    double part = calibration->elapsed_s > 0 ? calibration->cpu_wait_s / calibration->elapsed_s : 0;
    if (isnan(part) || part < WIO_TRUST_WAIT_MAX) {
        return;
    }
    char *doubt = next_doubt(calibration);
    if (doubt != NULL) {
        (void)snprintf(doubt, WIO_CALIBRATE_TEXT,
                       "other programs had its processor for %.0f %% of the time", part * PERCENT);
    }
}

void wio_trust_judge(struct wio_calibration *calibration)
{
    calibration->doubt_count = 0;
    judge_wait(calibration);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(judged); i++) {
        judge_spread(calibration, wio_param_name(judged[i]), calibration->params[judged[i]].spread);
    }
    for (int i = 0; i < WIO_CALIBRATE_TABLE_COUNT; i++) {
        enum wio_calibrate_table table = (enum wio_calibrate_table)i;
        judge_spread(calibration, wio_calibrate_table_name(table),
                     wio_calibration_table_spread(calibration, table));
    }
}

double wio_trust_wait_s(void)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob text = {0};
    uint64_t ran_ns;
    uint64_t waited_ns;
    if (wio_io_read_file("/proc/thread-self/schedstat", SCHEDSTAT_MAX, &text, NULL) != WIO_OK) {
        return (double)NAN;
    }
    const char *at = (const char *)text.data;
    if (!wio_scan_u64(&at, &ran_ns) || *at++ != ' ' || !wio_scan_u64(&at, &waited_ns)) {
        return (double)NAN;
    }
    return (double)waited_ns / NS;
}
