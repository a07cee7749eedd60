/* SPDX-License-Identifier: Apache-2.0 */
/* The pace of a device whose rate is limited: what of a limit passes at once, and what waits for
 * it.
 */
#ifndef WIO_CALIBRATE_MEASURE_MEASURE_RATE_H
#define WIO_CALIBRATE_MEASURE_MEASURE_RATE_H

#include "calibrate/measure/measure_series.h"

/* What a byte takes in a row of L, which alone are in `row` so far. */
double wio_pace_of_row(const struct wio_series *row);

/* Did writes of this row pass at once, for which others waited? Then a limit gives credit, and more
 * of it after each rest. */
bool wio_pace_comes_in_bunches(const struct wio_series *row);

/* Writes that are much faster per byte than a row of large ones live on what a limit lets pass: no
 * device is like that by itself. A row that all writes together contradict only had bad luck. `all`
 * has all sizes; it may be `row`. */
bool wio_pace_is_limited(const struct wio_series *row, const struct wio_series *all, double byte_s);

#endif
