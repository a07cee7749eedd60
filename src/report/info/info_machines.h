/* SPDX-License-Identifier: Apache-2.0 */
/* The machines of a recording, as their recorders described them: input for fitting a model. */
#ifndef WIO_REPORT_INFO_MACHINES_H
#define WIO_REPORT_INFO_MACHINES_H

#include <whyio/trace.h>

#include "base/json.h"

/* The member "machines": a list, empty where no recorder told anything. */
void wio_report_machines(struct wio_json *json, const struct wio_trace *trace);

#endif
