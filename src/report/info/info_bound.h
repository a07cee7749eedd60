/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording with a bound (record --max-size) has kept: part of info.h. */
#ifndef WIO_REPORT_INFO_BOUND_H
#define WIO_REPORT_INFO_BOUND_H

#include <stdio.h>

#include "base/json.h"
#include "report/info/info.h"

/* "bound": null, or what was kept and the processes that lost most, as many as the report's rows.
 */
void wio_report_bound_json(struct wio_json *json, const struct wio_report_info *report);
/* Lines behind the count of dropped events; none where there is no bound. */
void wio_report_bound_text(const struct wio_summary *summary, FILE *out);

#endif
