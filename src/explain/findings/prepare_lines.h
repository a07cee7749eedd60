/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that stand in one line of the program are one place, although they return to several. */
#ifndef WIO_EXPLAIN_PREPARE_LINES_H
#define WIO_EXPLAIN_PREPARE_LINES_H

#include "explain/findings/finding.h"

/* By place: the first place in the same line of a file; the place itself where no line is known or
 * no I/O on the critical path is there. The array is the caller's to free, also after an error.
 * Fails with WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_prepare_lines(const struct wio_finding_input *input,
                                                 uint32_t **lines_out);

#endif
