/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads' time went, and the files and lines with the most I/O, for `whyio info`.
 * Private to the room. */
#ifndef WIO_REPORT_INFO_DIGEST_H
#define WIO_REPORT_INFO_DIGEST_H

#include <stdio.h>

#include "base/json.h"
#include "report/info/info.h"

/* "operations", "time", "top_files", "top_lines"; null without a digest. */
void wio_report_digest_json(struct wio_json *json, const struct wio_report_info *info);
void wio_report_split_text(const struct wio_report_info *info, FILE *out);
void wio_report_top_text(const struct wio_report_info *info, FILE *out);

#endif
