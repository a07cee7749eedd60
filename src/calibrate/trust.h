/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a calibration be trusted? Not where repetitions of what predictions hang on scatter so much
 * that the mean says little, nor where others kept this process from its processor meanwhile: then
 * something else was using the machine. Pure but for wio_trust_wait_s.
 */
#ifndef WIO_CALIBRATE_TRUST_H
#define WIO_CALIBRATE_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate/calibrate.h"

/* Relative: from here on a value scatters too much. */
#define WIO_TRUST_SPREAD_MAX 0.5
/* Part of the time for which the thread wanted a processor and had none. */
#define WIO_TRUST_WAIT_MAX 0.1

/* Fills calibration->doubts; a calibration without doubts is trusted. */
void wio_trust_judge(struct wio_calibration *calibration);

/* For how long this thread has waited for a processor, seconds, as /proc/thread-self/schedstat
 * says; NaN where it does not. */
double wio_trust_wait_s(void);

#endif
