/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what a trace holds: `whyio info`. docs/schema/info.json describes the JSON. */
#ifndef WIO_REPORT_INFO_H
#define WIO_REPORT_INFO_H

#include <stdbool.h>
#include <stdio.h>

#include <whyio/source.h>

#include "explain/digest/digest.h"
#include "explain/summary.h"

struct wio_report_info {
    const char *name; /* of the trace, as the user called it */
    const struct wio_summary *summary;
    const struct wio_digest *digest; /* NULL: what only the events tell is left out, null in JSON */
    struct wio_sources *sources;     /* not used without a digest */
    bool has_histograms;             /* as text, too */
    uint32_t rows;                   /* of each kind of operation, as text */
};

void wio_report_info_json(const struct wio_report_info *report, FILE *out);
/* At most 80 columns but for long names. */
void wio_report_info_text(const struct wio_report_info *report, FILE *out);

#endif
