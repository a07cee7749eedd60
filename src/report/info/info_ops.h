/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of `whyio info`: counts, times, percentiles, histograms. Private to the room. */
#ifndef WIO_REPORT_INFO_OPS_H
#define WIO_REPORT_INFO_OPS_H

#include <stdio.h>

#include "base/json.h"
#include "report/info/info.h"

/* "ops" */
void wio_report_ops_json(struct wio_json *json, const struct wio_report_info *info);
/* I/O first, then waiting, then the rest; each by time. */
void wio_report_ops_text(const struct wio_report_info *info, FILE *out);
/* What --histograms adds. */
void wio_report_histograms_text(const struct wio_report_info *info, FILE *out);

#endif
