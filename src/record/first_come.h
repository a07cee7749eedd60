/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs did different I/O: may that be because somebody else was first this time? */
#ifndef WIO_RECORD_FIRST_COME_H
#define WIO_RECORD_FIRST_COME_H

#include "record/differ.h"

/*
 * *first_come_out: in the first run the thread shared an observed lock or queue with others, and
 * asked for one before the point at which the runs part. There any order is right, and what follows
 * from it is no fault of the program. `dir`: the trace of the first run.
 */
WIO_MUST_CHECK enum wio_status wio_first_come(const char *dir,
                                              const struct wio_difference *difference,
                                              bool *first_come_out, struct wio_error *err);

#endif
