/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what got slower between two runs, and why. */
#ifndef WIO_REPORT_COMPARE_CAUSES_H
#define WIO_REPORT_COMPARE_CAUSES_H

#include <stddef.h>
#include <stdio.h>

#include <whyio/source.h>
#include <whyio/status.h>

#include "base/json.h"
#include "explain/compare/compare_causes.h"

struct wio_report_run {
    const struct wio_explanation *explanation; /* borrowed, and so are these */
    struct wio_sources *sources;
    const char *root; /* taken off the paths; may be NULL */
};

/* Zero-initialise but for the runs. */
struct wio_report_causes {
    struct wio_report_run a;
    struct wio_report_run b;
    struct wio_causes causes;
};

/* wio_causes_compare with the functions of both. Release with wio_causes_fini(&causes->causes). */
WIO_MUST_CHECK enum wio_status wio_report_causes_find(struct wio_report_causes *causes);

/* Those that changed by 1 % of the longer run at least, the first `top` of them (0 = all). */
void wio_report_causes_text(const struct wio_report_causes *causes, size_t top, FILE *out);
/* "causes": all of them. */
void wio_report_causes_json(const struct wio_report_causes *causes, struct wio_json *json);

#endif
