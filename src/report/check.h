/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the faults of a trace: `whyio check`. One line per fault as it is found, with file and
 * byte offset; a closing line. docs/schema/check.json describes the JSON.
 */
#ifndef WIO_REPORT_CHECK_H
#define WIO_REPORT_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <whyio/status.h>

struct wio_check_report {
    FILE *out;
    const char *name; /* of the trace, as the user called it */
    bool is_json;
    uint64_t faults;  /* so far */
    uint64_t dropped; /* events that the trace does not have; known at the end */
    uint64_t evicted; /* of these: from its begin */
};

/* A wio_fault_fn: `report` is a struct wio_check_report. */
void wio_report_fault(void *report, const struct wio_error *fault);

/* After the last fault: the verdict. */
void wio_report_check_end(const struct wio_check_report *report);

#endif
