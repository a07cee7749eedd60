/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the summary of a trace: `whyio info`. docs/schema/info.json describes the JSON. */
#ifndef WIO_REPORT_INFO_H
#define WIO_REPORT_INFO_H

#include <stdio.h>

#include "explain/summary.h"

void wio_report_info_json(const struct wio_summary *summary, FILE *out);
/* `name`: of the trace, as the user called it. At most 80 columns but for long names. */
void wio_report_info_text(const struct wio_summary *summary, const char *name, FILE *out);

#endif
