/* SPDX-License-Identifier: Apache-2.0 */
/* What need not be measured, since the system says it. */
#ifndef WIO_CALIBRATE_SYSTEM_SYSTEM_INFO_H
#define WIO_CALIBRATE_SYSTEM_SYSTEM_INFO_H

#include <stdint.h>

#include <whyio/status.h>

#include "calibrate/calibrate.h"

/* A line of /proc/vmstat that counts pages, in bytes; 0 where it is not there. */
uint64_t wio_facts_vmstat_bytes(const char *name);

/* Of the system: limits, ages, ticks, memory, kernel, the file system and device of `dir`. */
WIO_MUST_CHECK enum wio_status
wio_facts_system(const char *dir, struct wio_calibration *calibration, struct wio_error *err);
/* Of the file system, by files in the private directory `dir`: blocks, stdio's buffer, folios. */
WIO_MUST_CHECK enum wio_status wio_facts_files(const char *dir, struct wio_calibration *calibration,
                                               struct wio_error *err);

#endif
