/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel counts of a device. */
#ifndef WIO_CALIBRATE_BACKEND_COUNTS_H
#define WIO_CALIBRATE_BACKEND_COUNTS_H

#define WIO_COUNTS_PATH 64

/* Where the device's counts are that `dir` is on; there is nothing where it is on none: on memory,
 * or on another machine. `path` stays as it is where `dir` cannot be looked at. */
void wio_counts_find(const char *dir, char path[WIO_COUNTS_PATH]);
/* Bytes written to the device ever, by all processes; NaN where there is no counter. */
double wio_counts_written(const char *path);

#endif
