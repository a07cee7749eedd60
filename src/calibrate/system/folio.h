/* SPDX-License-Identifier: Apache-2.0 */
/* The largest folio into which a file system puts data: after so many bytes a write looks at the
 * dirty limits. */
#ifndef WIO_CALIBRATE_SYSTEM_FOLIO_H
#define WIO_CALIBRATE_SYSTEM_FOLIO_H

#include <stddef.h>

#include <whyio/status.h>

#include "calibrate/calibrate.h"

/* What is written for it. */
#define WIO_FOLIO_BYTES ((size_t)4 << 20)

/* Bytes. Root reads it off the pages of the file `path`, which is written; others see only whether
 * a folio is as large as a huge page. Where files cannot be mapped a page is assumed. */
WIO_MUST_CHECK enum wio_status wio_folio_measure(const char *path, struct wio_calibrate_value *out,
                                                 struct wio_error *err);

#endif
